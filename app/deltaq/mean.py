"""Interval of the mean delay of the packets that arrive, by batch means.

A mean depends on the whole tail, so no limit of it is free of assumptions. This one takes the means of
:data:`~app.deltaq.dependence.BATCHES` batches as near to normal, and corrects for how near they are: for batches
that follow each other (:func:`~app.deltaq.dependence.persistence`) and for their skewness, by Willink's t ("A
confidence interval and test for the mean of an asymmetric distribution", Communications in Statistics 34(4),
2005), both as in Skart (Tafazzoli, Wilson, Lada and Steiger, Winter Simulation Conference 2008).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from app.deltaq.dependence import BATCHES, batch_sums, persistence
from app.deltaq.objective import LEAST_FOR_MEAN


@dataclass(frozen=True, slots=True)
class MeanInterval:
    """Mean with its limits, in the unit of the values, and how many independent ones would tell as much.

    Without enough values the limits are 0 and infinity.
    """

    observed: float
    low: float
    high: float
    size: float


def mean_interval(
    values: NDArray[np.float64], confidence: float, low_confidence: float | None = None
) -> MeanInterval:
    """One-sided limits of the mean of finite, non-negative values in the order of sending.

    ``low_confidence`` is that of the lower limit where it differs. Raises ``ValueError`` for an empty sample.
    """
    n = values.size
    if n == 0:
        raise ValueError("an empty sample has no mean")
    mean = float(values.mean())
    if n < LEAST_FOR_MEAN:
        return MeanInterval(mean, 0.0, math.inf, float(n))
    sums, sizes = batch_sums(values)
    deviations = sums - mean * sizes
    squares = float((deviations**2).sum())
    if squares == 0:
        return MeanInterval(mean, mean, mean, float(n))
    error = math.sqrt(squares * BATCHES / (BATCHES - 1) * persistence(deviations)) / n
    third = float((deviations**3).mean()) / (squares / BATCHES) ** 1.5
    # The unbiased third moment over the unbiased variance: what k/((k−1)(k−2)) and (k−1)^1.5 come to.
    skewness = third * math.sqrt(BATCHES * (BATCHES - 1)) / (BATCHES - 2)
    slant = skewness / (6 * math.sqrt(BATCHES))
    below = _willink(float(special.stdtrit(BATCHES - 1, low_confidence or confidence)), slant)
    above = _willink(-float(special.stdtrit(BATCHES - 1, confidence)), slant)
    return MeanInterval(
        observed=mean,
        low=max(0.0, mean - below * error),
        high=mean - above * error,
        size=min(float(n), max(1.0, float(values.var()) / error**2)),
    )


def _willink(t: float, slant: float) -> float:
    """A quantile of Student's t, bent by the skewness of the batch means."""
    if abs(slant) < 1e-9:
        return t
    return (float(np.cbrt(1 + 6 * slant * (t - slant))) - 1) / (2 * slant)
