"""The three ITESM studies: what holds, what does not, and whether the physics beside the claims is right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from qosforge.errors import ServiceError
from qosforge.experiments import ExperimentSession, load_experiment
from qosforge.experiments.cases import Case
from qosforge.experiments.compare import compare_claims
from qosforge.experiments.model import Experiment
from qosforge.experiments.running import LoadPoint
from qosforge.experiments.testbeds import find_testbed
from tests.twin.scenarios import wire

NAMES = ("itesm-layer2", "itesm-layer3", "itesm-link-efficiency")
NOT_HELD = {
    "itesm-layer2": [],
    "itesm-layer3": ["itesm-t1-voice-no-qos-jitter", "itesm-t1-voice-qos-jitter"],
    "itesm-link-efficiency": ["itesm-le-choice-56-128", "itesm-le-crtp-double-calls"],
}


@pytest.fixture(scope="module")
def session() -> ExperimentSession:
    return ExperimentSession(seed=1)


def changed(name: str, **setup: Any) -> Experiment:
    """An experiment with other figures in its set-up."""
    made = load_experiment(name)
    return made.model_copy(update={"setup": {**made.setup, **setup}})


def cases(experiment: Experiment) -> dict[str, Case]:
    """The cases that are run, by their first scenario."""
    return {
        case.scenarios[0]: case
        for case in find_testbed(experiment.testbed)(experiment)
        if case.document is not None
    }


def node(case: Case, name: str) -> Mapping[str, Any]:
    assert case.document is not None
    found: Mapping[str, Any] = wire(next(n for n in case.document.nodes if n.name == name))
    return found


def egress(case: Case, name: str, port: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(p["egress"] for p in node(case, name)["ports"] if p["name"] == port)
    return found


def single(session: ExperimentSession, name: str, scenario: str, subject: str) -> LoadPoint:
    """The point of a scenario that measured ``subject``."""
    (found,) = [p for p in session.outcome(name).at(scenario, subject) if p.pooled[subject].packets]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_claims_that_do_not_hold_are_known_and_have_a_reason(session: ExperimentSession, name: str) -> None:
    found = compare_claims(session, load_experiment(name))
    missed = [one for one in found if not one.holds]
    assert [one.claim.id for one in missed] == NOT_HELD[name]
    assert all(one.explained for one in missed)


def test_an_unconfigured_serial_is_served_by_flows_and_a_configured_one_by_classes() -> None:
    made = cases(load_experiment("itesm-layer3"))
    assert egress(made["no-qos"], "r1", "Serial0/0")["scheduler"]["kind"] == "wfq"
    policy = egress(made["qos"], "r2", "Serial0/0")["scheduler"]
    assert (policy["kind"], policy["priority"][0]["rate_bps"]) == ("cbwfq", 1_000_000)
    missing = made["qos-one-router-missing"]
    assert egress(missing, "r1", "Serial0/0")["scheduler"]["kind"] == "cbwfq"
    assert egress(missing, "r2", "Serial0/0")["scheduler"]["kind"] == "wfq"


def test_before_and_after_have_the_same_sources() -> None:
    made = cases(load_experiment("itesm-layer3"))
    before, after = (made[name].document for name in ("no-qos", "qos"))
    assert before is not None
    assert after is not None
    assert before.flows == after.flows


def test_voice_takes_at_least_its_own_time_on_both_lines(session: ExperimentSession) -> None:
    row = single(session, "itesm-layer3", "qos", "voice").pooled["voice"]
    hdlc = 7
    assert row.delay_us is not None
    assert row.delay_us["min"] > 2 * (640 + hdlc) * 8 / 2


def test_both_before_and_after_carry_the_conference_whole(session: ExperimentSession) -> None:
    for scenario in ("no-qos", "qos"):
        point = single(session, "itesm-layer3", scenario, "video")
        rows = [point.pooled[name] for name in ("voice", "video")]
        assert all(row.delivered == row.packets > 0 for row in rows)


def test_classes_that_are_full_get_what_the_fluid_model_says(session: ExperimentSession) -> None:
    point = single(session, "itesm-layer3", "all-classes-full", "http-ftp")
    whole = sum(point.pooled[name].throughput_mbps or 0 for name in ("voice-video", "http-ftp", "class-default"))
    for name in ("voice-video", "http-ftp", "class-default"):
        row = point.pooled[name]
        assert (row.throughput_mbps or 0) / whole == pytest.approx(
            row.selection.expected["throughput_ratio"], abs=0.01
        )


@pytest.mark.parametrize(("line", "rate", "payload"), [("56k", 56e3, 104), ("256k", 256e3, 504)])
def test_a_call_waits_for_one_fragment_at_most(
    session: ExperimentSession, line: str, rate: float, payload: int
) -> None:
    case = cases(load_experiment("itesm-link-efficiency"))[line]
    near = f"a{line.removesuffix('k')}"
    assert egress(case, near, "Multilink1")["fragment_bytes"] == payload
    row = single(session, "itesm-link-efficiency", line, "voice").pooled["voice"]
    assert row.delay_us is not None
    fragment_us = (payload + 11) * 8 / rate * 1e6
    waited = row.delay_us["max"] - row.delay_us["min"]
    # Beside the fragment it may find the sender's own card busy with a frame of the largest size.
    frame_us = (1500 + 38) * 8 / 100
    assert 0.9 * fragment_us < waited <= fragment_us + frame_us


def test_a_ring_of_one_more_fragment_doubles_the_wait() -> None:
    made = changed("itesm-link-efficiency", transmit_ring=1)
    outcome = ExperimentSession(seed=1)._run(made)
    (row,) = [p.pooled["voice"] for p in outcome.at("56k", "voice")]
    assert row.delay_us is not None
    fragment_us = (104 + 11) * 8 / 56e3 * 1e6
    assert 1.8 * fragment_us < row.delay_us["max"] - row.delay_us["min"] <= 2 * fragment_us


@pytest.mark.parametrize(
    ("setup", "said"),
    [
        ({"network": "inventories/nowhere"}, "inventories/nowhere"),
        ({"policy": "policies/itesm-paper.yaml", "unconfigured": ["r9"]}, "no device is called r9"),
        ({"policy": "policies/nothing.yaml"}, "policies/nothing.yaml"),
        ({"offered": ["singing"]}, "no flow is called 'singing'"),
        ({"subjects": {"nobody": ["nothing"]}}, "no subject has a flow"),
        ({"backlogged_at": ["r1", "Loopback7"]}, "r1 Loopback7 serves no classes"),
        ({"flows": {"voice": {"from": "mars", "to": "vigo2"}}, "offered": ["voice"]}, "flow voice: no station"),
    ],
)
def test_a_wrong_set_up_is_refused_by_name(setup: dict[str, Any], said: str) -> None:
    made = changed("itesm-layer3", **setup)
    with pytest.raises(ServiceError, match=said.replace(".", r"\.")):
        list(find_testbed("campus")(made.model_copy(update={"scenarios": {"no-qos": {}}})))


def test_a_size_of_fragments_without_a_line_is_refused() -> None:
    made = load_experiment("itesm-link-efficiency")
    wrong = made.model_copy(update={"scenarios": {"g729": {"fragment_bytes": 112}}})
    with pytest.raises(ServiceError, match="fragment_bytes without a line"):
        list(find_testbed("slow-lines")(wrong))


def test_priority_on_the_lan_spares_voice_a_few_microseconds(session: ExperimentSession) -> None:
    means = []
    for scenario in ("qos", "no-qos"):
        delay = single(session, "itesm-layer2", scenario, "voice").pooled["voice"].delay_us
        assert delay is not None
        means.append(delay["mean"])
    # Less than two frames of 700 bytes at 100 Mb/s: the mark is kept over the trunk, and the port is seldom busy.
    assert 1 < means[1] - means[0] < 2 * 58
