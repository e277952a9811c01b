"""How busy the processors of a Linux router are, between two readings of ``/proc/stat``."""

from __future__ import annotations

import re

SECONDS = 1
"""Between the readings: a processor's time is counted in steps of 10 ms, which are 1 % of this."""
ASK = rf"grep '^cpu[0-9]' /proc/stat; echo; sleep {SECONDS}; grep '^cpu[0-9]' /proc/stat"
_LINE = re.compile(r"cpu(\d{1,6})((?: \d{1,20}){4,10})", re.ASCII)
_IDLE = slice(3, 5)
"""Of a line's figures: idle, and waiting for a disk."""
_COUNTED = 8
"""The figures behind these, time given to guests, are in the first two already."""


def busy_percents(said: str) -> dict[int, float]:
    """By processor, how much of the time between two readings it did not wait, in per cent; 0 where the counters
    did not move.

    ``said`` is what `ASK` answers: a line a processor, twice, with its user, nice, system, idle, iowait, irq,
    softirq and steal time in ticks (proc_stat(5)). iowait may go backwards, which counts as none.

    Raises:
        ValueError: that is not what the kernel writes, or not the same processors twice.
    """
    first, _, second = said.strip().partition("\n\n")
    before, after = _readings(first), _readings(second)
    if not before or before.keys() != after.keys():
        raise ValueError(f"/proc/stat is not understood: {said.strip()[:200]!r}")
    return {number: _busy(before[number], after[number]) for number in before}


def _readings(text: str) -> dict[int, tuple[int, ...]]:
    found = (_LINE.fullmatch(line) for line in text.splitlines())
    return {int(line[1]): tuple(map(int, line[2].split()[:_COUNTED])) for line in found if line is not None}


def _busy(before: tuple[int, ...], after: tuple[int, ...]) -> float:
    moved = [max(now - then, 0) for then, now in zip(before, after, strict=False)]
    whole = sum(moved)
    return 100.0 * (whole - sum(moved[_IDLE])) / whole if whole else 0.0
