"""How long figures feel how a simulation began: MSER-5 over replications, and a test for what it cannot see.

White, Cobb and Spratt ("A comparison of five steady-state truncation heuristics for simulation", Winter
Simulation Conference 2000) cut off so many means of five observations that the squared standard error of the
mean of the rest is least. The observations here are averages over all replications, packet by packet in the
order of sending, so that what is common to their beginnings stands out of what differs between them.

A start that is felt for longer than a replication lasts leaves nothing to cut. It shows as a trend in what is left:
the second halves differ from the first ones by more than replications differ (Student's t of the differences, as in
the test of Schruben, Singh and Tierney, Operations Research 31(6), 1983, for initial bias).

Where replications are hardly longer than what they remember, neither shows: all of them may still be on their way
from how they began. What is remembered shows within replications, as means of consecutive tenths that follow each
other (means of batches that are long against the memory hardly do: Law and Carson, Operations Research 27(5),
1979), and differ by far more than those of independent packets would.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import special

from qosforge.deltaq.dependence import group_sums, level_ps
from qosforge.deltaq.sample import Sample

START_DOMINATES = 0.5
"""Part of a replication from which on its figures stand for the start, not for what lasts."""
_BATCH = 5
_LEAST = 20
"""Batch means below which the rule says nothing."""
_TREND = 0.01
"""How often a trend may be seen where there is none, in any of the samples that are asked together."""
_TENTHS = 10
_SHORT, _LONG = 30, 100
"""Independent packets that a replication is worth within itself: below the first it may be short against its
memory, from the second on it is not."""
_FOLLOWING = 0.1
"""Correlation of consecutive tenths from which on a replication that is worth few packets is short: an exponential
memory lasts for a sixtieth of it then."""
_MEMORIES = 8
"""How many times as long as the memory lasts a start is felt: an exponential one has fallen below 0.1 % by."""
_LEVELS = (0.5, 0.9)
"""Quantiles above which packets are looked at for what is remembered."""


def start_effect(sample: Sample, among: int = 1) -> float:
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
    if _trend(together[:, math.ceil(cut * shortest) :], _TREND / max(1, among)):
        return START_DOMINATES
    return max(cut, _memory_effect(_after(sample, cut)))


def _after(sample: Sample, part: float) -> Sample:
    """The sample without so much of each period's begin."""
    if not part:
        return sample
    sizes = np.diff(sample.edges)
    left_out = np.ceil(part * sizes).astype(np.int64)
    kept = np.arange(sample.size) - np.repeat(sample.edges[:-1], sizes) >= np.repeat(left_out, sizes)
    return replace(
        sample,
        delays_ps=sample.delays_ps[kept],
        weights=sample.weights[kept],
        edges=np.concatenate(([0], np.cumsum(sizes - left_out))).astype(np.int64),
    )


def _memory_effect(sample: Sample) -> float:
    """Part of each independent replication that a start is felt for as long as what they remember lasts."""
    if not sample.has_replications:
        return 0.0
    part = 0.0
    for level in _LEVELS:
        worth, following = _within(sample, sample.delays_ps > level_ps(sample, level))
        if worth < _SHORT and following > _FOLLOWING:
            return START_DOMINATES
        if worth < _LONG:
            part = max(part, _MEMORIES * _memory(following) / _TENTHS)
    return min(START_DOMINATES, part)


def _within(sample: Sample, exceeds: NDArray[np.bool_]) -> tuple[float, float]:
    """Of this indicator within replications: how many independent packets each is worth, and how its means in
    consecutive tenths are correlated.

    Deviations are from each replication's own mean: what differs from one to the next is no memory.
    """
    count = sample.edges.size - 1
    tenths = np.linspace(sample.edges[:-1], sample.edges[1:], _TENTHS, endpoint=False, axis=1).astype(np.int64)
    bounds = np.append(tenths, sample.edges[-1])
    weights = group_sums(sample.weights, bounds).reshape(count, _TENTHS)
    sums = group_sums(sample.weights * exceeds, bounds).reshape(count, _TENTHS)
    means = sums.sum(axis=1) / weights.sum(axis=1)
    deviations = sums / weights - means[:, np.newaxis]
    squares = float((deviations**2).sum())
    length = sample.size / count
    if squares == 0:
        return length, 0.0
    independent = float((means * (1 - means)).mean()) / (length / _TENTHS)
    worth = length * min(1.0, independent / (squares / count / (_TENTHS - 1)))
    products = float((deviations[:, 1:] * deviations[:, :-1]).sum())
    # Deviations from a replication's own mean are correlated by minus one over their number.
    return worth, products / squares * _TENTHS / (_TENTHS - 1) + 1 / _TENTHS


def _memory(correlation: float) -> float:
    """How long an exponential memory lasts, in batches, whose means at lag 1 are so correlated.

    With x = 1/memory the correlation is (1 − e⁻ˣ)² / 2(x − 1 + e⁻ˣ); it is turned around by a table.
    """
    length = np.geomspace(0.1, 50, 500)
    falls = (1 - np.exp(-length)) ** 2 / (2 * (length - 1 + np.exp(-length)))
    return float(1 / np.interp(-correlation, -falls, length))


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
