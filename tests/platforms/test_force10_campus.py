"""The campus intent on the E300: golden text, round trip, delta and inverse, the emulated device."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge.compiler.candidate import find_plan_differences
from qosforge.configtree import transition
from qosforge.plan.model import Discipline, Trust
from qosforge.platforms.base import platform
from qoslab.packets import Packets
from tests.answers import refusals

from .switch_support import (
    BOXES,
    REST,
    ROOT,
    VOICE,
    WEB,
    as_config,
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

DEVICE = "e300"

# What an operator may have left: an own policy in use, another strict queue, a list of ours from before.
USED = """\
hostname E300
!
strict-priority unicast 7
!
ip access-list extended QOSFORGE-vo-0b0b
 seq 5 permit udp any any range 5000 5999
 seq 10 permit tcp any any eq 25
!
class-map match-any old
 match ip dscp 26
!
qos-policy-input old
 set ip-dscp 24
!
wred-profile mine
 threshold min 100 max 200
!
qos-policy-output web-and-file
 bandwidth-percentage 77
 wred yellow mine
!
policy-map-input old
 service-queue 3 class-map old qos-policy old
!
policy-map-output QOSFORGE-OUT
 service-queue 6 qos-policy web-and-file
!
interface GigabitEthernet 0/0
 no ip address
 service-policy output QOSFORGE-OUT
 no shutdown
!
interface GigabitEthernet 0/1
 no ip address
 no shutdown
!
interface GigabitEthernet 0/2
 no ip address
 service-policy input old
 no shutdown
!
interface GigabitEthernet 0/3
 no ip address
 no shutdown
"""
BEFORE = {"startup": startup(DEVICE), "used": USED}
BY_MAP = intent(
    {**VOICE, "match": {"any": [{"application": ["rtp-audio", "rtp-video"]}, {"dscp": ["af41"]}]}},
    WEB,
    {**REST, "treatment": {**REST["treatment"], "wred": {"prefer": True}}},
)
"""Classes whose marks the device's fixed map keeps apart and together."""


def test_golden() -> None:
    request, result = lowered(DEVICE, campus())
    golden = ROOT / f"tests/golden/campus-collaboration/{DEVICE}.cfg"
    assert rendered(DEVICE, request, result) == golden.read_text()


def test_every_class_stands_in_its_block_with_its_line() -> None:
    request, result = lowered(DEVICE, campus())
    lines = {c.name: c.line for c in request.classes}
    blocks = [b for b in BOXES[DEVICE].blocks(result.plan, result, request) if b.kind == "class-map"]
    # The first is that of network control, which no class has; ports that trust marks match those of the classes.
    named = ["voice-video", "web-and-file"]
    assert [b.traffic_class for b in blocks] == [None, *named, *named, "default"]
    assert all(b.line == lines[b.traffic_class] for b in blocks if b.traffic_class)


@pytest.mark.parametrize("before", BEFORE)
def test_round_trip_over_what_the_box_holds(before: str) -> None:
    request, result = lowered(DEVICE, campus(), BEFORE[before])
    _, target = delta(DEVICE, BEFORE[before], rendered(DEVICE, request, result))
    held = BOXES[DEVICE].parse(as_config(target), DEVICE, request.image)
    assert find_plan_differences(result.plan, held) == ()
    assert held.unknown == ()


@pytest.mark.parametrize("before", BEFORE)
def test_the_emulated_box_takes_delta_and_inverse(before: str, tmp_path: Path) -> None:
    platform = BOXES[DEVICE]
    box = booted(DEVICE, tmp_path, BEFORE[before])
    original = box.running_text()
    request, result = lowered(DEVICE, campus(), original)
    wanted = rendered(DEVICE, request, result)
    forward, target = delta(DEVICE, original, wanted)
    inverse = transition(target, platform.grammar.parse(original), platform.grammar)

    assert refusals(box.configure(forward)) == []
    running = box.running_text()
    held = platform.parse(running, DEVICE, request.image)
    assert find_plan_differences(result.plan, held) == ()
    assert held.unknown == ()
    assert delta(DEVICE, running, wanted)[0] == []

    assert refusals(box.configure(inverse)) == []
    assert box.running_text() == original

    # The undo of a recovery starts from what the device holds, not from what was meant.
    box.configure(forward)
    assert refusals(box.configure(undo(DEVICE, box.running_text(), original))) == []
    assert box.running_text() == original


def test_another_intent_leaves_nothing_of_the_first_in_force(tmp_path: Path) -> None:
    box = booted(DEVICE, tmp_path, startup(DEVICE))
    push(DEVICE, box, campus())
    first = box.running_text()
    other = intent(marked("calls", 46, 5, priority={"percent": 20}), WEB, REST)
    request, result = push(DEVICE, box, other)
    held = BOXES[DEVICE].parse(box.running_text(), DEVICE, request.image)
    assert find_plan_differences(result.plan, held) == ()
    assert refusals(box.configure(undo(DEVICE, box.running_text(), first))) == []
    assert box.running_text() == first


