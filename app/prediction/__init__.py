"""Predictions: what a compiled policy would do to the traffic, before any box has it."""
