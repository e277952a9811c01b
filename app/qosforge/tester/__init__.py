"""Testers: what offers traffic to a network and reports what became of it."""
