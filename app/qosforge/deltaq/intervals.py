"""What a sample of dependent packets says about a quantile or a ratio, without assuming a distribution.

Everything rests on one question, asked of a threshold: which part of all packets exceeds it? Its interval is
Clopper and Pearson's (Biometrika 26, 1934), and a quantile lies below a threshold exactly when the part that
exceeds it is small enough, so the limits of a quantile are the order statistics at which that holds.

Packets in a queue see what their neighbours see: the counts are scaled to the size of an independent sample that
would tell as much (:mod:`qosforge.deltaq.dependence`).

Every limit is one-sided: it holds at the stated confidence by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from qosforge.deltaq.dependence import effective_size, first_rank
from qosforge.deltaq.sample import Sample

MOST_PACKETS = 1_000_000_000
"""Above this, more packets are no answer: months of a voice call."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A point estimate with its lower and upper limit; a delay may be ``math.inf``, in picoseconds."""

    observed: float
    low: float
    high: float


def ratio_upper(exceedances: float, size: float, confidence: float) -> float:
    """Clopper and Pearson's upper limit of a ratio; counts may be fractional. 1 for an empty sample."""
    if size <= 0 or exceedances >= size:
        return 1.0
    return float(special.betaincinv(exceedances + 1, size - exceedances, confidence))


def ratio_lower(exceedances: float, size: float, confidence: float) -> float:
    """Clopper and Pearson's lower limit of a ratio; counts may be fractional. 0 for an empty sample."""
    if size <= 0 or exceedances <= 0:
        return 0.0
    return float(special.betaincinv(exceedances, size - exceedances + 1, 1 - confidence))


def ratio_interval(part: float, size: float, confidence: float) -> Interval:
    """Interval of the part of all packets that exceeds something, seen as ``part`` of packets worth ``size``."""
    scaled = part * size
    return Interval(part, ratio_lower(scaled, size, confidence), ratio_upper(scaled, size, confidence))


def chance_of_as_many(part: float, size: float, beyond: float) -> float:
    """Probability of ``part`` or more of ``size`` packets beyond a threshold that the part ``beyond`` of all
    exceeds.

    The binomial's upper tail, counts may be fractional; 1 where none was seen. `ratio_lower` lies above ``beyond``
    at just the confidences below one minus this.
    """
    scaled = part * size
    if size <= 0 or scaled <= 0:
        return 1.0
    return float(special.betainc(scaled, size - scaled + 1, beyond))


def size_to_show(part: float, beyond: float, confidence: float) -> float:
    """The smallest effective size of a sample that shows that no more than ``beyond`` exceed a threshold.

    ``part`` of the sample does; infinite where that is too near to ``beyond``, or above.
    """
    if not part:
        return math.log(1 - confidence) / math.log1p(-beyond)

    def shows(size: float) -> bool:
        return ratio_upper(part * size, size, confidence) <= beyond

    low, high = 1.0, 2.0
    while not shows(high):
        low, high = high, 2 * high
        if high > MOST_PACKETS:
            return math.inf
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if shows(middle) else (middle, high)
    return high


def quantile_interval(sample: Sample, probability: float, size: float, confidence: float) -> Interval:
    """Interval of a quantile of a sample of effective ``size``, in picoseconds, from order statistics.

    The upper limit is the smallest delay seen of which the sample shows that no more than ``1 - probability``
    exceed it, ``inf`` when it shows that of none. The lower limit is the smallest delay that the sample does not
    rule out, 0 when it rules out none. Raises ``ValueError`` for an empty sample.
    """
    if not sample.size:
        raise ValueError("an empty sample has no interval")
    ordered, running = sample.sorted_delays
    beyond, n = 1 - probability, ordered.size

    def above(index: int) -> float:
        """The part of all packets that come after one, worth independent packets."""
        return max(0.0, 1 - float(running[index] / running[-1])) * size

    # Both limits are monotone in the number of packets beyond a threshold: search for where they turn.
    few = _largest(n - 1, lambda k: ratio_upper(above(n - 1 - k), size, confidence) <= beyond)
    many = _largest(n - 1, lambda k: ratio_lower(above(n - 1 - k), size, confidence) <= beyond)
    none_ruled_out = ratio_lower(size, size, confidence) <= beyond
    return Interval(
        observed=float(ordered[first_rank(running, probability)]),
        low=0.0 if none_ruled_out else float(ordered[n - 1 - many]),
        high=math.inf if few < 0 else float(ordered[n - 1 - few]),
    )


def packets_to_decide(part: float, n: int, size: float, *, beyond: float, confidence: float) -> int | None:
    """Estimate how many packets in all would decide whether more than ``beyond`` of them exceed a threshold.

    Assumes that further packets exceed it as often (``part``), and depend on each other as much, as the ``n``
    seen, which are worth ``size``; of an empty sample, that none does. ``None`` above ``MOST_PACKETS``: the truth
    lies too near the bound.
    """
    worth = size / n if n else 1.0

    def open_at(packets: int) -> bool:
        seen = ratio_interval(part, packets * worth, confidence)
        return seen.high > beyond and seen.low <= beyond

    high = max(n, 1)
    while open_at(high):
        high *= 2
        if high > MOST_PACKETS:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if open_at(middle) else (low, middle)
    return max(high, n)


def _largest(highest: int, holds: Callable[[int], bool]) -> int:
    """Return the largest k in 0..highest for which ``holds``, which must turn false at most once; else -1."""
    low, high = -1, highest + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


@dataclass(frozen=True, slots=True)
class Band:
    """Pointwise limits of a distribution function: at every delay, in ps, between which values it lies."""

    delays_ps: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


def cdf_band(sample: Sample, confidence: float, points: int = 75) -> Band:
    """Limits of the distribution function at up to ``points`` delays of a sample, spread over its ranks.

    Each limit holds at ``confidence`` for its own delay, not for all at once. Empty when no packet arrived.
    """
    arrived = np.unique(sample.delays_ps[np.isfinite(sample.delays_ps)])
    if not arrived.size:
        return Band((), (), ())
    # A third of the points evenly over the ranks, the others ever denser towards either end.
    even = np.linspace(0, arrived.size - 1, points // 3)
    ends = np.geomspace(1, arrived.size, points // 3)
    chosen = arrived[np.unique(np.concatenate((ends - 1, even, arrived.size - ends)).round().astype(int))]
    low, high = cdf_limits(sample, chosen, confidence)
    return Band(tuple(map(float, chosen)), tuple(map(float, low)), tuple(map(float, high)))


def cdf_limits(
    sample: Sample, deadlines_ps: NDArray[np.float64], confidence: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Limits of the distribution function, each at ``confidence`` for its own deadline.

    Raises ``ValueError`` for an empty sample.
    """
    if not sample.size:
        raise ValueError("an empty sample has no distribution")
    low, high = np.empty(deadlines_ps.size), np.empty(deadlines_ps.size)
    for position, deadline in enumerate(deadlines_ps):
        late = sample.delays_ps > deadline
        limits = ratio_interval(sample.part(late), effective_size(late, confidence, sample), confidence)
        low[position], high[position] = 1 - limits.high, 1 - limits.low
    return low, high
