"""Devices in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

MOST_NAMED = 3
"""Devices that a sentence names; of more it names the first."""


def name_devices(devices: Sequence[str]) -> str:
    """Devices in a sentence: a few by their names, of many the first and how many more there are."""
    if len(devices) > MOST_NAMED:
        return f"{devices[0]} and {len(devices) - 1} more"
    return ", ".join(devices)
