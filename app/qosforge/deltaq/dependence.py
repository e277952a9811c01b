"""How much a sample of dependent packets tells: the size of an independent sample that would tell as much.

Packets in a queue see what their neighbours see. The variance of a ratio is estimated from groups of packets, and
the size is scaled to it as Korn and Graubard do (Survey Methodology 24(2), 1998), with a Student t for how few the
groups are. Which groups depends on what the sample is:

- **Independent replications** (at least `LEAST_REPLICATIONS`): the replications themselves, which see what
  differs from one realisation to the next, such as the phases of constant flows; and their halves, for what is
  wider within.
- **One realisation**: 20 and 10 batches of consecutive packets (between 10 and 30 serve any run length:
  Schmeiser, Operations Research 30(3), 1982), and 5 where these leave fewer than `FEW`. Batches that still
  follow each other are told by their correlation at lag 1, r, which is too small by about one over their
  number; the variance then grows by (1 + r)/(1 - r), as for an autoregressive sequence (Tafazzoli, Wilson, Lada
  and Steiger, "Skart", Winter Simulation Conference 2008). What differs between realisations, no batch can see;
  nor can it where a realisation remembers for as long as it lasts (:mod:`qosforge.deltaq.long_range`).

**Rare and large bursts**: one group holds most of what is counted, and a variance from such groups is itself
uncertain. Its degrees of freedom are 2/(2/(m - 1) + κ/m) for m groups, the ratio of moments that a χ² has, with
κ the excess kurtosis of the groups beyond that of independent packets.

The smallest of all sizes counts. A quantile's neighbourhood is also asked at a level that `NEARER` times as many
packets exceed, where bursts are less rare.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import special

from qosforge.deltaq.long_range import remembers_throughout
from qosforge.deltaq.sample import Sample

BATCHES = (20, 10, 5)
"""Batches of consecutive packets of one realisation; the last only where the others leave few."""
FEW = 100
"""Independent packets below which there may be fewer than batches can show."""
LEAST_OF_ONE = 20
"""Independent packets that one realisation has to be worth before its limits say anything: of M/M/1 at a load
of 0.95, limits from fewer fail twice as often as they say."""
NEARER = 3
"""How many times as many packets exceed the second level at which a quantile's dependence is looked for."""
_LEVELS = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5)
"""Parts of the packets that exceed a level, of which the first that varies is the nearest to what was never seen.
"""
_SEEN = 100
"""Packets beyond a level before its dependence can be told."""


