"""What verdicts rest on, in words: the bound that decides, digits, limits and assumptions."""

from __future__ import annotations

import numpy as np
import pytest

from qosforge.deltaq.objective import BoundVerdict, Objective, ObjectiveVerdict
from qosforge.deltaq.sample import Sample
from qosforge.deltaq.verdict import judge, make_inconclusive
from qosforge.reports.evidence import deciding, interval, observed, sentence, why_open
from qosforge.tester.measurement.judging import ClassVerdict

MS = 1e9


def said(bound: BoundVerdict, verdict: ObjectiveVerdict, **times: float) -> str:
    judged = ClassVerdict(
        scenario="calls", traffic_class="voice", objective=Objective(mean=1.0), verdict=verdict, **times
    )
    return sentence(bound, judged)


def sample(mean_ms: float = 5.0, count: int = 16, lost: int = 0) -> Sample:
    generator = np.random.default_rng(91)
    parts = [20 * MS + generator.exponential(mean_ms * MS, 800) for _ in range(count)]
    for part in parts:
        part[:lost] = np.inf
    return Sample.of_delays(*parts, independent=True)


def test_a_figure_has_the_digits_that_its_interval_allows() -> None:
    bound = judge(Objective(delay={"p95": 0.05}), sample(), evidence="emulated").bounds[0]
    low, high = bound.low.number() or 0, bound.high.number() or 0
    assert 0.2 < (high - low) * 1e3 < 2
    assert observed(bound) == f"{(bound.observed.number() or 0) * 1e3:.1f} ms"
    assert interval(bound) == f"{low * 1e3:.1f}–{high * 1e3:.1f} ms"
    lossy = judge(Objective(loss=0.1), sample(lost=8), evidence="emulated").bounds[0]
    assert (observed(lossy), interval(lossy)) == ("1.0 %", "0.9–1.2 %")


def test_a_figure_without_an_upper_limit_has_the_digits_that_the_lower_one_allows() -> None:
    generator = np.random.default_rng(91)
    lost = 20 * MS + generator.exponential(5 * MS, 400)
    lost[:3] = np.inf
    bound = judge(Objective(delay={"p99": 0.05}), Sample.of_delays(lost), evidence="measured").bounds[0]
    low, high = bound.low.number() or 0, bound.high.number() or 0
    assert np.isinf(high)
    assert 1e-3 < (bound.observed.number() or 0) - low < 20e-3
    assert observed(bound) == f"{(bound.observed.number() or 0) * 1e3:.0f} ms"


def test_the_bound_that_made_the_verdict_is_the_one_that_is_shown() -> None:
    open_one = judge(Objective(delay={"p50": 0.03, "p99.9": 0.0551}), sample(), evidence="emulated")
    assert (open_one.outcome, open_one.bounds[deciding(open_one)].label) == ("inconclusive", "delay p99.9")
    broken = judge(Objective(delay={"p50": 0.021, "p99": 0.2}), sample(), evidence="emulated")
    assert (broken.outcome, deciding(broken)) == ("broken", 0)
    met = judge(Objective(delay={"p50": 0.05, "p99": 0.06}), sample(), evidence="emulated")
    assert (met.outcome, deciding(met)) == ("met", 1)


def test_a_sentence_says_of_what_and_how_surely() -> None:
    verdict = judge(Objective(delay={"p95": 0.05}), sample(), evidence="emulated", look=1, looks=3)
    told = said(verdict.bounds[0], verdict)
    assert told.startswith("in 16 simulations of the configuration read back, 95 % of voice packets took at most ")
    assert "each limit at 97.5 % and both together at 95 %)" in told
    assert "12,800 packets, worth" in told


def test_a_sentence_says_how_long_it_was_and_what_was_left_out() -> None:
    verdict = judge(Objective(delay={"p95": 0.05}), sample(), evidence="emulated")
    told = said(verdict.bounds[0], verdict, seconds=7.5, warm_up_seconds=2)
    assert told.startswith(
        "in 16 simulations of 7.5 s of the configuration read back, 2 s before each left out, 95 % of voice packets"
    )


def test_a_measurement_says_that_it_is_one_realisation() -> None:
    packets = [(number * 20_000, int(20 * MS)) for number in range(400)]
    verdict = judge(Objective(loss=0.01), packets, evidence="measured")
    told = said(verdict.bounds[0], verdict, seconds=30)
    assert told.startswith("in one measurement of 30 s, 0 % of voice packets were lost")
    assert "it is one realisation: its limits say nothing of what differs from one such time to another" in told


def test_what_was_assumed_and_what_lacks_is_said() -> None:
    packets = [(number * 20_000, int(20 * MS)) for number in range(400)]
    verdict = judge(Objective(loss=0.01), packets, evidence="measured")
    told = said(verdict.bounds[0], verdict)
    assert "0 % of voice packets were lost" in told
    assert (
        "none lost, which is taken to happen to up to 500 packets in one go (shown for up to 1.3 packets)" in told
    )
    short = make_inconclusive(verdict, "the measurement was cut short: 8 s of 30 s")
    short = short.model_copy(update={"lacking": ("how long it measured", "how far its clocks lie apart")})
    told = said(short.bounds[0], short)
    assert "cut short: 8 s of 30 s, so that nothing is decided" in told
    assert told.endswith("the tester did not say how long it measured or how far its clocks lie apart")


@pytest.mark.parametrize("lost", [0, 800])
def test_variation_mean_and_what_never_arrives_have_words(lost: int) -> None:
    verdict = judge(
        Objective(variation=0.05, mean=0.05, delay={"p50": 0.1}), sample(lost=lost), evidence="predicted"
    )
    told = [said(bound, verdict) for bound in verdict.bounds]
    assert all("in 16 simulations of the configuration to be entered" in each for each in told)
    assert "longer than the fastest" in " ".join(told)
    assert ("took at most ∞" in told[0]) == bool(lost)


def test_limits_of_which_one_is_not_known_say_so() -> None:
    few = judge(
        Objective(delay={"p99.9": 0.2}), Sample.of_delays(np.linspace(20 * MS, 30 * MS, 500)), evidence="predicted"
    )
    assert few.bounds[0].high.infinite
    assert interval(few.bounds[0]) == "29.96 ms or more"


def test_an_inconclusive_bound_says_why_it_is_though_its_limits_lie_within() -> None:
    objective = Objective(delay={"p99.9": 0.2})
    few = judge(objective, Sample.of_delays(np.linspace(20 * MS, 30 * MS, 500)), evidence="predicted").bounds[0]
    assert few.outcome == "inconclusive"
    assert (few.observed.number() or 0) < few.requested, "what was seen lies within"
    assert why_open(few).startswith("none of 500 packets later, too few to tell of 99.9 %; about ")
    assert why_open(few).endswith(" more packets would decide")
    astride = judge(Objective(delay={"p95": 0.0352}), sample(), evidence="emulated").bounds[0]
    assert astride.outcome == "inconclusive"
    assert why_open(astride).endswith(" more packets would decide")
    assert why_open(astride).startswith("about ")
    assert why_open(astride.model_copy(update={"more_packets": None})) == "what is requested lies within the limits"
    decided = judge(Objective(delay={"p95": 0.05}), sample(), evidence="emulated").bounds[0]
    assert why_open(decided) == ""
