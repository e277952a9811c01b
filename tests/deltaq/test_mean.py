"""Limits of a mean, and verdicts on it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from qosforge.deltaq.mean import BATCHES, mean_interval
from qosforge.deltaq.objective import LEAST_FOR_MEAN, Objective
from qosforge.deltaq.sample import Sample
from qosforge.deltaq.verdict import judge
from tests.deltaq.test_dependence import waits

MS = 10**9
CONFIDENCE = 0.95


@pytest.mark.parametrize(("load", "n", "most_above"), [(0.7, 20_000, 45), (0.9, 20_000, 56)])
def test_limits_of_a_queues_mean_hold_nearly_as_often_as_they_say(load: float, n: int, most_above: int) -> None:
    """Batch means with a plain t miss the true mean of M/M/1 from below in 9 % and 16 % of all runs."""
    generator = np.random.default_rng(31)
    true = load / (1 - load)
    trials = 400
    intervals = [mean_interval(Sample.of_delays(waits(generator, n, load)), CONFIDENCE) for _ in range(trials)]
    assert sum(each.high < true for each in intervals) <= most_above
    assert sum(each.low > true for each in intervals) <= 35


def test_limits_of_independent_packets_hold_as_often_as_they_say() -> None:
    generator = np.random.default_rng(32)
    intervals = [mean_interval(Sample.of_delays(generator.exponential(1.0, 1_000)), CONFIDENCE) for _ in range(600)]
    # 5 % of 600 is 30; 48 is where luck ends (one in a thousand), and below 12 the limits would be too wide.
    assert 12 <= sum(each.high < 1 for each in intervals) <= 48
    assert 12 <= sum(each.low > 1 for each in intervals) <= 48
    assert 0.7 * 1_000 < np.mean([each.size for each in intervals]) <= 1_000


def test_symmetric_batches_have_students_own_limits() -> None:
    wave = np.tile(np.repeat([9.0, 11.0], 100), BATCHES // 2)
    interval = mean_interval(Sample.of_delays(wave), CONFIDENCE)
    error = 1 / math.sqrt(BATCHES - 1)
    assert interval.observed == 10
    assert interval.high - 10 == pytest.approx(stats.t.ppf(0.95, BATCHES - 1) * error)
    assert 10 - interval.low == pytest.approx(interval.high - 10)


def test_halves_of_replications_show_what_they_have_in_common() -> None:
    """Eight replications of one mean whose halves differ: no replication is alike throughout."""
    noise = np.random.default_rng(34)
    halves = [(49.0, 51.0), (51.0, 49.0)] * 4
    delays = [np.repeat(pair, 1_000) + noise.normal(0, 5, 2_000) for pair in halves]
    interval = mean_interval(Sample.of_delays(*delays, independent=True), CONFIDENCE)
    error = 1 / math.sqrt(2 * len(halves) - 1)
    student = stats.t.ppf(0.95, 2 * len(halves) - 1) * error
    assert (interval.high - interval.low) / 2 == pytest.approx(student, rel=0.1)


def test_few_packets_bound_nothing() -> None:
    interval = mean_interval(Sample.of_delays(np.full(LEAST_FOR_MEAN - 1, 5.0)), CONFIDENCE)
    assert (interval.observed, interval.low, interval.high) == (5.0, 0.0, math.inf)
    with pytest.raises(ValueError, match="empty"):
        mean_interval(Sample.of_delays(np.empty(0)), CONFIDENCE)


def samples(n: int, mean_ms: float, seed: int = 33) -> list[tuple[int, int]]:
    delays = np.random.default_rng(seed).exponential(mean_ms * MS, n)
    return [(number, int(delay)) for number, delay in enumerate(delays)]


def test_a_mean_is_met_broken_or_open() -> None:
    requested = Objective(mean=0.010)
    assert judge(requested, samples(2_000, 8.0), evidence="measured").outcome == "met"
    assert judge(requested, samples(2_000, 12.0), evidence="measured").outcome == "broken"
    near = judge(requested, samples(2_000, 9.9), evidence="measured")
    assert near.outcome == "inconclusive"
    bound = near.bounds[0]
    assert bound.label == "mean delay"
    assert bound.more_packets is not None
    assert bound.more_packets > 2_000
    assert bound.low.value < bound.observed.value < bound.high.value


def test_the_estimate_of_further_packets_decides() -> None:
    requested = Objective(mean=0.0102)
    short = judge(requested, samples(2_000, 10.0), evidence="measured")
    assert short.outcome == "inconclusive"
    assert short.more_packets is not None
    longer = judge(requested, samples(2 * (2_000 + short.more_packets), 10.0), evidence="measured")
    assert longer.outcome == "met"


def test_lost_packets_are_no_part_of_a_mean_but_of_the_loss() -> None:
    sent = [(number, -1 if number % 2 else 5 * MS) for number in range(4_000)]
    verdict = judge(Objective(mean=0.006, loss=0.1), sent, evidence="measured")
    assert [bound.outcome for bound in verdict.bounds] == ["met", "broken"]
    assert verdict.bounds[0].n == 4_000
    assert verdict.bounds[0].n_effective == 2_000


def test_nothing_that_arrived_has_no_mean() -> None:
    verdict = judge(Objective(mean=0.01), [(number, -1) for number in range(50)], evidence="measured")
    assert verdict.outcome == "inconclusive"
    assert verdict.bounds[0].observed.number() is None
    assert verdict.more_packets == LEAST_FOR_MEAN
    assert judge(Objective(mean=0.01), [], evidence="measured").more_packets == LEAST_FOR_MEAN
