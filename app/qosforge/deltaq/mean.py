"""Interval of the mean delay of the packets that arrive, by means of groups.

A mean depends on the whole tail, so no limit of it is free of assumptions. This one takes the means of
independent replications and of their halves, whichever tells less (or of :data:`BATCHES` batches of one
realisation) as near to normal, and corrects for how near they are: for batches that follow each other
(:func:`~qosforge.deltaq.dependence.persistence`) and for their skewness, by Willink's t ("A confidence interval and
test for the mean of an asymmetric distribution", Communications in Statistics 34(4), 2005), both as in Skart
(Tafazzoli, Wilson, Lada and Steiger, Winter Simulation Conference 2008).

Where the tail is so heavy that the variance has no end (Hill's estimator of its index, Annals of Statistics 3(5),
1975, is at most 2), means of groups are never near to normal: there are no limits then, and it is said.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from qosforge.deltaq.dependence import effective_size_at_quantile, group_sums, groupings, persistence
from qosforge.deltaq.objective import LEAST_FOR_MEAN
from qosforge.deltaq.sample import Sample

BATCHES = 20
"""Batches of one realisation."""
TAIL, LEAST_IN_TAIL = 0.95, 100.0
"""A mean depends on a tail that few packets show: it has no limits where the sample is worth fewer independent ones
than these at this quantile. Of M/M/1 at a load of 0.95, limits from fewer fail in 30 of 100 runs, not in 5."""
HEAVIEST = 2.0
"""Tail index up to which a distribution has no variance."""


@dataclass(frozen=True, slots=True)
class MeanInterval:
    """Mean with its limits, in picoseconds, and how many independent packets would tell as much.

    Without enough packets, or where the tail is too ``heavy``, the limits are 0 and infinity. ``chance`` is the
    probability of a mean as large where the true one is ``requested``; 1 without limits.
    """

    observed: float
    low: float
    high: float
    size: float
    heavy: bool = False
    chance: float = 1.0


def mean_interval(sample: Sample, confidence: float, requested: float = math.inf) -> MeanInterval:
    """One-sided limits of the mean of a sample of which everything arrived. Raises ``ValueError`` for an empty
    one."""
    if not sample.size:
        raise ValueError("an empty sample has no mean")
    values, weights = sample.delays_ps, sample.weights
    mean = float((values * weights).sum() / weights.sum())
    heavy = tail_index(values) <= HEAVIEST
    known = effective_size_at_quantile(TAIL, confidence, sample) >= LEAST_IN_TAIL
    if sample.size < LEAST_FOR_MEAN or heavy or not known:
        return MeanInterval(mean, 0.0, math.inf, sample.worth, heavy)
    deviation = values - mean
    if not sample.has_replications:
        edges = np.linspace(0, sample.size, BATCHES + 1).round().astype(np.int64)
        errors = [_error(group_sums(deviation * weights, edges), follow=True)]
    else:
        errors = [_error(group_sums(deviation * weights, edges), follow=False) for edges, _ in groupings(sample)]
    scale = math.sqrt(sample.copies) / float(weights.sum())
    widest = max(error.size for error in errors) * scale
    if not widest:
        return MeanInterval(mean, mean, mean, sample.worth, chance=float(mean <= requested))
    spread = float((weights * deviation**2).sum() / weights.sum())
    asked_away = (mean - requested) / scale
    return MeanInterval(
        observed=mean,
        low=max(0.0, mean - max(error.away(confidence) for error in errors) * scale),
        high=mean - min(error.away(1 - confidence) for error in errors) * scale,
        size=min(sample.worth, max(1.0, spread / widest**2)),
        chance=max(error.chance(asked_away) for error in errors) if math.isfinite(requested) else 1.0,
    )


@dataclass(frozen=True, slots=True)
class _Error:
    """Standard error of a sum over groups, its slant, and the degrees of freedom of both."""

    size: float
    slant: float
    freedom: int

    def away(self, level: float) -> float:
        """How far below the true one the sum lies at most, at this level."""
        return bent_t(float(special.stdtrit(self.freedom, level)), self.slant) * self.size

    def chance(self, away: float) -> float:
        """Probability of a sum so far or further above the true one: Willink's t, turned around."""
        if not self.size:
            return float(away <= 0)
        errors = away / self.size
        slant = self.slant
        bent = errors if abs(slant) < 1e-9 else slant + ((1 + 2 * slant * errors) ** 3 - 1) / (6 * slant)
        return float(special.stdtr(self.freedom, -bent))


def _error(deviations: NDArray[np.float64], *, follow: bool) -> _Error:
    """The error of the sum of these deviations; ``follow`` where each group is the one before it, later."""
    groups = deviations.size
    squares = float((deviations**2).sum())
    if not squares:
        return _Error(0.0, 0.0, groups - 1)
    follows = persistence(deviations) if follow else 1.0
    return _Error(math.sqrt(squares * groups / (groups - 1) * follows), slant_of(deviations), groups - 1)


def tail_index(values: NDArray[np.float64]) -> float:
    """Hill's estimate from the largest values, as many as the root of their number; infinite without any spread."""
    many = min(values.size - 1, max(20, math.isqrt(values.size)))
    if many < 1:
        return math.inf
    largest = np.sort(np.partition(values, values.size - many - 1)[values.size - many - 1 :])
    if largest[0] <= 0:
        return math.inf
    excess = float(np.log(largest[1:] / largest[0]).mean())
    return 1 / excess if excess else math.inf


def slant_of(deviations: NDArray[np.float64]) -> float:
    """What bends Student's t: the skewness of the groups, from their deviations, over six times the root of their
    number."""
    groups = deviations.size
    third = float((deviations**3).mean()) / float((deviations**2).mean()) ** 1.5
    # The unbiased third moment over the unbiased variance: what k/((k−1)(k−2)) and (k−1)^1.5 come to.
    skewness = third * math.sqrt(groups * (groups - 1)) / (groups - 2)
    slant: float = skewness / (6 * math.sqrt(groups))
    return slant


def bent_t(t: float, slant: float) -> float:
    """Willink's t: Student's t, bent by ``slant`` (:func:`slant_of`)."""
    if abs(slant) < 1e-9:
        return t
    return (float(np.cbrt(1 + 6 * slant * (t - slant))) - 1) / (2 * slant)
