"""Buffers, thresholds, shapes and ingress queues of a 2970, with their numbers."""

from __future__ import annotations

from typing import Any

import pytest

from qosforge.plan.early_drop import TailThreshold
from qosforge.plan.model import Queue
from qosforge.platforms.base import LoweredDevice

from .catalyst_support import REST, VOICE, codes, found, intent, lowered, port, rendered, startup

PORT = "GigabitEthernet0/5"


def data(**treatment: Any) -> dict[str, Any]:
    return {
        "name": "data",
        "match": {"any": [{"dscp": ["af21", "af22", "af23"]}]},
        "mark": {"dscp": "af21"},
        "treatment": {"bandwidth": {"remaining_percent": 70}, **treatment},
    }


def queue_of(result: LoweredDevice, name: str) -> Queue:
    number = next(
        int(key.split()[1]) for key, held in result.classes.items() if held == name and key[:5] == "queue"
    )
    scheduler = port(result.plan, PORT).egress.scheduler
    assert scheduler is not None
    return scheduler.queues[number - 1]


def test_a_queue_limit_takes_buffers_from_the_others() -> None:
    _, result = lowered("s2970", intent(VOICE, data(queue_limit={"packets": 90}), REST))
    queue = queue_of(result, "data")
    assert (queue.limit_packets, queue.buffer_percent) == (90, 37)
    assert found(result, "queue-limit-approximate").applied == (
        "122 % of a queue that has 37 % of the port's buffers (about 90 packets)"
    )
    told = found(result, "buffers-divided")
    assert told.requested == (
        "queue 1: 25 % (about 50 packets), queue 2: 25 % (about 100 packets), queue 4: 25 % (about 50 packets)"
    )
    assert told.applied == (
        "queue 1: 21 % (about 42 packets), queue 2: 21 % (about 84 packets), queue 4: 21 % (about 42 packets)"
    )


def test_a_queue_limit_beyond_the_buffers_is_an_error_unless_preferred() -> None:
    _, result = lowered("s2970", intent(data(queue_limit={"packets": 60000}), REST))
    told = found(result, "queue-limit-approximate")
    assert (told.severity, told.requested) == ("error", "60000 packets")
    assert told.applied == "400 % of a queue that has 97 % of the port's buffers (about 776 packets)"
    assert told.message.endswith("packets are a guess, as if these were 200 packets")
    _, result = lowered("s2970", intent(data(queue_limit={"bytes": "90000 kB", "prefer": True}), REST))
    assert found(result, "queue-limit-approximate").severity == "warning"


CURVES = [
    {"colour": "green", "minimum": "20 packets", "maximum": "40 packets"},
    {"colour": "yellow", "minimum": "15 kB", "maximum": "45 kB"},
    {"colour": "red", "minimum": "5 packets", "maximum": "20 packets"},
]


@pytest.mark.parametrize("prefer", [True, False])
def test_curves_become_thresholds(prefer: bool) -> None:
    wred = {"profiles": CURVES, "prefer": prefer}
    request, result = lowered("s2970", intent(data(wred=wred), REST))
    told = found(result, "wred-as-tail-drop")
    assert told.severity == ("warning" if prefer else "error")
    assert told.requested == ("random drops from 20 to 40 packets, from 15000 to 45000 bytes, from 5 to 20 packets")
    assert told.applied == (
        "all dropped, of the queue's buffers: af21 above 95 % (about 39 packets), af22 above 71 % "
        "(about 29 packets), af23 above 48 % (about 20 packets)"
    )
    queue = queue_of(result, "data")
    assert queue.thresholds == (
        TailThreshold(dscp=(22,), percent=48),
        TailThreshold(dscp=(20,), percent=71),
        TailThreshold(dscp=(18,), cos=(2,), percent=95),
    )
    text = rendered("s2970", request, result)
    assert "mls qos queue-set output 2 threshold 3 48 71 50 95\n" in text
    assert "mls qos srr-queue output dscp-map queue 3 threshold 2 20\n" in text
    assert text.count(" queue-set 2\n") == 3


def test_curves_in_time_are_tail_drop() -> None:
    curve = {"dscp": "af21", "minimum": "5 ms", "maximum": "10 ms"}
    _, result = lowered("s2970", intent(data(wred={"profiles": [curve]}), REST))
    assert codes(result)["wred-unsupported"] == "warning"
    assert queue_of(result, "data").thresholds == ()


