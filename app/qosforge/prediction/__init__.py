"""Predictions: what a compiled policy would do to the traffic, before any device has it."""
