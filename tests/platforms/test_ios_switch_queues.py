"""Classes onto the four queues of a Catalyst: who shares one, which one it is, and where network control goes."""

from __future__ import annotations

from typing import Any

import pytest

from qosforge.findings import Finding
from tests.compiler.goldens import findings_of, library

from .catalyst_support import intent, lowered, rendered

DEVICES = ("s2950", "s2970")


def told(policy: str, device: str, code: str) -> Finding:
    (found,) = [f for f in findings_of(library(policy), device) if f.code == code]
    return found


def test_eleven_classes_are_spread_over_three_queues() -> None:
    merged = told("rfc4594-12", "catalyst-2970", "queues-exceeded")
    assert merged.applied == "3 queues, a share may be wrong by 25.2 points of the link"


def test_classes_of_one_cos_stay_together_where_it_chooses_the_queue() -> None:
    merged = told("rfc4594-12", "catalyst-2950-ei", "queues-exceeded")
    groups = [set(group.split(" + ")) for group in merged.message.partition(": ")[2].split("; ")]
    by_cos: tuple[set[str], ...] = (
        {"signaling", "multimedia-conferencing", "real-time-interactive"},
        {"broadcast-video", "multimedia-streaming"},
        {"low-latency-data", "oam"},
        {"high-throughput-data", "low-priority-data"},
    )
    assert all(any(kept <= group for group in groups) for kept in by_cos)
    assert not [f for f in findings_of(library("rfc4594-12"), "catalyst-2950-ei") if f.code == "cos-shared"]


def weighted(name: str, dscp: str, percent: int, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "match": {"any": [{"dscp": [dscp]}]},
        "mark": {"dscp": dscp, **more},
        "treatment": {"bandwidth": {"remaining_percent": percent}},
    }


VOICE = {
    "name": "voice",
    "match": {"any": [{"dscp": ["ef"]}]},
    "mark": {"dscp": "ef"},
    "treatment": {"priority": {"percent": 30}},
}
REST = {"name": "default", "treatment": {"bandwidth": {"remaining_percent": 40}}}


@pytest.mark.parametrize("device", DEVICES)
def test_network_control_goes_with_the_class_that_carries_routing(device: str) -> None:
    classes = (VOICE, weighted("routing", "cs6", 5), weighted("data", "af21", 55), REST)
    _, result = lowered(device, intent(*classes))
    queue = next(
        int(q.removeprefix("queue ")) for q, c in result.classes.items() if c == "routing" and "queue" in q
    )
    system = result.plan.system
    assert system.cos_to_queue is not None
    assert {system.cos_to_queue[6], system.cos_to_queue[7]} == {queue}
    assert set((system.dscp_to_queue or [queue] * 64)[48:]) == {queue}
    (note,) = [f for f in result.findings if f.code == "network-control-queue"]
    points = "56" if device == "s2950" else "49 to 63"  # a 2950 knows thirteen DSCPs
    assert note.message == f"network control (CoS 7, DSCP {points}) shares queue {queue} with routing"


def by_cos(name: str, cos: list[int], weight: int) -> dict[str, Any]:
    return {"name": name, "match": {"any": [{"cos": cos}]}, "treatment": {"bandwidth": {"weight": weight}}}


def test_queues_are_taken_so_that_the_maps_stay() -> None:
    classes = (by_cos("q3", [6, 7], 4), by_cos("q2", [4, 5], 3), by_cos("q1", [2, 3], 2))
    rest = {"name": "default", "treatment": {"bandwidth": {"weight": 1}}}
    request, result = lowered("s2950", intent(*classes, rest))
    assert result.plan.system.cos_to_queue == (1, 1, 2, 2, 3, 3, 4, 4)
    assert "wrr-queue bandwidth 1 2 3 4\n" in rendered("s2950", request, result)
    _, result = lowered("s2970", intent(*classes, rest))
    # As delivered CoS 4 and 5 are in queues of their own: one of them has to move.
    assert result.plan.system.cos_to_queue == (2, 2, 3, 3, 1, 1, 4, 4)


@pytest.mark.parametrize("device", DEVICES)
def test_a_default_class_without_a_mark_is_told_to_lose_it(device: str) -> None:
    _, result = lowered(device, intent(VOICE, REST))
    (note,) = [f for f in result.findings if f.code == "default-marked-down"]
    assert (note.severity, note.traffic_class, note.applied) == (
        "info",
        "default",
        "CoS 0" if device == "s2950" else "DSCP 0",
    )
    _, result = lowered(device, intent(VOICE, REST | {"mark": {"dscp": "default"}}))
    assert not [f for f in result.findings if f.code == "default-marked-down"]


@pytest.mark.parametrize("device", ["force10-e300", "nortel-5510", "catalyst-9000"])
def test_other_boxes_that_go_by_marks_tell_it_too(device: str) -> None:
    assert told("campus-collaboration", device, "default-marked-down").severity == "info"
    on_a_router = findings_of(library("campus-collaboration"), "ios-12-4")
    assert "default-marked-down" not in {f.code for f in on_a_router}
