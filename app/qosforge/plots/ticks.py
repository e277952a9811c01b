"""Where the lines of a logarithmic axis stand."""

from __future__ import annotations

import math
from collections.abc import Iterable

_MOST = 7
_STEPS: tuple[tuple[int, ...], ...] = ((1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 5), (1, 3), (1,))


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers between two positive ones: as many as have room for a label."""
    found: list[float] = []
    for of_a_decade in _STEPS:
        found = _at(of_a_decade, low, high)
        if len(found) <= _MOST:
            break
    return found


def between(low: float, high: float) -> list[float]:
    """Every 1 to 9 of a decade, for lines that show the scale."""
    return _at(_STEPS[0], low, high)


def _at(of_a_decade: Iterable[int], low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [at for power in powers for step in of_a_decade if low <= (at := step * 10.0**power) <= high]
