"""Inspection of a device before a change: image, privilege, timer, flash space, clock."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum

_TRAIN = re.compile(r"(\d+\.\d+)([A-Z]\w*)?")
_MOST_DIGITS = 20


class Timer(StrEnum):
    """The timer by which a device rolls a change back that nobody confirmed."""

    READY = "ready"
    PENDING = "pending"
    """One runs already: somebody's change waits for its confirmation, or a reload is scheduled."""
    MISSING = "missing"
    """The device could have one and has it not: see `Inspection.lacks`."""
    NONE = "none"
    """Such a device has none."""


@dataclass(frozen=True)
class Lack:
    """A setting that the device must have before a push, and how it gets it."""

    message: str
    hint: str


@dataclass(frozen=True)
class Inspection:
    """What a device's answers come to; ``None`` and empty texts are what it does not tell.

    ``platform`` is the one of ours that it is, or ``None`` where it is none of them. ``image`` is as an inventory
    writes it. ``privilege`` is its level of 0 to 15. ``clock`` has a zone; where it is ``None`` though the device
    told a time (``clock_text``), that time is in a zone that is not known. ``flash_free`` is in bytes. ``lacks``
    are settings that a push needs.
    """

    platform: str | None
    model: str = ""
    image: str = ""
    privilege: int | None = None
    timer: Timer = Timer.NONE
    lacks: tuple[Lack, ...] = ()
    flash_free: int | None = None
    clock: datetime | None = None
    clock_text: str = ""


def image_fits(written: str, running: str) -> bool:
    """Whether the image of an inventory is the one that a device runs; the inventory may say less of it.

    ``12.4`` is any 12.4, ``12.4(15)T`` any rebuild of that release, ``12.1EA`` any 12.1(…)EA; what stands behind a
    hyphen (``12.1EA-EI``) is the kind of image, and counts.
    """
    (image, _, kind), (real, _, real_kind) = written.partition("-"), running.partition("-")
    if kind and kind != real_kind:
        return False
    if real.startswith(image) and not (image[-1:].isdigit() and real[len(image) :][:1].isdigit()):
        return True
    train = _TRAIN.fullmatch(image)
    return bool(train and train[2] and re.match(rf"{re.escape(train[1])}\([^)]*\){re.escape(train[2])}", real))


def read_clock(day: str, time: str, zone: timedelta) -> datetime | None:
    """The time in UTC of what a device in a zone shows (``Nov 3 2007``, ``09:15:00``); None where it is no time."""
    try:
        local = datetime.strptime(f"{' '.join(day.split())} {time}", "%b %d %Y %H:%M:%S")  # noqa: DTZ007
    except ValueError:
        return None
    return local.replace(tzinfo=timezone(zone)).astimezone(UTC)


def number(pattern: str, text: str) -> int | None:
    """The number that a pattern finds in a text; None for one of more digits than any device counts with."""
    found = re.search(pattern, text)
    return int(found[1]) if found and len(found[1]) <= _MOST_DIGITS else None
