"""How often limits hold for packets of a queue, which depend on each other for long."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import signal

from qosforge.deltaq.dependence import (
    effective_size,
    effective_size_at_quantile,
    group_sums,
    groupings,
    persistence,
)
from qosforge.deltaq.intervals import quantile_interval
from qosforge.deltaq.sample import Sample

CONFIDENCE = 0.95
TRIALS = 300


def waits(generator: np.random.Generator, n: int, load: float) -> NDArray[np.float64]:
    """Stationary waiting times of M/M/1 in service times: Lindley's recursion, unrolled."""
    first = generator.exponential(1 / (1 - load)) if generator.random() < load else 0.0
    steps = np.cumsum(generator.exponential(1.0, n) - generator.exponential(1 / load, n))
    walk = np.concatenate(([0.0], steps))[:n]
    return np.asarray(np.maximum(walk - np.minimum.accumulate(walk), first + walk))


def true_wait(load: float, probability: float) -> float:
    """Quantile of the M/M/1 wait: P(W > t) = ρ·exp(−(1 − ρ)t)."""
    return math.log(load / (1 - probability)) / (1 - load)


@pytest.mark.parametrize(
    ("load", "n", "probability"),
    [(0.7, 3_000, 0.5), (0.7, 20_000, 0.95), (0.7, 20_000, 0.99), (0.9, 20_000, 0.95), (0.9, 3_000, 0.99)],
)
def test_limits_of_a_queues_quantiles_hold_nearly_as_often_as_they_say(
    load: float, n: int, probability: float
) -> None:
    generator = np.random.default_rng(21)
    true = true_wait(load, probability)
    above = below = 0
    for _ in range(TRIALS):
        sample = Sample.of_delays(waits(generator, n, load))
        size = effective_size_at_quantile(probability, CONFIDENCE, sample)
        interval = quantile_interval(sample, probability, size, CONFIDENCE)
        above += interval.high < true
        below += interval.low > true
    # 5 % of 300 is 15; 27 is where luck ends (one in a thousand).
    assert above <= 27
    assert below <= 27


def test_a_rare_burst_is_worth_less_than_its_batches_alone_say() -> None:
    """Uncorrected for rare bursts, one upper limit in nine was too low here, the size half as large again."""
    generator = np.random.default_rng(22)
    samples = [Sample.of_delays(waits(generator, 20_000, 0.7)) for _ in range(40)]
    assert 200 < np.mean([effective_size_at_quantile(0.99, CONFIDENCE, each) for each in samples]) < 650


def test_batches_that_follow_each_other_count_for_less() -> None:
    slow = signal.lfilter([1.0], [1.0, -0.8], np.random.default_rng(23).standard_normal(20))
    assert persistence(slow - slow.mean()) > 1.5
    alternating = np.tile([1.0, -1.0], 10)
    assert persistence(alternating) == 1
    assert persistence(np.zeros(20)) == 1


def test_one_exceedance_shows_no_dependence() -> None:
    lone = np.zeros(2_000, dtype=bool)
    lone[700] = True
    assert effective_size(lone, CONFIDENCE, Sample.of_delays(lone * 1.0)) > 0.75 * 2_000


def test_lost_packets_take_part() -> None:
    generator = np.random.default_rng(24)
    delays = waits(generator, 4_000, 0.7)
    delays[1_000:1_100] = math.inf
    assert 1 <= effective_size_at_quantile(0.99, CONFIDENCE, Sample.of_delays(delays)) < 100
    assert effective_size_at_quantile(0.9, CONFIDENCE, Sample.of_delays(np.full(100, math.inf))) == 100
    assert effective_size_at_quantile(0.9, CONFIDENCE, Sample.of_delays(np.empty(0))) == 0


def test_groups_hold_every_packet_once() -> None:
    values = np.arange(1_003, dtype=np.float64)
    found = list(groupings(Sample.of_delays(values)))
    assert [edges.size - 1 for edges, _ in found] == [20, 10, 5]
    for edges, follow in found:
        assert follow
        assert group_sums(values, edges).sum() == 1_003 * 1_002 / 2
        assert np.ptp(np.diff(edges)) <= 1


def test_replications_are_groups_of_their_own_and_by_halves() -> None:
    parts = [np.arange(float(n)) + n * number for number, n in enumerate((10, 12, 8, 10, 10, 10, 10, 10))]
    whole, halves = groupings(Sample.of_delays(*parts, independent=True))
    assert np.diff(whole[0]).tolist() == [10, 12, 8, 10, 10, 10, 10, 10]
    assert halves[0].size == 2 * 8 + 1
    assert not whole[1]


def test_what_differs_between_replications_counts() -> None:
    """Each replication draws a phase that all its packets share: more of them tell nothing more."""
    generator = np.random.default_rng(25)
    parts = [generator.random() + 0.1 * generator.random(1_000) for _ in range(16)]
    late = 0.7
    for count in (100, 1_000):
        sample = Sample.of_delays(*(part[:count] for part in parts), independent=True)
        assert effective_size(sample.delays_ps > late, CONFIDENCE, sample) < 25
    alone = Sample.of_delays(np.concatenate(parts))
    assert effective_size(alone.delays_ps > late, CONFIDENCE, alone) < 25


def test_so_little_of_a_queue_that_its_dependence_is_unknown_has_no_limits() -> None:
    sample = Sample.of_delays(waits(np.random.default_rng(26), 1_500, 0.97))
    size = effective_size_at_quantile(0.5, CONFIDENCE, sample)
    assert size == 1
    assert math.isinf(quantile_interval(sample, 0.5, size, CONFIDENCE).high)
