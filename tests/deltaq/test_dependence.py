"""How often limits hold for packets of a queue, which depend on each other for long."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import signal

from app.deltaq.dependence import BATCHES, batch_sums, effective_size, effective_size_at_quantile, persistence, rank
from app.deltaq.intervals import quantile_interval

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
        delays = waits(generator, n, load)
        size = effective_size_at_quantile(delays, probability, CONFIDENCE)
        interval = quantile_interval(np.sort(delays), probability, size, CONFIDENCE)
        above += interval.high < true
        below += interval.low > true
    # 5 % of 300 is 15; 27 is where luck ends (one in a thousand), 29 leaves the half per cent known to be missing.
    assert above <= 29
    assert below <= 27


def test_a_rare_burst_is_worth_less_than_its_batches_alone_say() -> None:
    """Uncorrected for rare bursts, one upper limit in nine was too low here, the size half as large again."""
    generator = np.random.default_rng(22)
    sizes = [effective_size_at_quantile(waits(generator, 20_000, 0.7), 0.99, CONFIDENCE) for _ in range(40)]
    assert 350 < np.mean(sizes) < 800


def test_batches_that_follow_each_other_count_for_less() -> None:
    slow = signal.lfilter([1.0], [1.0, -0.8], np.random.default_rng(23).standard_normal(BATCHES))
    assert persistence(slow - slow.mean()) > 1.5
    alternating = np.tile([1.0, -1.0], BATCHES // 2)
    assert persistence(alternating) == 1
    assert persistence(np.zeros(BATCHES)) == 1


def test_one_exceedance_shows_no_dependence() -> None:
    lone = np.zeros(2_000, dtype=bool)
    lone[700] = True
    assert effective_size(lone, CONFIDENCE) > 0.85 * 2_000


def test_lost_packets_take_part() -> None:
    generator = np.random.default_rng(24)
    delays = waits(generator, 4_000, 0.7)
    delays[1_000:1_100] = math.inf
    at_p99 = effective_size_at_quantile(delays, 0.99, CONFIDENCE)
    assert 1 <= at_p99 < 100
    assert effective_size_at_quantile(np.full(100, math.inf), 0.9, CONFIDENCE) == 100
    assert effective_size_at_quantile(np.empty(0), 0.9, CONFIDENCE) == 0


def test_batches_hold_every_packet_once() -> None:
    sums, sizes = batch_sums(np.arange(1_003, dtype=np.float64))
    assert sizes.sum() == 1_003
    assert set(sizes) <= {50.0, 51.0}
    assert sums.sum() == 1_003 * 1_002 / 2


def test_rank_is_the_first_with_few_enough_above() -> None:
    assert [rank(10, p) for p in (0.05, 0.1, 0.5, 0.91, 1.0)] == [1, 1, 5, 10, 10]