def test_policies_are_attached_after_they_exist_and_go_before() -> None:
    request, result = lowered(DEVICE, campus(), startup(DEVICE))
    forward, _ = delta(DEVICE, startup(DEVICE), rendered(DEVICE, request, result))
    names = [line.strip() for line in forward]
    order = [
        "ip access-list extended QOSFORGE-vo-0b0b",
        "class-map match-any voice-video",
        "policy-map-input QOSFORGE-IN",
        "service-policy input QOSFORGE-IN",
    ]
    assert [names.index(name) for name in order] == sorted(names.index(name) for name in order)
    assert names.index("policy-map-output QOSFORGE-OUT") < names.index("service-policy output QOSFORGE-OUT")


def test_the_priority_class_is_where_the_fixed_map_sends_its_mark() -> None:
    _, result = lowered(DEVICE, BY_MAP)
    system = result.plan.system
    assert system.queue_on_input
    assert system.dscp_to_queue is not None
    assert [system.dscp_to_queue[d] for d in (34, 18, 0, 46, 48, 56)] == [4, 2, 0, 5, 6, 7]
    scheduler = port(result.plan, "GigabitEthernet 0/0").egress.scheduler
    assert scheduler is not None
    assert scheduler.discipline is Discipline.WFQ
    assert [q.number for q in scheduler.queues if q.priority] == [4]
    assert system.scheduler is not None
    assert [q.number for q in system.scheduler.queues if q.priority] == [4]
    assert result.classes["queue 4"] == "voice-video"


def test_percentages_are_whole_sum_to_100_and_keep_the_ratio() -> None:
    _, result = lowered(DEVICE, BY_MAP)
    scheduler = port(result.plan, "GigabitEthernet 0/2").egress.scheduler
    assert scheduler is not None
    table = [q.share.value for q in scheduler.queues if q.share]
    assert table == [12, 1, 28, 1, 50, 1, 3, 4]
    assert sum(table) == 100


def test_wred_only_where_it_is_asked() -> None:
    _, result = lowered(DEVICE, BY_MAP)
    scheduler = port(result.plan, "GigabitEthernet 0/2").egress.scheduler
    assert scheduler is not None
    assert [q.number for q in scheduler.queues if q.red] == [0]
    red = scheduler.queues[0].red
    assert red is not None
    assert [(p.minimum, p.maximum, p.denominator) for p in red.profiles] == [
        (2048 * 1024, 4096 * 1024, 1),
        (1024 * 1024, 2048 * 1024, 1),
    ]
    assert set(red.profiles[1].dscp) == {d for d in range(64) if d % 8 in (4, 6)}


def test_host_ports_recognise_and_trunks_trust() -> None:
    _, result = lowered(DEVICE, BY_MAP)
    host = port(result.plan, "GigabitEthernet 0/2").ingress
    assert host.trust is Trust.KEEP
    assert [(r.name, r.set_dscp, r.queue) for r in host.rules] == [
        ("voice-video", 34, 4),
        ("web-and-file", 18, 2),
        ("default", 0, 0),
    ]
    trunk = port(result.plan, "GigabitEthernet 0/1").ingress
    assert (trunk.policy, trunk.trust, trunk.rules) == ("QOSFORGE-TRUST", Trust.DSCP, ())


def test_findings_and_fidelity() -> None:
    request, result = lowered(DEVICE, campus(), startup(DEVICE))
    assert codes(result) == {
        "priority-cap-not-enforced": "warning",
        "trust-map-not-used": "info",
        "served-after-strict": "info",
        "scheduler-device-wide": "info",
        "multicast-reserved": "info",
        "wred-by-colour": "info",
        "recognised-by-ports": "info",
        "default-marked-down": "info",
        "told-in-ipv4": "warning",
        "cam-use": "info",
        "cos-not-written": "warning",
    }
    # One range of ports is one block; every DSCP and every port of the web class is an entry, the rest is one.
    assert finding(result, "cam-use").applied == "9 CAM entries"
    cap = finding(result, "priority-cap-not-enforced")
    assert (cap.traffic_class, cap.requested, cap.applied) == ("voice-video", "50 %", "100 %")
    assert finding(result, "scheduler-device-wide").facts == {"queue": 4}
    assert "queues 5, 6, 7" in finding(result, "served-after-strict").message
    assert finding(result, "cos-not-written").interface == "GigabitEthernet 0/1"
    inputs = request.model_copy(
        update={"interfaces": tuple(i.model_copy(update={"schedule": False}) for i in request.interfaces)}
    )
    told = finding(platform("force10_e300").lower(inputs, None), "cos-not-written")
    assert told.interface is None, "what inputs mark leaves by ports of no scope, too"
    names = [i.name for i in request.interfaces]
    assert [(f.interface, f.traffic_class) for f in result.fidelity] == [
        (name, c.name) for name in names for c in request.classes
    ]
    assert {
        (f.traffic_class, f.requested_percent, f.applied_percent, f.fidelity.value) for f in result.fidelity
    } == {
        ("voice-video", 50.0, 100.0, "approximate"),
        ("web-and-file", 35.0, 35.0, "exact"),
        ("default", 15.0, 15.0, "exact"),
    }


