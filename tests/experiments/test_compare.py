"""Claims against what was obtained: every way of comparing, with and without intervals."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from qosforge.experiments.compare import ClaimComparison, compare_claims
from tests.experiments.sample_rows import claim, experiment, point, row, session


def only(fields: dict[str, Any], *values: float, **extra: Any) -> ClaimComparison:
    """The comparison of one claim with ``device`` at loads 1, 2, … delivering ``values`` Mb/s."""
    made = experiment(fields, **extra)
    points = [point(row("device", load, throughput_mbps=value)) for load, value in enumerate(values, 1)]
    (found,) = compare_claims(session(made, {"s": points}), made)
    return found


@pytest.mark.parametrize(("value", "holds"), [(95.0, True), (105.0, True), (94.9, False), (105.1, False)])
def test_a_figure_holds_within_its_tolerance(value: float, holds: bool) -> None:
    assert only(claim(tolerance={"rel": 0.05}), value).holds is holds


def test_of_two_tolerances_the_wider_counts() -> None:
    assert only(claim(value=1.0, tolerance={"rel": 0.1, "abs": 2}), 2.9).holds


def test_a_figure_over_several_loads_is_their_mean() -> None:
    found = only(claim(), 90, 100, 110)
    assert found.holds
    assert found.obtained == 100


@pytest.mark.parametrize(
    ("type_", "values", "worst", "holds"),
    [
        ("below", (99, 101), 101, False),
        ("below", (98, 99), 99, True),
        ("above", (99, 101), 99, False),
        ("above", (101, 102), 101, True),
        ("at_most", (100, 90), 100, True),
        ("at_least", (100, 110), 100, True),
    ],
)
def test_a_limit_holds_at_every_load(type_: str, values: tuple[float, ...], worst: float, holds: bool) -> None:
    found = only(claim(type=type_), *values)
    assert (found.obtained, found.holds) == (worst, holds)


def two(one: list[float], other: list[float], **order: Any) -> ClaimComparison:
    """Subjects ``a`` and ``b`` with these values in their trials, claimed to rise in this order."""
    made = experiment(
        claim(type="order", value={"ascending": [{"subject": "a"}, {"subject": "b"}], **order}, kind="order")
    )
    mean = [sum(values) / len(values) for values in (one, other)]
    trials = [[row("a", throughput_mbps=a), row("b", throughput_mbps=b)] for a, b in zip(one, other, strict=True)]
    whole = point(row("a", throughput_mbps=mean[0]), row("b", throughput_mbps=mean[1]), trials=trials)
    return compare_claims(session(made, {"s": [whole]}), made)[0]


def test_an_order_needs_intervals_that_stand_apart() -> None:
    assert two([10, 10.1, 9.9], [12, 12.1, 11.9]).holds
    assert not two([10, 14, 6], [12, 16, 8]).holds
    assert not two([12, 12.1, 11.9], [10, 10.1, 9.9]).holds


def test_an_order_that_is_not_strict_only_forbids_a_fall() -> None:
    assert two([10, 14, 6], [10, 14, 6], strict=False).holds
    assert not two([12, 12.1, 11.9], [10, 10.1, 9.9], strict=False).holds


def test_a_ratio_is_of_two_operands() -> None:
    ratio = {"top": {"subject": "device"}, "bottom": {"scenario": "t"}, "is": 2, "relation": "approx"}
    made = experiment(claim(type="ratio", value=ratio, tolerance={"rel": 0.1}))
    points = {"s": [point(row("device", throughput_mbps=21))], "t": [point(row("device", throughput_mbps=10))]}
    (found,) = compare_claims(session(made, points), made)
    assert found.obtained == 2.1
    assert found.holds


def test_subjects_joined_by_plus_are_compared_one_by_one() -> None:
    made = experiment(claim(subject="a+b"))
    points = {"s": [point(row("a", throughput_mbps=100), row("b", throughput_mbps=50))]}
    (found,) = compare_claims(session(made, points), made)
    assert found.obtained == {"a": 100, "b": 50}
    assert not found.holds


def test_a_group_stands_for_its_subjects() -> None:
    made = experiment(claim(subject="both"), groups={"both": ["a", "b"]})
    points = {"s": [point(row("a", throughput_mbps=100), row("b", throughput_mbps=100))]}
    assert compare_claims(session(made, points), made)[0].obtained == {"a": 100, "b": 100}


def test_a_dot_stands_for_the_same_device() -> None:
    made = experiment(
        claim(subject="x.q1", type="order", value={"ascending": [{"subject": ".all"}, {}]}, kind="order")
    )
    points = {"s": [point(row("x.q1", throughput_mbps=5), row("x.all", throughput_mbps=2))]}
    (found,) = compare_claims(session(made, points), made)
    assert found.obtained == [2, 5]
    assert found.holds


def test_a_change_is_counted_from_its_base() -> None:
    made = experiment(
        claim(metric="benefit_percent", value=100.0, against={"scenario": "t", "metric": "throughput_mbps"})
    )
    points = {"s": [point(row("device", throughput_mbps=10))], "t": [point(row("device", throughput_mbps=20))]}
    assert compare_claims(session(made, points), made)[0].obtained == 100


def test_what_does_not_hold_carries_its_reason_and_what_holds_none() -> None:
    assert only(claim(), 50, reasons={"c0": "the line is slower"}).reason == "the line is slower"
    assert only(claim(), 100, reasons={"c0": "the line is slower"}).reason == ""
    assert (
        only(claim(reproducible=False, note="the paper contradicts itself"), 50).reason
        == "the paper contradicts itself"
    )
    assert only(claim(), 50).reason == ""


def test_what_was_not_run_does_not_hold_and_says_so() -> None:
    found = only(claim(subject="elsewhere"), 100)
    assert found.obtained is None
    assert not found.holds
    assert not found.explained
    assert found.reason == "not obtained: elsewhere was not run in made, s"


def test_extremes_are_the_mean_over_trials() -> None:
    made = experiment(claim(metric="rtt_max_ms", value=20.0))
    trials = [[row("device", delay_us={"max": value})] for value in (10_000.0, 30_000.0)]
    measured = point(row("device", delay_us={"max": 30_000.0}), trials=trials)
    (found,) = compare_claims(session(made, {"s": [measured]}), made)
    assert found.obtained == 20


def test_a_limit_may_come_from_another_scenario() -> None:
    made = experiment(
        claim(metric="share_above_twice", value=0.25, against={"scenario": "t"}, tolerance={"abs": 0.0})
    )
    delays = np.array([[10**9, 3], [50 * 10**9, 1]], dtype=np.int64)
    here = point(row("device", delays=delays))
    there = point(row("device", delay_us={"max": 20_000.0}))
    (found,) = compare_claims(session(made, {"s": [here], "t": [there]}), made)
    assert (found.obtained, found.holds) == (0.25, True)


def test_what_json_has_no_number_for_is_null() -> None:
    order = claim(
        metric="q1_ratio", type="order", value={"ascending": [{}, {"scenario": "t"}]}, against={"subject": "other"}
    )
    made = experiment(order)
    points = {
        name: [point(row("device", values={"q1_percent": 2.0}), row("other", values={"q1_percent": other}))]
        for name, other in (("s", 4.0), ("t", 0.0))
    }
    (found,) = compare_claims(session(made, points), made)
    assert found.holds
    assert json.loads(json.dumps(found.document(), allow_nan=False))["obtained"] == [0.5, None]
