"""What tests tried, counted where it was tried: `make hostile` ends with the sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

PREFIX = "tried: "
"""What the properties of a test's report begin with that are counts."""
_NOW: Counter[str] = Counter()
"""Of the test that this process carries out."""


def begin() -> None:
    """A test begins."""
    _NOW.clear()


def tried(what: str, number: int = 1) -> None:
    """So many of these were tried in this test."""
    _NOW[what] += number


def counted() -> list[tuple[str, Any]]:
    """What the test tried, as properties of its report."""
    return [(PREFIX + what, number) for what, number in _NOW.items()]


def summed(reports: Iterable[pytest.TestReport]) -> Counter[str]:
    """The sums of what tests tried, by what it was."""
    sums: Counter[str] = Counter()
    for report in reports:
        for name, number in report.user_properties:
            if name.startswith(PREFIX) and isinstance(number, int):
                sums[name.removeprefix(PREFIX)] += number
    return sums
