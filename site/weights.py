"""How the site's search weighs pages."""

from __future__ import annotations

from fnmatch import fnmatch

_WEIGHTS = (
    ("every-schema.md", 0.05),
    ("every-*.md", 0.2),
    ("changes*.md", 0.1),
    ("coverage.md", 0.05),
    ("kernel.md", 0.05),
    ("architecture.md", 0.1),
    ("adding-a-platform.md", 0.2),
    ("testing.md", 0.1),
    ("twin-scenario.md", 0.2),
    ("runs.md", 4.0),
    ("web-*.md", 3.0),
    ("first-hour.md", 2.0),
    ("operations.md", 2.0),
    ("findings.md", 2.0),
    ("intent.md", 2.0),
    ("library.md", 1.5),
    ("commands.md", 0.3),
    ("deltaq.md", 0.7),
    ("running.md", 0.5),
)
"""Of pages by name: above 1 what who runs a network asks for, below 1 what few do; the first that fits counts."""


def weight(file: str) -> float:
    """How much a page counts in the search; 1 where nothing is said of it."""
    return next((value for pattern, value in _WEIGHTS if fnmatch(file, pattern)), 1.0)