def groupings(sample: Sample) -> Iterator[tuple[NDArray[np.int64], bool]]:
    """Where groups of packets begin (and end), and whether each follows the one before it."""
    if sample.has_replications:
        edges = sample.edges
        yield edges, False
        yield np.sort(np.concatenate((edges, (edges[1:] + edges[:-1]) // 2))), False
        return
    for number in BATCHES:
        if sample.size >= 2 * number:
            yield np.linspace(0, sample.size, number + 1).round().astype(np.int64), True


def group_sums(values: NDArray[np.float64], edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sums of the values between each two edges."""
    running = np.concatenate(([0.0], np.cumsum(values, dtype=np.float64)))
    sums: NDArray[np.float64] = np.diff(running[edges])
    return sums


def persistence(deviations: NDArray[np.float64]) -> float:
    """Factor, at least 1, by which the variance of batches grows that still follow each other."""
    total = float((deviations**2).sum())
    if total == 0:
        return 1.0
    lag_1 = float((deviations[1:] * deviations[:-1]).sum()) / total + 1 / deviations.size
    return (1 + lag_1) / (1 - lag_1) if 0 < lag_1 < 1 else 1.0


def effective_size(exceeds: NDArray[np.bool_], confidence: float, sample: Sample) -> float:
    """Return how many independent packets would tell as much about the mean of this indicator.

    ``exceeds`` holds one truth value per packet of ``sample``; ``confidence`` (above 0.5) is that of the limit
    it serves. A constant indicator, or fewer than two packets per batch, shows no dependence: the size is then
    ``sample.worth``. Never above it, and at least 1 unless the sample is empty; 1 also where one realisation is
    worth less than `LEAST_OF_ONE`, or remembers for as long as it lasts.
    """
    ratio = sample.part(exceeds)
    if ratio in (0.0, 1.0) or not exceeds.any() or exceeds.all():
        return sample.worth
    # What stands in it several times counts once in the end; batches see all of it.
    whole = found = sample.worth * sample.copies
    counted = sample.weights * exceeds
    for edges, follow in groupings(sample):
        if follow and edges.size - 1 == BATCHES[-1] and found >= FEW:
            continue
        sums, sizes = group_sums(counted, edges), group_sums(sample.weights, edges)
        found = min(found, ratio_size(sums, sizes, whole, confidence, follow=follow))
    found /= sample.copies
    # So few, or so long a memory, leave open how far it reaches: the run may have seen a calm part of it.
    unknown = not sample.has_replications and (
        found < LEAST_OF_ONE < sample.worth
        or remembers_throughout(sample.delays_ps > level_ps(sample, 0.5), sample)
    )
    return 1.0 if unknown else max(1.0, found)


def ratio_size(
    sums: NDArray[np.float64], sizes: NDArray[np.float64], worth: float, confidence: float, *, follow: bool = False
) -> float:
    """Effective number of packets for the ratio of ``sums`` to ``sizes`` over groups that stand for ``worth``
    packets.

    ``follow`` where each group is the one before it, later. ``worth`` where the ratio is 0 or 1, or all groups
    agree.
    """
    total = float(sizes.sum())
    ratio = float(sums.sum()) / total if total else 0.0
    if not 0 < ratio < 1:
        return worth
    groups = sums.size
    deviations = sums - ratio * sizes
    squares = float((deviations**2).sum())
    if squares == 0:
        return worth
    variance = squares * groups / (groups - 1) / total**2 * (persistence(deviations) if follow else 1.0)
    freedom = _freedom(deviations, ratio, worth / groups)
    few = float(special.stdtrit(max(worth - 1, 1), confidence) / special.stdtrit(freedom, confidence)) ** 2
    return min(worth, max(1.0, ratio * (1 - ratio) / variance * few))


def effective_size_at_quantile(probability: float, confidence: float, sample: Sample) -> float:
    """Effective number of packets for a quantile: the least of those at it and at the nearer level.

    An empty sample has size 0.
    """
    if not sample.size:
        return 0.0
    levels = {probability, max(min(probability, 0.5), 1 - NEARER * (1 - probability))}
    return min(effective_size(sample.delays_ps > level_ps(sample, level), confidence, sample) for level in levels)


def carried_burst(sample: Sample, confidence: float) -> float | None:
    """Packets for each independent one at the level nearest to loss that varies; ``None`` where none does."""
    for beyond in _LEVELS:
        exceeds = sample.delays_ps > level_ps(sample, 1 - beyond)
        if exceeds.sum() >= _SEEN:
            return sample.worth / effective_size(exceeds, confidence, sample)
    return None


def level_ps(sample: Sample, probability: float) -> float:
    """The sample quantile: the smallest delay that at most ``1 - probability`` of all packets exceed."""
    delays, running = sample.sorted_delays
    return float(delays[first_rank(running, probability)])


def first_rank(running: NDArray[np.float64], probability: float) -> int:
    """Index of a quantile among ordered packets, from the running sum of what they stand for."""
    wanted = probability * float(running[-1])
    return min(running.size - 1, int(np.searchsorted(running, wanted * (1 - 1e-12) - 1e-9)))


def _freedom(deviations: NDArray[np.float64], ratio: float, group: float) -> float:
    """Degrees of freedom of a variance from groups of ``group`` packets, at most one below their number."""
    groups = deviations.size
    spread = float((deviations**2).mean())
    kurtosis = float((deviations**4).mean()) / spread**2 - 3
    # The binomial's own: without bursts, a count of few has it too.
    binomial = (1 - 6 * ratio * (1 - ratio)) / (group * ratio * (1 - ratio))
    # Few groups show less kurtosis than there is.
    excess = max(0.0, kurtosis - binomial) * (groups + 1) / (groups - 1)
    return 2 / (2 / (groups - 1) + excess / groups)
