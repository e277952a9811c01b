"""Parse the guarantees of policy classes: ``priority`` and ``bandwidth``."""

from __future__ import annotations

from qosforge.plan.model import Share, ShareUnit
from qosforge.platforms.abbreviations import is_number


def read_priority(words: list[str]) -> dict[str, object] | None:
    """The fields of a queue that follow ``priority``, uncapped without a rate; None where they are none."""
    values: dict[str, object] = {"priority": True}
    match words:
        case ["level", level, *words] if is_number(level, 1, 2):
            values["level"] = int(level)
    match words:
        case []:
            return values
        case ["percent", share, *burst] if is_number(share):
            values["share"] = Share(unit=ShareUnit.PERCENT, value=int(share))
        case [share, *burst] if is_number(share):
            values["share"] = Share(unit=ShareUnit.KBPS, value=int(share))
        case _:
            return None
    match burst:
        case []:
            return {**values, "capped": True}
        case [size] if is_number(size):
            return {**values, "capped": True, "burst": int(size)}
    return None


def read_share(words: list[str]) -> Share | None:
    """The share that follows ``bandwidth``; None where it is none."""
    match words:
        case ["percent", value] if is_number(value):
            return Share(unit=ShareUnit.PERCENT, value=int(value))
        case ["remaining", "percent", value] if is_number(value):
            return Share(unit=ShareUnit.REMAINING_PERCENT, value=int(value))
        case ["remaining", "ratio", value] if is_number(value):
            return Share(unit=ShareUnit.WEIGHT, value=int(value))
        case [value] if is_number(value):
            return Share(unit=ShareUnit.KBPS, value=int(value))
    return None
