"""One realisation that remembers for as long as it lasts is known by its means over longer and longer stretches."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from qosforge.deltaq.dependence import level_ps
from qosforge.deltaq.long_range import remembers_throughout
from qosforge.deltaq.objective import Objective
from qosforge.deltaq.sample import Sample
from qosforge.deltaq.verdict import judge

MS = 1e9


def bursts(seed: int, n: int) -> NDArray[np.float64]:
    """Delays in a queue at a load of 0.8 whose bursts have lengths with a tail of 1.5 (Lindley 1952)."""
    generator = np.random.default_rng([85, seed])
    total = n + 20_000
    begins = np.cumsum((generator.pareto(1.5, total // 8) * 5 + 2).astype(np.int64))
    gaps = np.full(total, 0.5)
    inside = begins[begins < total]
    gaps[inside] = generator.exponential(15 * (1 / 0.8 - 0.5), inside.size)
    service = generator.exponential(1.0, total)
    walk = np.concatenate(([0.0], np.cumsum(service[:-1] - gaps[1:])))
    return np.asarray((walk - np.minimum.accumulate(walk) + service)[20_000:])


def waves(seed: int, correlation: float, n: int) -> NDArray[np.float64]:
    noise = np.random.default_rng([86, seed]).standard_normal(n + 500)
    return np.asarray(20 + signal.lfilter([1.0], [1.0, -correlation], noise)[500:])


def remembers(delays: NDArray[np.float64]) -> bool:
    sample = Sample.of_delays(delays)
    return remembers_throughout(sample.delays_ps > level_ps(sample, 0.5), sample)


def test_a_short_memory_is_none() -> None:
    assert sum(remembers(waves(seed, 0.0, 1_000)) for seed in range(60)) <= 1
    assert sum(remembers(waves(seed, 0.9, 12_000)) for seed in range(60)) <= 2
    assert not remembers(np.arange(1_000) % 20.0)  # constant flows that come around


def test_bursts_without_a_variance_are_remembered_throughout() -> None:
    assert sum(remembers(bursts(seed, 12_000)) for seed in range(60)) >= 54


def test_what_does_not_vary_or_is_short_tells_nothing() -> None:
    assert not remembers(np.ones(1_000))
    assert not remembers(np.arange(600.0))


def test_a_calm_stretch_of_such_bursts_has_no_limits() -> None:
    """Of 60 that mostly look calm, few have an upper limit, however many packets each has."""
    bound = Objective(delay={"p50": 1.0})
    limited = 0
    for seed in range(60):
        verdict = judge(bound, Sample.of_delays(bursts(seed, 12_000) * MS), evidence="measured")
        high = verdict.bounds[0].high.number()
        limited += high is not None and math.isfinite(high)
    assert limited <= 9
