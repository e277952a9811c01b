"""The campus intent on the 5510: golden text, round trip, delta and inverse, the emulated device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qosforge.compiler.candidate import find_plan_differences
from qosforge.configtree import transition
from qosforge.configtree.tree_text import tree_text
from qosforge.plan.model import Discipline, Trust
from qoslab.packets import Packets

from .switch_support import (
    BOXES,
    REST,
    ROOT,
    VOICE,
    booted,
    campus,
    codes,
    delta,
    finding,
    intent,
    lowered,
    marked,
    port,
    push,
    rendered,
    startup,
    undo,
)

DEVICE = "ers5510"

# What an operator may have left: groups over lists of ports, filters in use, other maps and queues.
USED = """\
! Model = Ethernet Routing Switch 5510-48T
qos if-group name users class untrusted
qos if-group name open class unrestricted
qos ip-element 7 addr-type ipv4 ds-field 26
qos classifier 7 set-id 7 name seven element-type ip element-id 7
qos action 77 name other update-dscp 10
qos if-assign port 1-24 name users
qos if-assign port 47-48 name open
qos agent queue-set 4
qos egressmap ds 10 1p 4 dp high-drop
qos egressmap ds 34 1p 3 dp low-drop
qos ingressmap 1p 1 ds 8
qos queue-set-assignment queue-set 4 1p 5 queue 3
qos queue-set-assignment queue-set 8 1p 0 queue 7
qos policy 9 name nine if-group users clfr-type classifier clfr-id 7 in-profile-action 77 precedence 3
"""
BEFORE = {"startup": startup(DEVICE), "used": USED}


def test_golden() -> None:
    request, result = lowered(DEVICE, campus(), startup(DEVICE))
    golden = ROOT / f"tests/golden/campus-collaboration/{DEVICE}.cfg"
    assert rendered(DEVICE, request, result) == golden.read_text()


def test_every_class_stands_in_its_blocks_with_its_line() -> None:
    request, result = lowered(DEVICE, campus())
    lines = {c.name: c.line for c in request.classes}
    blocks = [b for b in BOXES[DEVICE].blocks(result.plan, result, request) if b.kind in ("action", "policy")]
    assert {b.traffic_class for b in blocks} == {"voice-video", "web-and-file"}
    assert all(b.line == lines[b.traffic_class or ""] for b in blocks)


@pytest.mark.parametrize("before", BEFORE)
def test_round_trip_over_what_the_box_holds(before: str) -> None:
    request, result = lowered(DEVICE, campus(), BEFORE[before])
    _, target = delta(DEVICE, BEFORE[before], rendered(DEVICE, request, result))
    held = BOXES[DEVICE].parse(tree_text(target, BOXES[DEVICE].grammar), DEVICE, request.image)
    assert find_plan_differences(result.plan, held) == ()
    assert held.unknown == ()


@pytest.mark.parametrize("before", BEFORE)
def test_the_emulated_box_takes_delta_and_inverse(before: str, tmp_path: Path) -> None:
    platform = BOXES[DEVICE]
    box = booted(DEVICE, tmp_path, BEFORE[before])
    original = box.running_text()
    request, result = lowered(DEVICE, campus(), original)
    forward, target = delta(DEVICE, original, rendered(DEVICE, request, result))
    inverse = transition(target, platform.grammar.parse(original), platform.grammar)

    assert box.configure(forward) == []
    held = platform.parse(box.running_text(), DEVICE, request.image)
    assert find_plan_differences(result.plan, held) == ()
    assert held.unknown == ()

    assert box.configure(inverse) == []
    assert box.running_text() == original

    # The undo of a recovery starts from what the device prints, which leaves out what equals its defaults.
    box.configure(forward)
    assert box.configure(undo(DEVICE, box.running_text(), original)) == []
    assert box.running_text() == original


def test_another_intent_replaces_the_filters_as_a_whole(tmp_path: Path) -> None:
    box = booted(DEVICE, tmp_path, startup(DEVICE))
    push(DEVICE, box, campus())
    first = box.running_text()
    other = intent(VOICE | {"name": "calls"}, marked("bulk", 10, 1, bandwidth={"remaining_percent": 70}), REST)
    request, result = push(DEVICE, box, other)
    held = BOXES[DEVICE].parse(box.running_text(), DEVICE, request.image)
    assert find_plan_differences(result.plan, held) == ()
    assert "web-and-file" not in box.running_text()
    assert box.configure(undo(DEVICE, box.running_text(), first)) == []
    assert box.running_text() == first


def test_an_operators_filters_stay(tmp_path: Path) -> None:
    box = booted(DEVICE, tmp_path, USED)
    push(DEVICE, box, campus())
    assert "qos policy 9 name nine" in box.running_text()
    assert "qos if-assign port 3-24 name users" in box.running_text()


def test_order_of_references() -> None:
    request, result = lowered(DEVICE, campus(), startup(DEVICE))
    forward, target = delta(DEVICE, startup(DEVICE), rendered(DEVICE, request, result))
    starts = [" ".join(line.split()[1:3]) for line in forward]
    order = ["if-group name", "ip-element 50001", "classifier 50001", "action 50001", "policy 50001"]
    assert [starts.index(s) for s in order] == sorted(starts.index(s) for s in order)
    grammar = BOXES[DEVICE].grammar
    back = transition(target, grammar.parse(startup(DEVICE)), grammar)
    gone = ["policy", "action", "classifier", "ip-element", "if-group"]
    where = [next(i for i, line in enumerate(back) if line.startswith(f"no qos {g}")) for g in gone]
    assert where == sorted(where)
    assert back.index("no qos if-assign port 1") < back.index("no qos if-group name qosforge-host")


def test_maps_carry_the_classes() -> None:
    _, result = lowered(DEVICE, campus(), startup(DEVICE))
    system = result.plan.system
    assert system.cos_to_dscp is not None
    assert system.dscp_to_cos is not None
    assert system.cos_to_queue is not None
    assert (system.cos_to_dscp[5], system.dscp_to_cos[34]) == (34, 5)
    assert (system.cos_to_dscp[2], system.dscp_to_cos[18]) == (18, 2)
    assert system.dscp_to_cos[46] == 5
    assert system.cos_to_queue == (3, 3, 2, 3, 3, 1, 4, 4)
    assert result.classes["queue 1"] == "voice-video"
    assert system.queue_set == 4


def test_the_scheduler_is_the_switchs() -> None:
    _, result = lowered(DEVICE, campus(), startup(DEVICE))
    scheduler = result.plan.system.scheduler
    assert scheduler is not None
    assert scheduler.discipline is Discipline.WRR
    assert [(q.number, q.priority, q.share.value if q.share else None) for q in scheduler.queues] == [
        (1, True, None),
        (2, False, 65),
        (3, False, 26),
        (4, False, 9),
    ]
    assert port(result.plan, "48").egress.scheduler is None


def test_host_ports_recognise_and_trunks_trust() -> None:
    _, result = lowered(DEVICE, campus(), startup(DEVICE))
    host = port(result.plan, "1").ingress
    assert (host.policy, host.trust) == ("qosforge-host", Trust.NONE)
    assert [(r.name, r.set_dscp, r.set_cos, len(r.any_of)) for r in host.rules] == [
        ("voice-video", 34, 5, 3),
        ("web-and-file", 18, 2, 5),
    ]
    trunk = port(result.plan, "48").ingress
    assert (trunk.policy, trunk.trust, trunk.rules) == ("qosforge-trunk", Trust.DSCP, ())


def test_findings_and_fidelity() -> None:
    request, result = lowered(DEVICE, campus(), startup(DEVICE))
    assert codes(result) == {
        "priority-cap-not-enforced": "warning",
        "queue-weights-unconfirmed": "warning",
        "queue-set-better": "info",
        "network-control-queue": "info",
        "wred-unsupported": "warning",
        "recognised-by-ports": "info",
        "default-marked-down": "info",
        "told-in-ipv4": "warning",
        "filter-precedences": "info",
        "trust-partial": "info",
        "scheduler-device-wide": "info",
        "unnamed-dscp": "info",
        "share-approximate": "info",
    }
    assert "strict/65/26/9" in finding(result, "queue-weights-unconfirmed").message
    better = finding(result, "queue-set-better")
    assert "queue set 6" in better.message
    assert "reset" in better.message
    names = [i.name for i in request.interfaces]
    assert [(f.interface, f.traffic_class) for f in result.fidelity] == [
        (name, c.name) for name in names for c in request.classes
    ]
    assert {
        (f.traffic_class, f.requested_percent, f.applied_percent, f.fidelity.value) for f in result.fidelity
    } == {
        ("voice-video", 50.0, 100.0, "approximate"),
        ("web-and-file", 35.0, 35.7143, "approximate"),
        ("default", 15.0, 14.2857, "approximate"),
    }


def test_dscps_that_no_class_names_are_served_as_default(tmp_path: Path) -> None:
    box = booted(DEVICE, tmp_path, startup(DEVICE))
    _, result = push(DEVICE, box, campus())
    known = [8, 10, 16, 18, 24, 26, 32, 34, 40, 46, 48, 56]
    outcomes = box.offer("48", "1", [Packets(count=1, bytes=200, dscp=d, cos=5) for d in known], 0.0)
    named = {34: "1", 46: "1", 18: "2", 48: "4", 56: "4"}
    assert [o.queue.split()[0] for o in outcomes] == [named.get(d, "3") for d in known]
    assert [o.dscp_out for o in outcomes] == known
    told = finding(result, "unnamed-dscp")
    assert told.requested == "cs1 as CoS 2, af11 as CoS 2, cs4 as CoS 5, cs5 as CoS 6"
    assert told.facts["classes"] == "voice-video, web-and-file, network control"


def test_ports_outside_the_scope_that_have_its_queues_are_named() -> None:
    held = startup(DEVICE)
    _, result = lowered(DEVICE, campus(), held)
    assert finding(result, "scheduler-device-wide").facts == {"ports": "3-47"}
    _, result = lowered(DEVICE, campus())
    assert finding(result, "scheduler-device-wide").facts == {}


def test_packets_go_where_the_plan_says(tmp_path: Path) -> None:
    box = booted(DEVICE, tmp_path, startup(DEVICE))
    push(DEVICE, box, campus())
    offered = [
        Packets(count=1, bytes=200, protocol=17, src_port=20000, dst_port=17000, tagged=False),
        Packets(count=1, bytes=200, protocol=17, dscp=46, src_port=5, dst_port=9, tagged=False),
        Packets(count=1, bytes=1500, protocol=6, src_port=80, dst_port=40000, tagged=False),
        Packets(count=1, bytes=1500, protocol=17, dscp=48, src_port=20000, dst_port=9, tagged=False),
    ]
    outcomes = box.offer("1", "48", offered, 0.0)
    assert [(o.dscp_out, o.cos_out) for o in outcomes] == [(34, 5), (34, 5), (18, 2), (0, 0)]
    assert [o.queue.split()[0] for o in outcomes] == ["1", "1", "2", "3"]
    back = [Packets(count=1, bytes=200, protocol=17, dscp=d) for d in (34, 18, 0, 48, 56)]
    outcomes = box.offer("48", "1", back, 0.0)
    assert [(o.dscp_out, o.queue.split()[0]) for o in outcomes] == [
        (34, "1"),
        (18, "2"),
        (0, "3"),
        (48, "4"),
        (56, "4"),
    ]


@pytest.mark.parametrize("mark", [{"dscp": "cs7", "cos": 7}, {"dscp": "cs6", "cos": 6}])
def test_network_control_keeps_out_of_the_queue_of_a_class_with_its_priority(
    mark: dict[str, Any], tmp_path: Path
) -> None:
    matched = {"any": [{"dscp": mark["dscp"]}]}
    first = {"name": "platinum", "match": matched, "mark": mark, "treatment": {"priority": True}}
    box = booted(DEVICE, tmp_path, startup(DEVICE))
    push(DEVICE, box, intent(first, {"name": "default"}))
    other = {56: 48, 48: 56}[mark["cos"] * 8]

    offered = [Packets(count=1, bytes=200, protocol=17, dscp=d) for d in (mark["cos"] * 8, other, 0)]
    queues = [o.queue for o in box.offer("48", "1", offered, 0.0)]
    assert len(set(queues)) == 3
