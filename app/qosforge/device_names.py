"""Names of devices: their order, and how a sentence has them."""

from __future__ import annotations

import re
from collections.abc import Sequence

MOST_NAMED = 3
"""Devices that a sentence names; of more it names the first."""
_NUMBERS = re.compile(r"(\d+)")


def name_devices(devices: Sequence[str]) -> str:
    """Devices in a sentence: a few by their names, of many the first and how many more there are."""
    if len(devices) > MOST_NAMED:
        return f"{devices[0]} and {len(devices) - 1} more"
    return ", ".join(devices)


def natural_order(text: str) -> tuple[tuple[int, int | str], ...]:
    """A key by which d2 stands before d10."""
    parts = (part for part in _NUMBERS.split(text.lower()) if part)
    return tuple((0, int(part)) if part.isdecimal() else (1, part) for part in parts)
