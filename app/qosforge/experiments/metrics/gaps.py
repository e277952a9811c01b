"""Times between the ends of a sampled flow's packets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qosforge.experiments.metrics.base import LoadAggregate, NotMeasured, Siblings, metric
from qosforge.experiments.rows import PS_PER_US, ResultRow


def _gaps_ps(row: ResultRow) -> NDArray[np.int64]:
    """All gaps of all trials."""
    gaps = [np.diff(times) for times in row.arrivals_ps if len(times) > 1]
    if not gaps:
        raise NotMeasured(f"{row.subject} has no two sampled packets")
    return np.concatenate(gaps)


@metric("largest_gap_us", over=LoadAggregate.LARGEST)
def largest_gap_us(row: ResultRow, _: Siblings) -> float:
    """Longest time between two packets that arrived one after the other, microseconds."""
    return float(_gaps_ps(row).max()) / PS_PER_US


@metric("suspension_granularity_us")
def suspension_granularity_us(row: ResultRow, _: Siblings) -> float:
    """The time that all gaps between packets of one size are multiples of, microseconds.

    Of a class that is suspended after every packet these are the ticks at which it may wake.
    """
    return float(np.gcd.reduce(_gaps_ps(row))) / PS_PER_US
