"""An E300's ports that trust marks serve every mark that a class is told by, in the class's queue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qosforge.dscp import dscp_label
from qosforge.intent.loader import LoadedIntent, parse_intent
from qoslab.packets import Packets

from .switch_support import (
    BOXES,
    REST,
    VOICE,
    WEB,
    booted,
    campus,
    codes,
    finding,
    intent,
    lowered,
    marked,
    port,
    push,
    rendered,
    startup,
)

DEVICE = "e300"
TRUNK, HOST = "GigabitEthernet 0/1", "GigabitEthernet 0/2"
REAL_TIME = {
    "name": "real-time",
    "match": {"any": [{"dscp": ["ef", 44, "cs5", "cs4", "cs3", "af41", "af42", "af43"]}, {"precedence": [5]}]},
    "mark": {"dscp": "ef", "cos": 5},
    "treatment": {"priority": {"percent": 30}},
}
SIGNALS = {
    "name": "signals",
    "match": {"any": [{"dscp": ["cs3", "af31"]}]},
    "mark": {"dscp": "cs3", "cos": 3},
    "treatment": {"bandwidth": {"remaining_percent": 40}},
}
LATER = {
    "name": "later",
    "match": {"any": [{"dscp": ["af31", "af41", "default"]}]},
    "mark": {"dscp": "af11", "cos": 1},
    "treatment": {"bandwidth": {"remaining_percent": 30}},
}
"""Lists marks of the classes before it, and that of what no class takes."""


def served(folder: Path, loaded: LoadedIntent, offered: list[Packets], image: str = "") -> list[str]:
    """The queues of packets that a trunk brings."""
    box = booted(DEVICE, folder, startup(DEVICE), image)
    push(DEVICE, box, loaded, image)
    return [outcome.queue for outcome in box.offer(TRUNK, HOST, offered, 0.0)]


def trusting(trust: str, *classes: dict[str, Any]) -> LoadedIntent:
    where = {"role": "core"}
    document = {
        "version": 1,
        "intent": "test",
        "tolerance": "20 %",
        "classes": list(classes),
        "apply": [
            {**where, "interfaces": ["lan", "trunk"], "direction": "input", "trust": trust},
            {**where, "interfaces": ["lan", "trunk"], "direction": "output"},
        ],
    }
    return parse_intent(json.dumps(document), "test.yaml")


def by_dscp(*values: int) -> list[Packets]:
    return [Packets(count=1, bytes=200, protocol=17, dscp=d) for d in values]


def test_every_mark_that_a_class_lists_is_served_as_the_class(tmp_path: Path) -> None:
    queues = served(tmp_path, trusting("dscp", REAL_TIME, SIGNALS, LATER, REST),
                    by_dscp(46, 44, 40, 41, 32, 34, 36, 38, 24, 26, 10, 0, 8))  # fmt: skip

    (first,) = set(queues[:8])
    assert first.endswith("strict")
    assert len({first, queues[8], queues[10], queues[11]}) == 4
    # A mark is that of the class that sets it, then of the first that lists it; DSCP 0 is that of the rest.
    assert queues[9] == queues[8]
    assert queues[12] == queues[11] == "0"


def test_the_fixed_map_is_for_classes_whose_marks_it_keeps_together(tmp_path: Path) -> None:
    box = booted(DEVICE, tmp_path, startup(DEVICE))
    _, result = push(DEVICE, box, campus())

    assert codes(result)["trust-map-not-used"] == "info"
    outcomes = box.offer(TRUNK, HOST, by_dscp(34, 46, 18, 0), 0.0)
    assert outcomes[0].queue == outcomes[1].queue
    assert outcomes[1].queue.endswith("strict")
    assert len({o.queue for o in outcomes}) == 3


@pytest.mark.parametrize("cos", [4, 5, 6])
def test_every_cos_that_a_class_lists_is_served_as_the_class(cos: int, tmp_path: Path) -> None:
    video = {
        "name": "video",
        "match": {"any": [{"cos": [4, 5, 6]}]},
        "mark": {"cos": 5},
        "treatment": {"priority": {"percent": 30}},
    }
    offered = [Packets(count=1, bytes=200, cos=cos, tagged=True)]
    (queue,) = served(tmp_path, trusting("cos", video, REST), offered, "7.4.1.0")

    assert queue.endswith("strict")


# -- marks and queues ------------------------------------------------------------------------------------
# A queue's number replaces the first three bits of a DSCP that its policy sets (C150 configuration manual p. 861).


def told_by_port(name: str, port: int, dscp: int, cos: int, **treatment: Any) -> dict[str, Any]:
    return {
        **marked(name, dscp, cos, **treatment),
        "match": {"any": [{"protocol": "udp", "destination_port": port}]},
    }


def left(folder: Path, loaded: LoadedIntent, *offered: Packets) -> list[tuple[int, str]]:
    """DSCPs and queues of packets that a host sends."""
    box = booted(DEVICE, folder, startup(DEVICE))
    push(DEVICE, box, loaded)
    return [(o.dscp_out, o.queue) for o in box.offer(HOST, TRUNK, offered, 0.0)]


def test_a_class_is_in_the_queue_of_the_mark_that_is_written(tmp_path: Path) -> None:
    loaded = intent(
        told_by_port("voice", 5000, 46, 5, priority={"percent": 20}),
        told_by_port("bulk", 6000, 10, 1, bandwidth={"remaining_percent": 20}),
        told_by_port("video", 7000, 34, 4, bandwidth={"remaining_percent": 40}),
        {**REST, "treatment": {"bandwidth": {"remaining_percent": 40}}},
    )
    offered = [Packets(count=1, bytes=200, protocol=17, dst_port=port) for port in (5000, 6000, 7000, 8000)]

    assert left(tmp_path, loaded, *offered) == [(46, "5 strict"), (10, "1"), (34, "4"), (0, "0")]
    assert "mark-needs-queue" not in codes(lowered(DEVICE, loaded)[1])


def test_a_class_of_its_mark_alone_gives_way_to_one_that_is_marked(tmp_path: Path) -> None:
    loaded = intent(
        told_by_port("voice", 5000, 46, 5, priority={"percent": 20}),
        marked("signalling", 40, 4, bandwidth={"remaining_percent": 40}),
        {**REST, "treatment": {"bandwidth": {"remaining_percent": 60}}},
    )
    voice, signalling = left(
        tmp_path,
        loaded,
        Packets(count=1, bytes=200, protocol=17, dst_port=5000),
        Packets(count=1, bytes=200, protocol=6, dscp=40),
    )

    assert voice == (46, "5 strict")
    assert signalling[0] == 40
    assert signalling[1] not in (voice[1], "0")


def test_classes_of_one_written_mark_share_its_queue() -> None:
    loaded = intent(
        told_by_port("mail", 6000, 10, 1, bandwidth={"remaining_percent": 20}),
        told_by_port("news", 7000, 10, 1, bandwidth={"remaining_percent": 20}),
        {**REST, "treatment": {"bandwidth": {"remaining_percent": 60}}},
        tolerance="30 %",
    )
    _, result = lowered(DEVICE, loaded)
    (shared, _) = port(result.plan, HOST).ingress.rules

    assert (shared.queue, shared.set_dscp, len(shared.any_of)) == (1, 10, 2)
    assert "mail + news" in finding(result, "classes-merged").message


@pytest.mark.parametrize(
    ("first", "second", "leaves"),
    [
        pytest.param({"dscp": 34, "bandwidth": {"remaining_percent": 20}}, {"dscp": 36}, 28, id="one precedence"),
        pytest.param(
            {"dscp": 46, "priority": {"percent": 20}}, {"dscp": 46}, 38, id="the mark of the strict class"
        ),
        pytest.param({"dscp": 34, "bandwidth": {"remaining_percent": 20}}, {"dscp": 1}, 25, id="that of the rest"),
    ],
)
def test_a_mark_that_would_leave_as_another_is_an_error(
    first: dict[str, Any], second: dict[str, Any], leaves: int, tmp_path: Path
) -> None:
    loaded = intent(
        told_by_port("one", 5000, cos=5, **first),
        told_by_port("other", 6000, cos=4, bandwidth={"remaining_percent": 40}, **second),
        {**REST, "treatment": {"bandwidth": {"remaining_percent": 40}}},
    )
    _, result = lowered(DEVICE, loaded)
    told = finding(result, "mark-needs-queue")
    ((dscp, queue),) = left(tmp_path, loaded, Packets(count=1, bytes=200, protocol=17, dst_port=6000))

    assert (told.severity.value, told.traffic_class) == ("error", "other")
    expected = f"DSCP {dscp_label(second['dscp'])}", f"DSCP {dscp_label(dscp)}"
    assert (told.requested, told.applied) == expected
    assert dscp == int(queue) << 3 | second["dscp"] & 7 == leaves


def test_the_default_class_has_a_mark_of_queue_0_alone() -> None:
    rest = {**REST, "mark": {"dscp": "af11"}}
    told = finding(lowered(DEVICE, intent(VOICE, WEB, rest))[1], "mark-needs-queue")

    assert (told.traffic_class, told.requested, told.applied) == ("default", "DSCP af11", "DSCP 2")


def test_a_configuration_is_read_with_the_mark_that_leaves() -> None:
    request, result = lowered(DEVICE, campus())
    text = rendered(DEVICE, request, result).replace(" 2 class-map web-and-file", " 3 class-map web-and-file")
    held = BOXES[DEVICE].parse(text, DEVICE, request.image)
    (rule,) = [r for r in port(held, HOST).ingress.rules if r.name == "web-and-file"]

    assert (rule.queue, rule.set_dscp) == (3, 26)
