"""How long figures feel how a simulation began: MSER-5 over replications, and a test for what it cannot see.

White, Cobb and Spratt ("A comparison of five steady-state truncation heuristics for simulation", Winter
Simulation Conference 2000) cut off so many means of five observations that the squared standard error of the
mean of the rest is least. The observations here are averages over all replications, packet by packet in the
order of sending, so that what is common to their beginnings stands out of what differs between them.

A start that is felt for longer than a replication lasts leaves nothing to cut. It shows as a trend in what is left:
the second halves differ from the first ones by more than replications differ (Student's t of the differences, as in
the test of Schruben, Singh and Tierney, Operations Research 31(6), 1983, for initial bias).
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import special

from app.deltaq.sample import Sample

STILL_FELT = 0.5
"""Part of a replication from which on its figures stand for the start, not for what lasts."""
_BATCH = 5
_LEAST = 20
"""Batch means below which the rule says nothing."""
_TREND = 0.01
"""How often a trend may be seen where there is none, in any of the samples that are asked together."""


def start_felt(sample: Sample, among: int = 1) -> float:
    """Part of each replication, from its begin on, that still feels the start: 0 to 0.5, where 0.5 is half or more.

    ``among`` how many samples the same is asked of: each may then see a trend that much more seldom by chance.
    0 where packets are too few to tell, or nothing arrived.
    """
    finite = sample.delays_ps[np.isfinite(sample.delays_ps)]
    if not finite.size:
        return 0.0
    # Lost packets take the longest delay seen.
    delays = np.minimum(sample.delays_ps, finite.max())
    parts = [delays[first:last] for first, last in pairwise(sample.edges)]
    shortest = min(part.size for part in parts)
    together = np.array([part[:shortest] for part in parts])
    if shortest < _LEAST * _BATCH:
        return 0.0
    cut = _cut(_batch_means(together.mean(axis=0)))
    return STILL_FELT if _trend(together[:, math.ceil(cut * shortest) :], _TREND / max(1, among)) else cut


def _trend(replications: NDArray[np.float64], chance: float) -> bool:
    """Whether second halves differ from first ones by more than comes about in this part of cases by chance."""
    count, length = replications.shape
    if count < 2:
        return False
    differences = replications[:, length // 2 :].mean(axis=1) - replications[:, : length // 2].mean(axis=1)
    error = float(differences.std(ddof=1)) / math.sqrt(count)
    return error > 0 and abs(float(differences.mean())) / error > float(special.stdtrit(count - 1, 1 - chance / 2))


def _cut(means: NDArray[np.float64]) -> float:
    """The part to be cut by MSER-5; 0 where it finds no end of it, which short dependent samples do by chance."""
    count = means.size
    most = count // 2
    rest = np.arange(count, count - most - 1, -1, dtype=np.float64)
    sums = np.cumsum(means[::-1])[::-1][: most + 1]
    squares = np.cumsum(means[::-1] ** 2)[::-1][: most + 1]
    error = np.maximum(0.0, squares / rest - (sums / rest) ** 2) / rest
    cut = int(np.argmin(error))
    return 0.0 if cut == most else cut / count


def _batch_means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    whole = values.size // _BATCH * _BATCH
    means: NDArray[np.float64] = values[:whole].reshape(-1, _BATCH).mean(axis=1)
    return means
