"""Token buckets of meters and shapers: the rates and sizes that a port has, as they are typed and read back.

The device takes no bucket size: it works it out of a second rate and a duration, and rounds to one of eight.
"""

from __future__ import annotations

from dataclasses import dataclass

from qosforge.platforms.nortel_5510.capabilities import CAPABILITIES


@dataclass(frozen=True)
class Typed:
    """A bucket as it is typed: kb/s, kb/s and ms."""

    rate: int
    burst_rate: int
    duration: int


BUCKETS = CAPABILITIES.buckets.value
"""Sizes of a bucket in bytes."""


def typed(rate: int, bucket: int) -> Typed:
    """What is typed for a rate (b/s) and a bucket (bytes)."""
    above = CAPABILITIES.burst_above.value
    return Typed(rate // 1000, rate // 1000 + above, round(bucket * 8 / above))


def bucket_of(rate: int, burst_rate: int, duration: int | None) -> int:
    """The bucket (bytes) that the device makes of rates (kb/s) and a duration (ms); the largest without one.

    The one whose own duration, rounded, is nearest: that gives the guide's table back (10 and 15 Mb/s).
    """
    if duration is None or burst_rate <= rate:
        return BUCKETS[-1]
    return min(BUCKETS, key=lambda size: abs(round(size * 8 / (burst_rate - rate)) - duration))
