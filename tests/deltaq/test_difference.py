"""What a change did, with limits: in pairs of replications, and where there are none."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from qosforge.deltaq.difference import MARGIN, BoundDifference, differences
from qosforge.deltaq.objective import Objective
from qosforge.deltaq.sample import Sample

P95 = Objective(delay={"p95": 0.05})
CONFIDENCE = 0.95
MS = 1e9

Floats = NDArray[np.float64]


def queue(generator: np.random.Generator, service: float, n: int = 2_000) -> Floats:
    """Sojourn times in ps of M/M/1 with mean gaps of 1 ms, after a warm-up; services are scaled by ``service``."""
    gaps, services = generator.exponential(1, 2 * n), service * generator.exponential(1, 2 * n)
    waits = np.concatenate(([0.0], np.cumsum(services[:-1] - gaps[1:])))
    sojourn = waits - np.minimum.accumulate(waits) + services
    return np.asarray(sojourn[n:] * MS, dtype=np.float64)


def replicated(seed: int, service: float, many: int = 8) -> Sample:
    """Replications whose arrivals depend on the seed alone."""
    parts = [queue(np.random.default_rng([seed, number]), service) for number in range(many)]
    return Sample.of_delays(*parts, independent=True)


def only(found: tuple[BoundDifference, ...]) -> BoundDifference:
    (difference,) = found
    return difference


def of(before: Sample, after: Sample, objective: Objective = P95, *, paired: bool = True) -> BoundDifference:
    return only(differences(objective, before, after, confidence=CONFIDENCE, paired=paired))


def lossy(parts: list[float], delay: float = 10 * MS, n: int = 1_000) -> Sample:
    """Replications of which these parts are lost; what arrives takes ``delay`` on the average."""
    periods = []
    for number, part in enumerate(parts):
        generator = np.random.default_rng([77, number])
        delays = delay * generator.uniform(0.9, 1.1, n)
        delays[generator.random(n) < part] = np.inf
        periods.append(delays)
    return Sample.of_delays(*periods, independent=True)


def test_nothing_changed_is_no_difference() -> None:
    found = of(replicated(1, 0.7), replicated(1, 0.7))
    assert (found.low, found.high, found.change, found.pairs) == (0, 0, "not worse", 8)


def test_in_pairs_a_small_change_is_seen_that_both_sides_alone_do_not_show() -> None:
    before, after = replicated(2, 0.70), replicated(2, 0.66)
    paired, alone = of(before, after), of(before, after, paired=False)
    assert (paired.change, alone.change == "better") == ("better", False)
    assert alone.high is not None
    assert alone.low is not None
    assert paired.high is not None
    assert paired.low is not None
    assert paired.high - paired.low < 0.5 * (alone.high - alone.low)
    assert (of(after, before).low or 0) > 0


def test_the_limits_hold_over_seeds() -> None:
    """p95 of M/M/1's sojourn is −ln(0.05)/(1/s − 1) ms: the true difference is known."""
    truth = np.log(20) * (1 / (1 / 0.70 - 1) - 1 / (1 / 0.75 - 1)) / 1_000
    missed = np.zeros(2)
    for seed in range(60):
        found = of(replicated(seed + 1_000, 0.75), replicated(seed + 1_000, 0.70))
        missed += (found.low is not None and found.low > truth, found.high is not None and found.high < truth)
    # 5 % of 60, and two standard errors.
    assert (missed <= 6).all(), missed


def test_a_margin_is_part_of_what_is_asked() -> None:
    before = lossy([0.0] * 8, 10 * MS)
    within, beyond = (lossy([0.0] * 8, 10 * MS + shift * MARGIN * 50 * MS) for shift in (0.8, 1.2))
    assert of(before, within).change == "not worse"
    assert of(before, beyond).change == "worse"


def test_quantiles_among_the_lost_are_compared_by_how_much_is_beyond_the_bound() -> None:
    few, many = lossy([0.08] * 8), lossy([0.6] * 8)
    worse, better = of(few, many), of(many, few)
    assert (worse.change, worse.share, better.change) == ("worse", True, "better")
    assert worse.low is not None
    assert 0.44 < worse.low < 0.52 < (worse.high or 0) < 0.6
    assert worse.after.infinite


def test_loss_and_means_are_compared_too() -> None:
    objective = Objective(loss=0.01, mean=0.02, variation=0.02)
    found = differences(objective, lossy([0.3] * 8, 30 * MS), lossy([0.0] * 8), confidence=CONFIDENCE, paired=True)
    assert [each.change for each in found] == ["better"] * 3
    assert [each.share for each in found] == [False, True, False]


def test_what_was_never_seen_is_not_shown_to_be_no_worse() -> None:
    """No loss on either side, of few packets: the loss after may be ten times what is asked."""
    parts = [10 * MS + np.arange(100.0) for _ in range(8)]
    before = Sample.of_delays(*parts, independent=True)
    after = Sample.of_delays(*(part + 1 for part in parts), independent=True)
    found = of(before, after, Objective(loss=0.000_1))
    assert (found.change, found.pairs) == ("open", 0)
    assert found.high is not None
    assert found.high > 0.001


@pytest.mark.parametrize("heavy", [(True, False), (False, True), (True, True)])
def test_means_without_a_variance_are_not_compared(heavy: tuple[bool, bool]) -> None:
    """Pairs of means of a Pareto distribution of index 1.5 are never near to normal, however many there are."""
    mean = Objective(mean=0.05)
    sides = []
    for scale, far in zip((1.0, 1.02), heavy, strict=True):
        draws = [np.random.default_rng([5, number]) for number in range(8)]
        delays = [g.pareto(1.5, 2_000) + 1 if far else g.exponential(2, 2_000) for g in draws]
        sides.append(Sample.of_delays(*(np.asarray(d * scale * 10 * MS) for d in delays), independent=True))
    found = of(sides[0], sides[1], mean)
    assert (found.change, found.pairs) == ("open", 0)
    assert [found.high is None, found.low is None] == [heavy[1], heavy[0]]


def test_one_realisation_is_compared_as_a_whole() -> None:
    rows = [(1_000 * n, 10 * 10**9) for n in range(2_000)]
    slow = [(sent, delay * 3) for sent, delay in rows]
    lost = [(sent, -1) for sent, _ in rows]
    before, after = Sample.single(slow), Sample.single(rows)
    assert of(before, after).change == "better"
    assert (of(after, before).low or 0) > 0
    assert of(Sample.single(lost), after).change == "better"
    assert of(after, Sample.single(lost)).change == "worse"
    assert of(Sample.single(lost), Sample.single(lost)).change == "open"


def test_sides_of_other_looks_are_compared_as_far_as_both_go() -> None:
    found = of(replicated(5, 0.8, 8), replicated(5, 0.6, 16))
    assert (found.pairs, found.change) == (8, "better")


@pytest.mark.parametrize("paired", [True, False])
def test_nothing_measured_leaves_it_open(paired: bool) -> None:
    empty = Sample.of_delays(*(np.empty(0) for _ in range(8)), independent=True)
    assert of(empty, replicated(1, 0.7), paired=paired).change == "open"
    assert of(replicated(1, 0.7), empty, paired=paired).change == "open"
