"""What the shipped policies are for: to start from, or to see what papers describe."""

from __future__ import annotations

STARTING_POINTS = ("rfc4594-4", "rfc4594-4-basic", "rfc4594-8", "rfc4594-12", "campus-collaboration")
"""Shipped policies that fit other networks than the one they were written for, the simplest first."""
RECOMMENDED = STARTING_POINTS[0]
"""What a new policy begins from where no network is chosen; for one it is the first that compiles there."""
