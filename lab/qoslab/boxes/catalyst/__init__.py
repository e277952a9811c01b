"""Catalyst switches: what several of them have in common."""
