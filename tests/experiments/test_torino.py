"""The experiments on Decoupled CBQ (Risso 2001): what does not hold, and whether the testbed is right."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from qosforge.errors import ServiceError
from qosforge.experiments.catalogue import load_experiment
from qosforge.experiments.compare import ClaimComparison, compare_claims
from qosforge.experiments.running import ExperimentSession
from qosforge.experiments.testbeds.class_tree import tree
from qosforge.experiments.testbeds.link_sharing import cases
from qosforge.experiments.testbeds.scheduler_cost import cases as cost_cases

EXPERIMENTS = ("torino-table1", "torino-link-sharing", "torino-delay", "torino-cost")
FAILS = {
    "torino-t2-test9-q1-dcbq",
    "torino-t2-test9-q1-dcbqe",
    "torino-t2-test9-q2-dcbq",
    "torino-t2-test9-q2-dcbqe",
    "torino-t5-no-borrow-40-difference",
    "torino-t5-no-borrow-58-difference",
}


@pytest.fixture(scope="session")
def session() -> ExperimentSession:
    return ExperimentSession(1)


@pytest.fixture(scope="session")
def compared(session: ExperimentSession) -> Mapping[str, ClaimComparison]:
    found: dict[str, ClaimComparison] = {}
    for name in EXPERIMENTS:
        found |= {one.claim.id: one for one in compare_claims(session, load_experiment(name))}
    return found


def test_the_claims_that_do_not_hold_are_these(compared: Mapping[str, ClaimComparison]) -> None:
    failing = {name for name, one in compared.items() if one.claim.reproducible and not one.holds}

    assert failing == FAILS
    assert not [name for name, one in compared.items() if not one.explained]


def test_every_claim_is_run(compared: Mapping[str, ClaimComparison]) -> None:
    assert [name for name, one in compared.items() if one.obtained is None] == []


def test_costs_are_counted(session: ExperimentSession) -> None:
    points = session.outcome("torino-cost").points["borrow-40"]

    assert len(points[0].trials) > 2
    assert all(points[0].pooled[kind].values["packets_per_second"] > 0 for kind in ("cbq", "dcbq"))


def test_what_a_scheduler_costs_does_not_depend_on_the_machine() -> None:
    """The same bytes twice, however busy it is meanwhile."""
    experiment = load_experiment("torino-cost")
    short = {
        name: {**scenario, "seconds": 1} for name, scenario in experiment.scenarios.items() if scenario.get("cost")
    }
    experiment = experiment.model_copy(update={"scenarios": short})

    first, second = (
        json.dumps([(case.scenarios, case.values, case.repeats) for case in cost_cases(experiment)])
        for _ in range(2)
    )

    assert first == second
    assert '"packets_per_second"' in first


def test_a_line_is_never_shared_beyond_its_rate(session: ExperimentSession) -> None:
    for points in session.outcome("torino-link-sharing").points.values():
        for row in (row for point in points for row in point.pooled.values() if row.unused_mbps is not None):
            assert row.unused_mbps is not None
            assert 0 <= row.unused_mbps["idle"] <= 2
            assert (row.throughput_mbps or 0) <= 2.001


def test_rivals_meet_the_same_packets(session: ExperimentSession) -> None:
    for point in session.outcome("torino-delay").points["PS"]:
        sent = {
            kind: [trial[f"{kind}.rt1"].packets for trial in point.trials]
            for kind in ("cbq", "dcbq", "dcbqe")
            if kind in point.pooled
        }
        assert all(counts == sent["cbq"] for counts in sent.values())


def test_bounded_classes_above_their_rates_leave_the_line_idle(session: ExperimentSession) -> None:
    (row,) = (p.pooled["dcbqe.all"] for p in session.outcome("torino-link-sharing").at("row3", "dcbqe.all"))

    assert row.throughput_mbps is not None
    assert row.unused_mbps is not None
    assert row.throughput_mbps == pytest.approx(0.6, rel=0.03)
    assert row.unused_mbps["idle"] == pytest.approx(2 - row.throughput_mbps, abs=0.001)


def altered(**setup: Any) -> Any:
    experiment = load_experiment("torino-table1")
    return experiment.model_copy(update={"setup": {**experiment.setup, **setup}})


@pytest.mark.parametrize(
    ("setup", "named"),
    [
        ({"structures": {}}, "structure"),
        ({"traffic": {"100": []}}, "2000"),
        ({"traffic": {name: [{"kind": "video", "kbps": 1}] for name in ("100", "200", "2000")}}, "video"),
        ({"structures": {"two": {"A": {"share": 0.5}, "B": {"share": 0.6}}}}, "1.1"),
    ],
)
def test_the_bench_refuses_what_it_does_not_know(setup: dict[str, Any], named: str) -> None:
    with pytest.raises(ServiceError, match=named):
        list(cases(altered(**setup)))


@pytest.mark.parametrize(
    ("classes", "named"),
    [
        ({"A": {"share": 0.1, "colour": "red"}}, "colour"),
        ({"A": {"borrow": True}}, "no share"),
        ({"A": {"share": 0.1, "parent": "B"}, "B": {"share": 0.2}}, "'B'"),
        ({"A": {"share": 0.1, "priority": "urgent"}}, "urgent"),
        ({"A": {"share": 0.1}, "a": {"share": 0.2, "parent": "A"}}, "together"),
    ],
)
def test_a_tree_names_what_is_wrong_with_a_class(classes: dict[str, Any], named: str) -> None:
    with pytest.raises(ServiceError, match=named):
        tree([classes], {}, "here")


def test_the_fluid_model_gives_what_a_silent_class_leaves_inside_its_parent_first() -> None:
    found = tree(
        [
            {"A": {"share": 0.3}, "1": {"share": 0.1, "parent": "A"}, "2": {"share": 0.2, "parent": "A"}},
            {"B": {"share": 0.7}, "3": {"share": 0.1, "parent": "B"}, "4": {"share": 0.6, "parent": "B"}},
        ],
        {},
        "here",
    ).fluid({"1": 300, "2": 600, "4": 1800}, 2000)

    assert found == pytest.approx({"1": 200, "2": 400, "3": 0, "4": 1400})
