"""Sequences of delays whose quantiles and mean are known, by closed forms' recursions and four million packets.

Queues follow Lindley's recursion ("The theory of queues with a single server", Mathematical Proceedings of the
Cambridge Philosophical Society 48(2), 1952); they begin empty.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import signal

PS = 1e9
"""Picoseconds of a time unit of the queues: their service takes one on average."""
QUANTILES = (0.5, 0.95, 0.99, 0.999)
Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]


def queue(
    generator: np.random.Generator, n: int, gaps: NDArray[np.float64], *, constant: bool = False
) -> NDArray[np.float64]:
    """Times in a first-come queue, from Lindley's recursion, beginning empty; services of one on average."""
    service = np.ones(n) if constant else generator.exponential(1.0, n)
    walk = np.concatenate(([0.0], np.cumsum(service[:-1] - gaps[1:])))
    waits: NDArray[np.float64] = walk - np.minimum.accumulate(walk)
    return (waits + service) * PS


def poisson(load: float, generator: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Sojourn in M/M/1."""
    return queue(generator, n, generator.exponential(1 / load, n))


def deterministic(load: float, generator: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Sojourn in M/D/1."""
    return queue(generator, n, generator.exponential(1 / load, n), constant=True)


def on_off(load: float, generator: np.random.Generator, n: int, *, heavy: bool = False) -> NDArray[np.float64]:
    """Sojourn in a queue whose arrivals come in bursts, geometric or (``heavy``) Pareto with a tail of 1.5."""
    count = max(8, n // 8)
    lengths = generator.pareto(1.5, count) * 5 + 2 if heavy else generator.geometric(0.1, count)
    begins = np.cumsum(np.maximum(1, lengths.astype(np.int64)))
    gaps = np.full(n, 0.5)
    inside = begins[begins < n]
    mean = 15.0 if heavy else 10.0
    gaps[inside] = generator.exponential(mean * (1 / load - 0.5), inside.size)
    return queue(generator, n, gaps)


def warm(draw: Draw, generator: np.random.Generator, n: int) -> NDArray[np.float64]:
    """A stretch of ``n`` from where the start is long past."""
    return draw(generator, n + 20_000)[20_000:]


def waves(correlation: float, generator: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Normal around 20, an autoregressive sequence."""
    noise = generator.standard_normal(n + 500) * math.sqrt(1 - correlation**2)
    return np.asarray((20 + signal.lfilter([1.0], [1.0, -correlation], noise)[500:]) * PS)


def exponential(generator: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Independent, exponential."""
    return generator.exponential(PS, n)


def lognormal(generator: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Independent, lognormal."""
    return generator.lognormal(0, 1, n) * PS


def bimodal(generator: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Independent, exponential around one for nine in ten, around twenty for the others."""
    return generator.exponential(np.where(generator.random(n) < 0.9, PS, 20 * PS))


def steps(generator: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Independent, of five delays alone: most packets are as late as others."""
    return generator.choice(np.array([1.0, 2.0, 3.0, 5.0, 8.0]) * PS, n, p=(0.5, 0.3, 0.1, 0.07, 0.03))


def pareto(generator: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Independent, Pareto with a tail of 1.5: no variance."""
    return (1 + generator.pareto(1.5, n)) * PS


def exact(draw: Draw) -> tuple[NDArray[np.float64], float]:
    """Quantiles and mean of four million packets."""
    generator = np.random.default_rng(0)
    parts = np.concatenate([warm(draw, generator, 400_000) for _ in range(10)])
    return np.quantile(parts, QUANTILES, method="inverted_cdf"), float(parts.mean())
