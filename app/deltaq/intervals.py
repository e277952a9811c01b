"""What a sample of dependent packets says about a quantile or a ratio, without assuming a distribution.

Everything rests on one question, asked of a threshold: which part of all packets exceeds it? Its interval is
Clopper and Pearson's (Biometrika 26, 1934), and a quantile lies below a threshold exactly when the part that
exceeds it is small enough, so the limits of a quantile are the order statistics at which that holds.

Packets in a queue see what their neighbours see: the counts are scaled to the size of an independent sample that
would tell as much (:mod:`app.deltaq.dependence`).

Every limit is one-sided: it holds at the stated confidence by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from app.deltaq.dependence import effective_size, rank

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


def ratio_interval(
    exceedances: int, n: int, size: float, confidence: float, low_confidence: float | None = None
) -> Interval:
    """Interval of the part of packets that exceeds something, ``exceedances`` of ``n`` worth ``size``.

    ``low_confidence`` is that of the lower limit where it differs. Raises ``ValueError`` for ``n`` = 0.
    """
    if n == 0:
        raise ValueError("an empty sample has no interval")
    scaled = exceedances * size / n
    return Interval(
        observed=exceedances / n,
        low=ratio_lower(scaled, size, confidence if low_confidence is None else low_confidence),
        high=ratio_upper(scaled, size, confidence),
    )


def quantile_interval(
    ordered: NDArray[np.float64],
    probability: float,
    size: float,
    confidence: float,
    low_confidence: float | None = None,
) -> Interval:
    """Interval of a quantile from order statistics.

    ``ordered`` holds all delays in rising order, lost packets as ``inf`` at the end; ``size`` is their
    effective number. The upper limit is the smallest delay seen of which the sample shows that no more than
    ``1 - probability`` exceed it, ``inf`` when it shows that of none. The lower limit is the smallest delay
    that the sample does not rule out, 0 when it rules out none. Raises ``ValueError`` for an empty sample.
    """
    n = ordered.size
    if n == 0:
        raise ValueError("an empty sample has no interval")
    beyond = 1 - probability
    scale = size / n
    # Both limits are monotone in the number of packets beyond a threshold: search for where they turn.
    few = _largest(n - 1, lambda k: ratio_upper(k * scale, size, confidence) <= beyond)
    low_at = confidence if low_confidence is None else low_confidence
    many = _largest(n, lambda k: ratio_lower(k * scale, size, low_at) <= beyond)
    return Interval(
        observed=float(ordered[rank(n, probability) - 1]),
        low=0.0 if many >= n else float(ordered[n - many - 1]),
        high=math.inf if few < 0 else float(ordered[n - few - 1]),
    )


def packets_to_decide(
    exceedances: int, n: int, size: float, *, beyond: float, confidence: float, low_confidence: float
) -> int | None:
    """Estimate how many packets in all would decide whether more than ``beyond`` of them exceed a threshold.

    Assumes that further packets exceed it as often, and depend on each other as much, as those seen; of an
    empty sample, that none does. ``None`` above ``MOST_PACKETS``: the truth lies too near the bound.
    """
    ratio = exceedances / n if n else 0.0
    worth = size / n if n else 1.0

    def open_at(packets: int) -> bool:
        effective = packets * worth
        return (
            ratio_upper(ratio * effective, effective, confidence) > beyond
            and ratio_lower(ratio * effective, effective, low_confidence) <= beyond
        )

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


def cdf_band(samples: Sequence[tuple[int, int]], confidence: float, points: int = 75) -> Band:
    """Limits of the distribution function at up to ``points`` delays of a sample, spread over its ranks.

    ``samples`` are ``(sent_ps, delay_ps or -1)``. Each limit holds at ``confidence`` for its own delay, not
    for all at once. Empty when no packet arrived.
    """
    delays = np.array([delay for _, delay in sorted(samples)], dtype=np.float64)
    delays[delays < 0] = math.inf
    arrived = np.unique(delays[np.isfinite(delays)])
    if not arrived.size:
        return Band((), (), ())
    # A third of the points evenly over the ranks, the others ever denser towards either end.
    even = np.linspace(0, arrived.size - 1, points // 3)
    ends = np.geomspace(1, arrived.size, points // 3)
    chosen = arrived[np.unique(np.concatenate((ends - 1, even, arrived.size - ends)).round().astype(int))]
    low, high = cdf_limits(delays, chosen, confidence)
    return Band(tuple(map(float, chosen)), tuple(map(float, low)), tuple(map(float, high)))


def cdf_limits(
    delays_ps: NDArray[np.float64], deadlines_ps: NDArray[np.float64], confidence: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Limits of the distribution function, each at ``confidence`` for its own deadline.

    ``delays_ps`` are in the order of sending, lost packets as ``inf``. Raises ``ValueError`` for an empty sample.
    """
    low, high = np.empty(deadlines_ps.size), np.empty(deadlines_ps.size)
    for position, deadline in enumerate(deadlines_ps):
        late = delays_ps > deadline
        limits = ratio_interval(int(late.sum()), late.size, effective_size(late, confidence), confidence)
        low[position], high[position] = 1 - limits.high, 1 - limits.low
    return low, high