def test_more_than_three_levels_become_three() -> None:
    curves = [
        {"dscp": d, "minimum": "1 packets", "maximum": f"{m} packets"}
        for d, m in (("af21", 100), ("af22", 50), ("af23", 45), ("cs2", 10))
    ]
    entry = data(wred={"profiles": curves}) | {"match": {"any": [{"dscp": ["cs2", "af21", "af22", "af23"]}]}}
    _, result = lowered("s2970", intent(entry, REST))
    marks = [t.dscp for t in queue_of(result, "data").thresholds]
    assert marks == [(16,), (20, 22), (18,)]


def test_a_changed_queue_set_is_replaced() -> None:
    changed = startup("s2970").replace(
        "!\nhostname", "mls qos queue-set output 1 threshold 3 50 60 50 100\nmls qos\n!\nhostname"
    )
    request, result = lowered("s2970", intent(VOICE, data(), REST), changed)
    assert found(result, "queue-set-replaced").severity == "info"
    assert " queue-set 2\n" in rendered("s2970", request, result)
    assert queue_of(result, "data").limit_packets == 100
    again = rendered("s2970", *lowered("s2970", intent(VOICE, data(), REST)))
    assert "queue-set" not in again


def test_a_shape_is_one_part_in_a_whole_number() -> None:
    _, result = lowered("s2970", intent(data(shape={"rate": "30 Mb/s"}), REST))
    told = {f.interface: f for f in result.findings if f.code == "shape-approximate"}
    assert (told[PORT].severity, told[PORT].requested, told[PORT].applied) == ("info", "30 Mb/s", "25 Mb/s")
    assert told["GigabitEthernet0/6"].applied == f"{1000 / 34:.6g} Mb/s"
    assert queue_of(result, "data").shape_weight == 4
    assert [f.applied_percent for f in result.fidelity if f.interface == PORT] == [25, 75]

    _, far = lowered("s2970", intent(data(shape={"rate": "49 Mb/s"}), REST))
    error = next(f for f in far.findings if f.code == "shape-approximate" and f.interface == PORT)
    assert (error.severity, error.applied) == ("error", f"{100 / 3:.6g} Mb/s")


def test_a_bounded_class_keeps_to_its_part() -> None:
    _, result = lowered("s2970", intent(data(bandwidth={"remaining_percent": 25}, bounded=True), REST))
    assert queue_of(result, "data").shape_weight == 4
    bounded = VOICE | {"treatment": {"priority": {"percent": 50}, "bounded": True}}
    _, refused = lowered("s2970", intent(bounded, REST))
    assert found(refused, "bounded-priority-unsupported").severity == "error"


def test_shaped_classes_share_no_queue() -> None:
    shaped = data(shape={"rate": "10 Mb/s"})
    others = [
        {
            "name": f"c{n}",
            "match": {"any": [{"dscp": d}]},
            "mark": {"dscp": d},
            "treatment": {"bandwidth": {"remaining_percent": 1}},
        }
        for n, d in enumerate(("af11", "af31", "cs1"))
    ]
    _, result = lowered(
        "s2970",
        intent(
            VOICE,
            shaped | {"treatment": {"shape": {"rate": "10 Mb/s"}, "bandwidth": {"remaining_percent": 1}}},
            *others,
            REST,
        ),
    )
    assert queue_of(result, "data").shape_weight == 10
    assert all("data" not in f.message for f in result.findings if f.code == "classes-merged")


def test_priority_classes_have_an_ingress_queue() -> None:
    voice = VOICE | {"treatment": {"priority": {"percent": 30}}}
    request, result = lowered("s2970", intent(voice, data(), REST))
    held = result.plan.system.input_queues
    assert held is not None
    assert (held.weights, held.buffer_percent, held.priority_percent) == ((70, 30), (70, 30), 30)
    assert {d for d, q in enumerate(held.dscp_to_queue) if q == 2} == {34, 46}
    assert {c for c, q in enumerate(held.cos_to_queue) if q == 2} == {5}
    assert "mls qos srr-queue input priority-queue 2 bandwidth 30\n" in rendered("s2970", request, result)
    _, plain = lowered("s2970", intent(data(), REST))
    assert plain.plan.system.input_queues is None


def test_a_priority_without_a_cap_has_what_the_ingress_gives() -> None:
    request, result = lowered("s2970", intent(VOICE | {"treatment": {"priority": True}}, data(), REST))
    held = result.plan.system.input_queues
    assert held is not None
    assert (held.weights, held.buffer_percent, held.priority_percent) == ((4, 4), (90, 10), 40)
    told = found(result, "input-priority-limited")
    assert (told.requested, told.applied) == ("all of it first", "40 % first, then 4 of 8 parts of the rest")
    assert "mls qos srr-queue input priority-queue 2 bandwidth 40\n" in rendered("s2970", request, result)
