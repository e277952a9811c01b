"""The Gigabit Ethernet study: which claims do not hold, and that its set-up obeys what no switch can change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from qosforge.errors import ServiceError
from qosforge.experiments import ClaimComparison, ExperimentSession, load_experiment
from qosforge.experiments.compare import compare_claims
from qosforge.experiments.model import ClaimKind, Experiment
from qosforge.experiments.rows import ResultRow
from qosforge.experiments.testbeds import find_testbed

EXPERIMENTS = ("cern-strict-priority", "cern-wrr", "cern-wrr-mixed", "cern-comparison")

DO_NOT_HOLD = {
    "cern-f4a-fair",
    "cern-t4-good-agreement",
    "cern-t4-switch3-deviation",
    "cern-t4-switch4-wasted",
    "cern-t4-waste-one-and-a-half",
    "cern-wrr-waste-above-sp",
}


@pytest.fixture(scope="session")
def study() -> ExperimentSession:
    """The study, run once."""
    session = ExperimentSession(1)
    for name in EXPERIMENTS:
        session.outcome(name)
    return session


@pytest.fixture(scope="session")
def comparisons(study: ExperimentSession) -> Mapping[str, ClaimComparison]:
    """Every claim of the study."""
    return {c.claim.id: c for name in EXPERIMENTS for c in compare_claims(study, load_experiment(name))}


def rows(session: ExperimentSession, name: str) -> list[ResultRow]:
    """All rows that were simulated."""
    points = session.outcome(name).points.values()
    return [row for scenario in points for point in scenario for row in point.pooled.values() if row.packets]


def test_these_claims_do_not_hold_and_say_why(comparisons: Mapping[str, ClaimComparison]) -> None:
    failing = {name: c for name, c in comparisons.items() if not c.holds}
    assert set(failing) == DO_NOT_HOLD
    assert all(c.explained and len(c.reason) > 50 for c in failing.values())


def test_what_was_computed_or_ordered_holds_wherever_it_can(comparisons: Mapping[str, ClaimComparison]) -> None:
    wrong = [
        name
        for name, c in comparisons.items()
        if not c.holds and c.claim.reproducible and c.claim.kind is not ClaimKind.MEASURED
    ]
    assert not wrong
    measured = [c for c in comparisons.values() if c.claim.reproducible and c.claim.kind is ClaimKind.MEASURED]
    assert sum(c.holds for c in measured) >= 0.85 * len(measured)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_line_time_is_used_for_frames_or_framing_or_idle(study: ExperimentSession, name: str) -> None:
    # Runs of so many packets that a frame across the window's edge is nothing.
    whole = [row for row in rows(study, name) if row.subject.endswith(".all") and row.packets > 1000 * row.trials]
    assert whole
    for row in whole:
        assert row.unused_mbps is not None
        assert row.throughput_mbps is not None
        used = row.throughput_mbps + row.unused_mbps["framing"] + row.unused_mbps["idle"]
        assert used == pytest.approx(1000, abs=0.2)


def test_no_delay_exceeds_its_bound(study: ExperimentSession) -> None:
    bounded = [
        (row.delay_us["max"], row.selection.expected["delay_max_us"])
        for name in EXPERIMENTS
        for row in rows(study, name)
        if row.delay_us is not None and "delay_max_us" in row.selection.expected
    ]
    assert len(bounded) > 300
    assert all(largest <= bound for largest, bound in bounded)
    # A full queue comes near it.
    assert max(largest / bound for largest, bound in bounded) > 0.9


def test_the_silence_of_a_device_is_that_of_its_profile(study: ExperimentSession) -> None:
    idle = {
        device: next(r for r in rows(study, "cern-comparison") if r.subject == f"{device}.all").unused_mbps
        for device in ("switch1", "switch4")
    }
    for device, gap_ns in (("switch1", 12), ("switch4", 120)):
        unused = idle[device]
        assert unused is not None
        # A frame of 1518 bytes takes 12304 ns with preamble and gap.
        assert unused["idle"] == pytest.approx(1000 * gap_ns / (12304 + gap_ns), rel=0.01)
        assert unused["framing"] == pytest.approx(160 / (12304 + gap_ns) * 1000, rel=0.01)


def test_both_expected_delay_ratios_stand_in_the_rows(study: ExperimentSession) -> None:
    found = {
        row.subject: row.selection.expected
        for point in study.outcome("cern-comparison").at("wrr-a-600", "ideal.q0")
        for row in point.pooled.values()
    }
    published = [found[f"ideal.q{n}"]["delay_ratio"] for n in range(4)]
    ideal = [found[f"ideal.q{n}"]["delay_ratio_equal_full_queues"] for n in range(4)]
    assert published == pytest.approx([0.5208, 0.2708, 0.1458, 0.0625], abs=1e-4)
    assert ideal == pytest.approx([0.48, 0.24, 0.16, 0.12])


def changed(**setup: Any) -> Experiment:
    """The strict priority experiment with another set-up."""
    experiment = load_experiment("cern-strict-priority")
    return experiment.model_copy(update={"setup": {**experiment.setup, **setup}})


@pytest.mark.parametrize(
    ("setup", "named"),
    [
        ({"link_mbps": 0}, "setup.link_mbps"),
        ({"senders": -8}, "setup.senders"),
        ({"frame_bytes": {"q0": 64}}, "frame_bytes: give one for each of q0, q1, q2, q3"),
        ({"discipline": "wrr"}, "weights: round robin needs them"),
        ({"weights": {"q0": 0}}, "setup.weights.q0"),
        ({"colour": "red"}, "setup.colour"),
        ({"room": {}}, "give the room in packets or in bytes"),
    ],
)
def test_wrong_setups_are_refused_by_name(setup: dict[str, Any], named: str) -> None:
    with pytest.raises(ServiceError, match="experiment cern-strict-priority") as refused:
        list(find_testbed("fan-in")(changed(**setup)))
    assert named in str(refused.value)


@pytest.mark.parametrize(
    ("scenario", "named"),
    [
        ({"loads": [0]}, "scenarios.odd.loads.0"),
        ({"devices": ["switch9"]}, "'switch9' does not exist"),
        ({"together": ["nothing"]}, "'nothing' does not exist"),
        ({"loads": [1], "hops": 9}, "setup.hops"),
    ],
)
def test_wrong_scenarios_are_refused_by_name(scenario: dict[str, Any], named: str) -> None:
    experiment = load_experiment("cern-strict-priority")
    odd = experiment.model_copy(update={"scenarios": {**experiment.scenarios, "odd": scenario}})
    with pytest.raises(ServiceError) as refused:
        list(find_testbed("fan-in")(odd))
    assert named in str(refused.value)
