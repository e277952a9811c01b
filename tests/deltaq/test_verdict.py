"""Verdicts at their edges, and how often they are wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import signal

from app.deltaq.objective import Objective, Verdict
from app.deltaq.verdict import judge

MS = 10**9


def steady(n: int, delay_ps: int = 10 * MS) -> list[tuple[int, int]]:
    return [(number * 20 * MS, delay_ps) for number in range(n)]


def test_p99_needs_299_packets_at_95_percent() -> None:
    objective = Objective(delay={"p99": 0.04})
    short = judge(objective, steady(298), evidence="measured")
    assert short.outcome == "inconclusive"
    assert short.more_packets == 1
    assert short.bounds[0].high.infinite
    enough = judge(objective, steady(299), evidence="measured")
    assert enough.outcome == "met"
    assert enough.more_packets is None
    assert enough.bounds[0].high.value == pytest.approx(0.01)


def test_missing_packets_are_those_to_be_sent() -> None:
    objective = Objective(delay={"p99": 0.04}, loss=0.5)
    thin = judge(objective, steady(289), evidence="measured", sampled=7)
    assert [bound.more_packets for bound in thin.bounds] == [70, None]
    with pytest.raises(ValueError, match="not in 0"):
        judge(objective, steady(289), evidence="measured", sampled=0)


def test_variation_needs_2995_packets_and_is_not_watered_down() -> None:
    objective = Objective(variation=0.03)
    assert judge(objective, steady(2_994), evidence="measured").outcome == "inconclusive"
    verdict = judge(objective, steady(2_995), evidence="measured")
    assert verdict.outcome == "met"
    assert verdict.bounds[0].label == "variation p99.9 − min"
    assert (
        judge(Objective(variation=0.03, variation_quantile=0.99), steady(299), evidence="measured").outcome == "met"
    )


def test_variation_counts_from_the_smallest_delay() -> None:
    samples = [(number, (100 + number % 20) * MS) for number in range(4_000)]
    verdict = judge(Objective(variation=0.02), samples, evidence="measured")
    assert verdict.outcome == "met"
    assert verdict.bounds[0].observed.value == pytest.approx(0.019)
    assert judge(Objective(variation=0.0185), samples, evidence="measured").outcome == "broken"


def test_no_loss_in_n_shows_about_three_in_n() -> None:
    verdict = judge(Objective(loss=0.001), steady(2_995), evidence="measured")
    assert verdict.outcome == "met"
    assert verdict.bounds[0].high.value == pytest.approx(3 / 2_995, rel=0.01)
    short = judge(Objective(loss=0.001), steady(1_000), evidence="measured")
    assert short.outcome == "inconclusive"
    assert short.more_packets == 1_995


def test_a_delay_exactly_at_the_bound_keeps_it() -> None:
    objective = Objective(delay={"p95": 0.03})
    assert judge(objective, steady(500, 30 * MS), evidence="measured").outcome == "met"
    assert judge(objective, steady(500, 30 * MS + 1), evidence="measured").outcome == "broken"


def test_all_lost_breaks_every_bound() -> None:
    objective = Objective(delay={"p50": 0.1, "p99": 0.2}, variation=0.03, loss=0.5)
    verdict = judge(objective, [(number, -1) for number in range(100)], evidence="measured")
    assert [bound.outcome for bound in verdict.bounds] == ["broken"] * 4
    assert verdict.outcome == "broken"
    assert all(bound.observed.infinite for bound in verdict.bounds[:3])
    assert verdict.bounds[3].observed.value == 1


def test_loss_alone_breaks_a_delay_bound() -> None:
    samples = [(number, -1 if number % 10 == 0 else MS) for number in range(2_000)]
    verdict = judge(Objective(delay={"p95": 0.04}), samples, evidence="emulated")
    assert verdict.outcome == "broken"
    assert verdict.bounds[0].exceedances == 200
    assert verdict.bounds[0].observed.infinite


def test_nothing_sent_is_inconclusive_and_says_how_much_is_needed() -> None:
    verdict = judge(Objective(delay={"p99": 0.04}, loss=0.001), [], evidence="measured")
    assert verdict.outcome == "inconclusive"
    assert verdict.more_packets == 2_995
    assert verdict.bounds[0].observed.number() is None
    assert verdict.bounds[0].n == 0


def test_higher_confidence_asks_for_more_packets() -> None:
    objective = Objective(delay={"p99": 0.04})
    assert judge(objective, steady(299), confidence=0.99, evidence="measured").outcome == "inconclusive"
    assert judge(objective, steady(459), confidence=0.99, evidence="measured").outcome == "met"


@pytest.mark.parametrize("confidence", [0.5, 1, 0, 95, math.nan])
def test_what_is_no_confidence_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        judge(Objective(loss=0.1), steady(10), confidence=confidence, evidence="measured")


def test_one_broken_bound_breaks_the_objective() -> None:
    verdict = judge(Objective(delay={"p50": 0.005, "p99": 0.04}), steady(100), evidence="predicted")
    assert [bound.outcome for bound in verdict.bounds] == ["broken", "inconclusive"]
    assert verdict.outcome == "broken"
    assert verdict.evidence == "predicted"


def test_the_order_of_the_samples_does_not_matter() -> None:
    generator = np.random.default_rng(3)
    samples = [(number, int(delay)) for number, delay in enumerate(generator.exponential(5 * MS, 1_000))]
    objective = Objective(delay={"p95": 0.02}, loss=0.01)
    shuffled = [samples[index] for index in generator.permutation(1_000)]
    assert judge(objective, samples, evidence="measured") == judge(objective, shuffled, evidence="measured")


def test_dependent_packets_are_worth_less() -> None:
    generator = np.random.default_rng(4)
    noise = generator.standard_normal(3_000)
    waves = np.exp(signal.lfilter([1.0], [1.0, -0.95], noise) / 3) * 5 * MS
    dependent = [(number, int(delay)) for number, delay in enumerate(waves)]
    mixed = [(number, int(delay)) for number, delay in enumerate(generator.permutation(waves))]
    objective = Objective(delay={"p95": 1.0})
    worth = [judge(objective, each, evidence="measured").bounds[0].n_effective for each in (dependent, mixed)]
    assert worth[0] < worth[1] / 3


def test_verdicts_survive_json() -> None:
    samples = [*steady(200), *((number, -1) for number in range(50))]
    verdict = judge(Objective(delay={"p99": 0.04}, variation=0.1, loss=0.2), samples, evidence="measured")
    text = verdict.model_dump_json()
    assert "Infinity" not in text
    assert "NaN" not in text
    assert Verdict.model_validate_json(text) == verdict


@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_verdicts_are_wrong_no_more_often_than_they_say(correlation: float) -> None:
    """At the very edge: the true p90 equals the bound, once from either side."""
    generator = np.random.default_rng(5)
    called = {"met": 0, "broken": 0, "inconclusive": 0}
    trials = 300
    edge = 1.2815515655446004  # 90 % quantile of the standard normal
    for _ in range(trials):
        noise = generator.standard_normal(2_200) * math.sqrt(1 - correlation**2)
        values = signal.lfilter([1.0], [1.0, -correlation], noise)[200:]
        samples = [(number, int((value + 10) * MS)) for number, value in enumerate(values)]
        outcome = judge(Objective(delay={"p90": (10 + edge) / 1e3}), samples, evidence="measured").outcome
        called[outcome] += 1
    # Either answer may come by chance in 5 % of 300 = 15 trials; 28 is where luck ends (one in a thousand).
    assert called["met"] <= 28
    assert called["broken"] <= 28
