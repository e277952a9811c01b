"""What is said of Batfish's answers: recorded ones, and those of a live service for the same faults."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from qosforge.batfish.answer_findings import answer_findings
from qosforge.batfish.http_exchange import Address
from qosforge.batfish.snapshots import Snapshots
from qosforge.findings import Finding
from tests.batfish.planted import PLANTED, RECORDED, SECRETS, SOUND, Planted, Told, ask, digest, snapshots_of

EACH = pytest.mark.parametrize("planted", PLANTED, ids=lambda each: each.name)
_LINE = re.compile(r"line (\d+)( before the change)?")


def told(finding: Finding, snapshots: Snapshots) -> Told:
    """A finding's code, severity and device, and the text of the line that it names last."""
    line, copies = None, {each.name: each for each in snapshots.devices.values()}
    for number, before in _LINE.findall(finding.message):
        copy = copies[str(finding.device)]
        line = (copy.before if before else copy.after).lines[int(number) - 1].strip()
    code, severity = finding.code.removeprefix("batfish-"), finding.severity.value
    return Told(code=code, severity=severity, device=finding.device, line=line)


def check(planted: Planted, answers: Any) -> None:
    snapshots = snapshots_of(planted)
    found = answer_findings(snapshots, answers)
    faults = [told(f, snapshots) for f in found if f.code != "batfish-checked"]
    assert sorted(map(str, faults)) == sorted(map(str, planted.found))


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    return json.loads(RECORDED.read_text(encoding="utf-8"))


@EACH
def test_recorded_answers_name_the_fault(planted: Planted, recorded: dict[str, Any]) -> None:
    entry = recorded[planted.name]
    assert entry["question"] == digest(snapshots_of(planted)), (
        "the question is another one: record the answers anew (python -m tests.batfish.planted)"
    )
    check(planted, entry["answers"])


@pytest.mark.batfish
@EACH
def test_live_answers_name_the_fault(planted: Planted, live: Address) -> None:
    check(planted, ask(live, snapshots_of(planted)))


def test_what_was_answered_is_told_by_device(recorded: dict[str, Any]) -> None:
    found = answer_findings(snapshots_of(SOUND), recorded["sound"]["answers"])
    common = "references, interfaces, VLANs and neighbours, routes, paths of packets, access lists"
    own = [f"references of {kind}" for kind in ("policy-map", "service-policy", "qos-policy")]
    assert [f.message for f in found] == [
        f"Batfish checked r1, r2, s1: {common}, classes web, voice",
        f"Batfish checked f1: {common}; for our own checks alone: {', '.join(own)}, exactness of classes web",
    ]


def test_class_of_the_intent_and_a_packet_are_named(recorded: dict[str, Any]) -> None:
    planted = next(each for each in PLANTED if each.name == "wider")
    (wider, *_) = answer_findings(snapshots_of(planted), recorded["wider"]["answers"])
    assert (wider.traffic_class, wider.file, wider.line) == ("web", "small.yaml", 7)
    assert wider.message.endswith("such as tcp from 10.0.0.0:49152 to 8.8.8.8:8090, DSCP default")


def test_bgp_peer_is_named(recorded: dict[str, Any]) -> None:
    planted = next(each for each in PLANTED if each.name == "bgp-neighbour-lost")
    found = answer_findings(snapshots_of(planted), recorded[planted.name]["answers"])
    assert any("its BGP peers: BGP peer 10.0.0.2 is lost" in f.message for f in found)


@pytest.mark.parametrize(("rendered", "severity"), [(False, "warning"), (True, "info")])
def test_entry_that_the_intent_says_twice_is_only_told(
    recorded: dict[str, Any], rendered: bool, severity: str
) -> None:
    snapshots = snapshots_of(next(each for each in PLANTED if each.name == "covered"))
    if rendered:
        device = snapshots.devices["r2"]
        own = device.own | {"permit tcp any any range 0 1023"}
        snapshots = replace(snapshots, devices={**snapshots.devices, "r2": replace(device, own=own)})
    found = answer_findings(snapshots, recorded["covered"]["answers"])
    assert [f.severity.value for f in found if f.code == "batfish-entry-never-reached"] == [severity]


def test_no_secret_is_sent() -> None:
    text = json.dumps(snapshots_of(SOUND).files)
    assert not [secret for secret in SECRETS if secret in text]


def test_device_that_is_not_checked_is_an_error_where_it_has_to_be(recorded: dict[str, Any]) -> None:
    planted = next(each for each in PLANTED if each.name == "unread-line")
    snapshots, answers = snapshots_of(planted), recorded["unread-line"]["answers"]

    def severities(**options: Any) -> list[str]:
        found = answer_findings(snapshots, answers, **options)
        return [f.severity.value for f in found if f.code == "batfish-device-not-checked"]

    assert severities() == ["info"]
    assert severities(require=True) == ["error"]
    assert severities(require=True, excepted=frozenset({"r1"})) == ["info"]


def test_question_that_failed_is_no_proof(recorded: dict[str, Any]) -> None:
    answers = recorded["sound"]["answers"]
    rows = {key: rows for key, rows in answers["rows"].items() if key != "routes"}
    found = answer_findings(snapshots_of(SOUND), {"rows": rows, "failed": {"routes": "out of memory"}})
    checked = [f.message for f in found if f.code == "batfish-checked"]
    assert all("for our own checks alone: routes" in message for message in checked)
    assert {f.device for f in found if f.code == "batfish-device-not-checked"} == {"r1", "r2", "s1", "f1"}


@pytest.mark.parametrize("answers", [{}, {"rows": {"references": 3}, "failed": {}}, {"rows": [], "failed": {}}])
def test_nonsense_is_told_from_answers(answers: Any) -> None:
    with pytest.raises((LookupError, TypeError, ValueError, AttributeError)):
        answer_findings(snapshots_of(SOUND), answers)
