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


def buckets() -> tuple[int, ...]:
    """Sizes of a bucket in bytes."""
    return tuple(CAPABILITIES.buckets.value)


def rate_range() -> tuple[int, int, int]:
    """Lowest and highest rate and the step, in bits per second."""
    data = CAPABILITIES.meter_rate
    return data.minimum * 1000, data.maximum * 1000, data.step * 1000


def nearest_rate(requested: int) -> int:
    """The rate (b/s) nearest to the one asked for; the lower one of two."""
    low, high, step = rate_range()
    return min(max((2 * requested + step - 1) // (2 * step) * step, low), high)


def rate_below(requested: int) -> int | None:
    """The highest rate (b/s) not above the one asked for; None where the device has none."""
    low, high, step = rate_range()
    return min(requested // step * step, high) if requested >= low else None


def nearest_bucket(requested: float) -> int:
    """The bucket nearest to a number of bytes; the smaller one of two."""
    return min(buckets(), key=lambda size: (abs(size - requested), size))


def typed(rate: int, bucket: int) -> Typed:
    """What is typed for a rate (b/s) and a bucket (bytes)."""
    above: int = CAPABILITIES.burst_above.value
    return Typed(rate // 1000, rate // 1000 + above, round(bucket * 8 / above))


def bucket_of(rate: int, burst_rate: int, duration: int | None) -> int:
    """The bucket (bytes) that the device makes of rates (kb/s) and a duration (ms); the largest without one.

    The one whose own duration, rounded, is nearest: that gives the guide's table back (10 and 15 Mb/s).
    """
    if duration is None or burst_rate <= rate:
        return buckets()[-1]
    return min(buckets(), key=lambda size: abs(round(size * 8 / (burst_rate - rate)) - duration))