def test_packets_go_where_the_plan_says(tmp_path: Path) -> None:
    box = booted(DEVICE, tmp_path, startup(DEVICE))
    push(DEVICE, box, campus())
    offered = [
        Packets(count=1, bytes=200, protocol=17, src_port=20000, dst_port=17000, tagged=False),
        Packets(count=1, bytes=200, protocol=17, dscp=46, src_port=5, dst_port=9, tagged=False),
        Packets(count=1, bytes=1500, protocol=6, src_port=80, dst_port=40000, tagged=False),
        Packets(count=1, bytes=1500, protocol=17, dscp=48, src_port=20000, dst_port=9, tagged=False),
    ]
    outcomes = box.offer("GigabitEthernet 0/2", "GigabitEthernet 0/0", offered, 0.0)
    assert [(o.dscp_out, o.queue) for o in outcomes] == [(34, "4 strict"), (34, "4 strict"), (18, "2"), (0, "0")]
    back = [Packets(count=1, bytes=200, protocol=17, dscp=d) for d in (34, 46, 18, 0, 48)]
    outcomes = box.offer("GigabitEthernet 0/1", "GigabitEthernet 0/2", back, 0.0)
    assert [o.dscp_out for o in outcomes] == [34, 46, 18, 0, 48]
    assert [o.queue for o in outcomes] == ["4 strict", "4 strict", "2", "0", "6"]


def test_packets_go_where_the_fixed_map_says(tmp_path: Path) -> None:
    box = booted(DEVICE, tmp_path, startup(DEVICE))
    push(DEVICE, box, BY_MAP)
    back = [Packets(count=1, bytes=200, protocol=17, dscp=d) for d in (34, 18, 0, 48)]
    outcomes = box.offer("GigabitEthernet 0/1", "GigabitEthernet 0/2", back, 0.0)
    assert [(o.dscp_out, o.queue) for o in outcomes] == [(34, "4 strict"), (18, "2"), (0, "0"), (48, "6")]


def test_without_the_fixed_map_every_port_matches_marks(tmp_path: Path) -> None:
    # af41 and cs4 share the top three bits.
    loaded = intent(VOICE, marked("signalling", 32, 3, bandwidth={"remaining_percent": 40}), {
        **REST, "treatment": {"bandwidth": {"remaining_percent": 60}},
    })  # fmt: skip
    box = booted(DEVICE, tmp_path, startup(DEVICE))
    request, result = push(DEVICE, box, loaded)
    assert codes(result)["trust-map-not-used"] == "info"
    held = BOXES[DEVICE].parse(box.running_text(), DEVICE, request.image)
    assert find_plan_differences(result.plan, held) == ()
    trunk = port(result.plan, "GigabitEthernet 0/1").ingress
    assert [(r.any_of[0].dscp, r.queue, r.set_dscp) for r in trunk.rules] == [
        ((48, 56), 6, None),
        ((34, 46), 4, None),
        ((32,), 3, None),
    ]
    back = [Packets(count=1, bytes=200, protocol=17, dscp=d) for d in (34, 32, 0, 48)]
    outcomes = box.offer("GigabitEthernet 0/1", "GigabitEthernet 0/2", back, 0.0)
    assert [(o.dscp_out, o.queue) for o in outcomes] == [(34, "4 strict"), (32, "3"), (0, "0"), (48, "6")]


def test_lines_of_a_class_come_back_in_their_order(tmp_path: Path) -> None:
    box = booted(DEVICE, tmp_path, startup(DEVICE))
    push(DEVICE, box, campus())
    held = box.running_text()
    original = held.replace(
        "class-map match-any web-and-file\n", "class-map match-any web-and-file\n match ip dscp 20\n", 1
    )
    box = booted(DEVICE, tmp_path / "again", original)
    assert box.running_text() == original != held
    push(DEVICE, box, campus())
    assert box.running_text() == held
    assert refusals(box.configure(undo(DEVICE, held, original))) == []
    assert box.running_text() == original
