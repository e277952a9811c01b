"""How a metric changed against another operand."""

from __future__ import annotations

from qosforge.experiments.metrics.base import NotMeasured, change


def _divisor(value: float) -> float:
    if value == 0:
        raise NotMeasured("a change cannot be counted from zero")
    return value


@change("jitter_change_us", "jitter_us")
@change("delay_mean_change_us", "delay_mean_us")
def difference(value: float, other: float) -> float:
    """The value less the one it is counted from."""
    return value - other


@change("relative_difference", None)
def relative_difference(value: float, other: float) -> float:
    """(one - other) / other."""
    return (value - other) / _divisor(other)


@change("benefit_percent", None)
def benefit_percent(value: float, other: float) -> float:
    """100 x (before / after - 1); ``other`` is before."""
    return 100 * (other / _divisor(value) - 1)


@change("fall_percent", None)
@change("delay_fall_percent", "delay_mean_us")
def delay_fall_percent(value: float, other: float) -> float:
    """100 x (before - after) / before; ``other`` is before."""
    return 100 * (other - value) / _divisor(other)


@change("cost_percent", "packets_per_second")
def cost_percent(value: float, other: float) -> float:
    """100 x (one / other - 1): how many more packets a second, per cent; negative where it is the dearer."""
    return 100 * (value / _divisor(other) - 1)
