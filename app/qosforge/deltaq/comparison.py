"""Which of two samples attenuates quality less, so far as they tell.

The order of two distributions (:meth:`DeltaQ.compare`) would be upset by a single packet of a sample. Here two
distribution functions differ at a deadline when their limits there lie apart; the error is shared out among all
deadlines and both samples (Bonferroni), so that the answer as a whole is wrong no more often than it says.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qosforge.deltaq.distribution import Order
from qosforge.deltaq.intervals import cdf_limits
from qosforge.deltaq.sample import Sample

DEADLINES = 40
"""Deadlines at which two samples are compared, spread over the ranks of each."""


@dataclass(frozen=True, slots=True)
class SampleComparison:
    """How a later sample stands to an earlier one: ``"less"`` is better, ``"equal"`` that nothing tells them apart.

    ``better_ps`` and ``worse_ps`` are the first and the last deadline, in picoseconds, by which it delivers more,
    or less; ``None`` where there is no such.
    """

    order: Order
    better_ps: tuple[float, float] | None
    worse_ps: tuple[float, float] | None


def compare_samples(before: Sample, after: Sample, confidence: float) -> SampleComparison:
    """Compare two samples; ``ValueError`` for an empty one."""
    if not before.size or not after.size:
        raise ValueError("an empty sample compares with nothing")
    deadlines = np.union1d(_spread(before.delays_ps), _spread(after.delays_ps))
    if not deadlines.size:
        return SampleComparison("equal", None, None)
    each = 1 - (1 - confidence) / (2 * deadlines.size)
    low_before, high_before = cdf_limits(before, deadlines, each)
    low_after, high_after = cdf_limits(after, deadlines, each)
    better = _range(deadlines[low_after > high_before])
    worse = _range(deadlines[high_after < low_before])
    order: Order = "equal"
    if better or worse:
        order = "incomparable" if better and worse else "less" if better else "greater"
    return SampleComparison(order, better, worse)


def _spread(delays_ps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Delays of what arrived, evenly over their ranks, the last one (beyond it lies loss) included."""
    arrived = np.sort(delays_ps[np.isfinite(delays_ps)])
    ranks = np.linspace(0, max(0, arrived.size - 1), min(DEADLINES // 2, arrived.size)).round().astype(np.int64)
    return np.unique(arrived[ranks])


def _range(deadlines_ps: NDArray[np.float64]) -> tuple[float, float] | None:
    return (float(deadlines_ps[0]), float(deadlines_ps[-1])) if deadlines_ps.size else None
