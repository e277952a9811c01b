"""How much a sequence of dependent packets tells: the size of an independent sample that would tell as much.

Packets in a queue see what their neighbours see. The variance of a ratio is estimated from ``BATCHES`` batches
of consecutive packets (between 10 and 30 serve any run length: Schmeiser, Operations Research 30(3), 1982), and
the size is scaled to it as Korn and Graubard do (Survey Methodology 24(2), 1998), with a Student t for how few
the batches are. Two things that a queue does to batches are accounted for:

- **Busy periods outlast a batch.** Batches that still follow each other are told by their correlation at lag 1,
  r > 1/√BATCHES; the variance then grows by (1 + r)/(1 − r), as for an autoregressive sequence (Tafazzoli,
  Wilson, Lada and Steiger, "Skart", Winter Simulation Conference 2008).
- **Rare and large bursts.** One batch holds most of what is counted, and a variance from such batches is itself
  uncertain. Its degrees of freedom are 2/(2/(BATCHES − 1) + κ/BATCHES), the ratio of moments that a χ² has, with
  κ the excess kurtosis of the batches beyond that of independent packets.

A quantile's neighbourhood is also asked at a level that ``NEARER`` times as many packets exceed, where bursts are
less rare; the smaller answer counts.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

BATCHES = 20
"""Batches of consecutive packets from which dependence is estimated."""

NEARER = 3
"""How many times as many packets exceed the second level at which a quantile's dependence is looked for."""


def batch_sums(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums and sizes of ``BATCHES`` batches of consecutive values; the sizes differ by one at most."""
    edges = np.linspace(0, values.size, BATCHES + 1).round().astype(np.int64)
    running = np.concatenate(([0.0], np.cumsum(values, dtype=np.float64)))
    return np.diff(running[edges]), np.diff(edges).astype(np.float64)


def persistence(deviations: NDArray[np.float64]) -> float:
    """Factor, at least 1, by which the variance of batches grows that still follow each other."""
    total = float((deviations**2).sum())
    if total == 0:
        return 1.0
    lag_1 = float((deviations[1:] * deviations[:-1]).sum()) / total
    return (1 + lag_1) / (1 - lag_1) if lag_1 * math.sqrt(BATCHES) > 1 else 1.0


def effective_size(exceeds: NDArray[np.bool_], confidence: float) -> float:
    """Return how many independent packets would tell as much about the mean of this indicator.

    ``exceeds`` holds one truth value per packet in the order of sending; ``confidence`` (above 0.5) is that of
    the limit it serves. A constant indicator, or fewer than two packets per batch, shows no dependence: the size
    is then the number of packets. Never above it, and at least 1 unless the sample is empty.
    """
    n = exceeds.size
    ratio = float(exceeds.mean()) if n else 0.0
    if n < 2 * BATCHES or ratio in (0.0, 1.0):
        return float(n)
    sums, sizes = batch_sums(exceeds.astype(np.float64))
    deviations = sums - ratio * sizes
    squares = float((deviations**2).sum())
    if squares == 0:
        return float(n)
    variance = squares * BATCHES / (BATCHES - 1) / n**2 * persistence(deviations)
    independent = ratio * (1 - ratio) / variance
    freedom = _freedom(deviations, ratio, n / BATCHES)
    few = float(special.stdtrit(n - 1, confidence) / special.stdtrit(freedom, confidence)) ** 2
    return min(float(n), max(1.0, independent * few))


def effective_size_at_quantile(delays_ps: NDArray[np.float64], probability: float, confidence: float) -> float:
    """Effective number of packets for a quantile: the least of those at it and at the nearer level.

    ``delays_ps`` are in the order of sending, lost packets as ``inf``. An empty sample has size 0.
    """
    n = delays_ps.size
    if n == 0:
        return 0.0
    ordered = np.sort(delays_ps)
    levels = {rank(n, probability), rank(n, max(min(probability, 0.5), 1 - NEARER * (1 - probability)))}
    return min(effective_size(delays_ps > ordered[level - 1], confidence) for level in levels)


def rank(n: int, probability: float) -> int:
    """Rank (from 1) of the sample quantile: the smallest with at most ``1 - probability`` above it."""
    return min(n, max(1, math.ceil(n * probability - 1e-9)))


def _freedom(deviations: NDArray[np.float64], ratio: float, batch: float) -> float:
    """Degrees of freedom of a variance from batches of ``batch`` packets, at most ``BATCHES - 1``."""
    spread = float((deviations**2).mean())
    kurtosis = float((deviations**4).mean()) / spread**2 - 3
    # The binomial's own: without bursts, a count of few has it too.
    binomial = (1 - 6 * ratio * (1 - ratio)) / (batch * ratio * (1 - ratio))
    # Few batches show less kurtosis than there is.
    excess = max(0.0, kurtosis - binomial) * (BATCHES + 1) / (BATCHES - 1)
    return 2 / (2 / (BATCHES - 1) + excess / BATCHES)
