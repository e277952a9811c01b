"""Verdicts by figures alone are never surer than those by the packets that have these figures."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.deltaq.delay_figures import DelayFigures, judge_figures
from qosforge.deltaq.objective import Objective
from qosforge.deltaq.verdict import judge

MS = 10**9
DELAYS = st.lists(st.one_of(st.just(-1), st.integers(min_value=0, max_value=100 * MS)), min_size=1, max_size=400)
OBJECTIVES = st.sampled_from(
    [
        Objective(delay={"p50": 0.03}),
        Objective(delay={"p90": 0.05, "p99": 0.09}, loss=0.2),
        Objective(variation=0.06, variation_quantile=0.9),
        Objective(loss=0.1),
    ]
)


def figures_of(delays: list[int]) -> DelayFigures:
    arrived = [delay for delay in delays if delay != -1]
    if not arrived:
        return DelayFigures(len(delays), 0, 0, 0, 0)
    return DelayFigures(len(delays), len(arrived), min(arrived), sum(arrived) / len(arrived), max(arrived))


@given(DELAYS, st.integers(min_value=0, max_value=110 * MS))
def test_as_many_are_beyond_as_the_figures_allow(delays: list[int], threshold: int) -> None:
    figures = figures_of(delays)
    beyond = sum(delay > threshold for delay in delays)
    assert figures.fewest_beyond(threshold) <= beyond <= figures.most_beyond(threshold)


@settings(max_examples=60)
@given(DELAYS, OBJECTIVES, st.integers(min_value=1, max_value=5))
def test_what_figures_decide_packets_do_not_contradict(delays: list[int], objective: Objective, times: int) -> None:
    packets = [(number * MS, delay) for number, delay in enumerate(delays * times)]
    by_packets = judge(objective, packets, evidence="measured")
    by_figures = judge_figures(objective, [figures_of(delays * times)], confidence=0.95, evidence="measured")
    assert [bound.label for bound in by_figures.bounds] == [bound.label for bound in by_packets.bounds]
    for seen, allowed in zip(by_packets.bounds, by_figures.bounds, strict=True):
        assert {seen.outcome, allowed.outcome} != {"met", "broken"}


def test_extremes_can_decide() -> None:
    quick = DelayFigures(40_000, 40_000, 1 * MS, 2 * MS, 9 * MS)
    late = DelayFigures(40_000, 40_000, 11 * MS, 12 * MS, 30 * MS)
    objective = Objective(delay={"p95": 0.01})
    assert judge_figures(objective, [quick], confidence=0.95, evidence="measured").outcome == "met"
    assert judge_figures(objective, [late], confidence=0.95, evidence="measured").outcome == "broken"
    both = judge_figures(objective, [quick, late], confidence=0.95, evidence="measured")
    assert both.outcome == "inconclusive"  # all that are late may have come in one go


@pytest.mark.parametrize("error", [0, 2 * MS])
def test_clocks_that_lie_apart_leave_open_what_they_may_turn(error: int) -> None:
    near = DelayFigures(40_000, 40_000, 1 * MS, 2 * MS, 9 * MS)
    verdict = judge_figures(
        Objective(delay={"p95": 0.01}), [near], confidence=0.95, evidence="measured", clock_error_ps=error
    )
    assert verdict.outcome == ("met" if error == 0 else "inconclusive")


def test_a_mean_is_decided_only_where_no_spread_could_turn_it() -> None:
    even = DelayFigures(40_000, 40_000, 5 * MS, 5 * MS, 5 * MS)
    wide = DelayFigures(40_000, 40_000, 0, 5 * MS, 100 * MS)
    objective = Objective(mean=0.006)
    assert judge_figures(objective, [even], confidence=0.95, evidence="measured").outcome == "met"
    assert judge_figures(objective, [wide], confidence=0.95, evidence="measured").outcome == "inconclusive"
