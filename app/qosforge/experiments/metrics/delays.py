"""Delay, its spread, and round trips of one subject; delivered packets only."""

from __future__ import annotations

from qosforge.experiments.metrics.base import LoadAggregate, Siblings, above, fact, metric, require
from qosforge.experiments.rows import PS_PER_US, ResultRow


def _delay(row: ResultRow, which: str) -> float:
    return require(row.delay_us, "delay: nothing was delivered", row)[which]


@metric("delay_mean_us")
def delay_mean_us(row: ResultRow, _: Siblings) -> float:
    """Mean delay, microseconds."""
    return _delay(row, "mean")


@metric("delay_max_us", over=LoadAggregate.LARGEST)
def delay_max_us(row: ResultRow, _: Siblings) -> float:
    """Largest delay, microseconds."""
    return _delay(row, "max")


@metric("trial_delay_max_us", over=LoadAggregate.LARGEST, by_trial=True)
def trial_delay_max_us(row: ResultRow, _: Siblings) -> float:
    """Largest delay of one trial, microseconds."""
    return _delay(row, "max")


@metric("delay_p50_us")
def delay_p50_us(row: ResultRow, _: Siblings) -> float:
    """Median delay, microseconds."""
    return _delay(row, "p50")


@metric("delay_p99_us")
def delay_p99_us(row: ResultRow, _: Siblings) -> float:
    """99th percentile of delay, microseconds."""
    return _delay(row, "p99")


@metric("jitter_us")
def jitter_us(row: ResultRow, _: Siblings) -> float:
    """Standard deviation of delay, microseconds."""
    return require(row.delay_sd_us, "delay: nothing was delivered", row)


@metric("jitter_largest_us", over=LoadAggregate.LARGEST)
def jitter_largest_us(row: ResultRow, siblings: Siblings) -> float:
    """``jitter_us`` at the load where it is largest."""
    return jitter_us(row, siblings)


@metric("interarrival_sd_us")
def interarrival_sd_us(row: ResultRow, _: Siblings) -> float:
    """Standard deviation of the times between arrivals, microseconds."""
    return require(row.interarrival_sd_us, "inter-arrival time", row)


@metric("blocking_ms", over=LoadAggregate.LARGEST)
def blocking_ms(row: ResultRow, _: Siblings) -> float:
    """Largest less smallest delay, ms: the longest wait, where some packet of the run found the line idle."""
    return (_delay(row, "max") - _delay(row, "min")) / 1000


@metric("rtt_min_ms", by_trial=True)
def rtt_min_ms(row: ResultRow, _: Siblings) -> float:
    """Smallest round trip, ms."""
    return _delay(row, "min") / 1000


@metric("rtt_mean_ms")
def rtt_mean_ms(row: ResultRow, _: Siblings) -> float:
    """Mean round trip, ms."""
    return _delay(row, "mean") / 1000


@metric("rtt_max_ms", over=LoadAggregate.LARGEST, by_trial=True)
def rtt_max_ms(row: ResultRow, _: Siblings) -> float:
    """Largest round trip, ms."""
    return _delay(row, "max") / 1000


@metric("rtt_range_ms", by_trial=True)
def rtt_range_ms(row: ResultRow, _: Siblings) -> float:
    """Largest less smallest round trip, ms."""
    return (_delay(row, "max") - _delay(row, "min")) / 1000


@metric("queued_probability")
def queued_probability(row: ResultRow, _: Siblings) -> float:
    """Share of round trips that waited for more than a packet (``packet_ms`` above the smallest), 0 to 1."""
    delays = require(row.delays, "delay: nothing was delivered", row)
    late = delays[:, 0] > delays[0, 0] + fact(row, "packet_ms") * PS_PER_US * 1000
    return float(delays[late, 1].sum() / delays[:, 1].sum())


@above("share_above_twice", "rtt_max_ms")
def share_above_twice(row: ResultRow, other: float) -> float:
    """Share of round trips above twice the largest of what the claim counts from (ms), 0 to 1."""
    delays = require(row.delays, "delay: nothing was delivered", row)
    late = delays[:, 0] > 2 * other * PS_PER_US * 1000
    return float(delays[late, 1].sum() / delays[:, 1].sum())
