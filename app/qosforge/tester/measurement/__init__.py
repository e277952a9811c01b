"""Measurement documents: what became of every flow, checked, pooled, exported and judged."""
