"""The campus intent on the two Catalysts: golden text, round trip, delta and inverse, the emulated devices."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge.compiler.candidate import find_plan_differences
from qosforge.configtree import transition
from qosforge.intent.loader import LoadedIntent
from qosforge.plan.model import Discipline, Ingress, Trust
from qoslab.packets import Packets

from .catalyst_support import (
    BOXES,
    PHONES,
    REST,
    ROOT,
    VOICE,
    WEB,
    as_config,
    booted,
    campus,
    codes,
    delta,
    intent,
    lowered,
    port,
    rendered,
    startup,
)

DEVICES = ("s2950", "s2970")

# What an operator may have left: other maps, queues, trusts and a policy in use.
USED = {
    "s2950": """\
wrr-queue bandwidth 10 20 30 40
wrr-queue cos-map 1 0 1 2 3
wrr-queue cos-map 2 4
wrr-queue cos-map 3 5
mls qos map cos-dscp 0 8 16 26 32 46 48 56
mls qos map dscp-cos 10 to 0
mls qos map dscp-cos 34 to 3
class-map match-all OLD
 match ip dscp 26
policy-map OLD
 class OLD
  set ip dscp 24
interface FastEthernet0/1
interface FastEthernet0/5
 service-policy input OLD
interface GigabitEthernet0/2
 mls qos trust cos
interface FastEthernet0/24
 mls qos trust cos
interface GigabitEthernet0/1
 switchport mode trunk
""",
    "s2970": """\
mls qos map cos-dscp 0 8 16 26 32 46 48 56
mls qos map dscp-cos 10 to 0
mls qos srr-queue output cos-map queue 1 threshold 3 4
mls qos srr-queue output dscp-map queue 1 threshold 3 32 33
mls qos srr-queue output dscp-map queue 4 threshold 1 8
mls qos
class-map match-all OLD
 match ip dscp cs3
policy-map OLD
 class OLD
  set dscp cs2
interface GigabitEthernet0/1
 switchport mode trunk
 srr-queue bandwidth share 10 10 60 20
 srr-queue bandwidth shape 10 0 0 0
 mls qos trust cos
interface GigabitEthernet0/5
 priority-queue out
 mls qos trust dscp
interface GigabitEthernet0/6
 service-policy input OLD
""",
}


@pytest.mark.parametrize("device", DEVICES)
def test_golden(device: str) -> None:
    request, result = lowered(device, campus())
    golden = ROOT / f"tests/golden/campus-collaboration/{device}.cfg"
    assert rendered(device, request, result) == golden.read_text()


@pytest.mark.parametrize(("device", "loaded"), [("s2950", intent(PHONES, WEB, REST)), ("s2970", campus())])
def test_every_class_stands_in_its_block_with_its_line(device: str, loaded: LoadedIntent) -> None:
    request, result = lowered(device, loaded)
    lines = {c.name: c.line for c in request.classes}
    blocks = [b for b in BOXES[device].blocks(result.plan, result, request) if b.kind == "class-map"]
    assert {b.traffic_class for b in blocks} == {"voice-video", "web-and-file"}
    assert all(b.line == lines[b.traffic_class or ""] for b in blocks)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("before", ["startup", "used"])
def test_round_trip_over_what_the_box_holds(device: str, before: str) -> None:
    running = startup(device) if before == "startup" else USED[device]
    request, result = lowered(device, campus(), running)
    _, target = delta(BOXES[device].grammar, running, rendered(device, request, result))
    held = BOXES[device].parse(as_config(target), device, request.image)
    assert find_plan_differences(result.plan, held) == ()
    assert held.unknown == ()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("before", ["startup", "used"])
def test_the_emulated_box_takes_delta_and_inverse(device: str, before: str, tmp_path: Path) -> None:
    platform = BOXES[device]
    box = booted(device, tmp_path, startup(device) if before == "startup" else USED[device])
    original = box.running_text()
    request, result = lowered(device, campus(), original)
    wanted = rendered(device, request, result)
    forward, target = delta(platform.grammar, original, wanted)
    inverse = transition(target, platform.grammar.parse(original), platform.grammar)

    assert box.configure(forward) == []
    running = box.running_text()
    held = platform.parse(running, device, request.image)
    assert find_plan_differences(result.plan, held) == ()
    assert held.unknown == ()
    assert delta(platform.grammar, running, wanted)[0] == []

    assert box.configure(inverse) == []
    assert box.running_text() == original

    # The undo of a recovery starts from what the device holds, not from what was meant.
    box.configure(forward)
    back = transition(
        platform.grammar.parse(box.running_text()), platform.grammar.parse(original), platform.grammar
    )
    assert box.configure(back) == []
    assert box.running_text() == original


@pytest.mark.parametrize("device", DEVICES)
def test_policies_are_attached_after_they_exist_and_go_before(device: str) -> None:
    platform = BOXES[device]
    request, result = lowered(device, intent(VOICE, WEB, REST), startup(device))
    forward, target = delta(platform.grammar, startup(device), rendered(device, request, result))
    names = [line.strip() for line in forward]
    attach = names.index("service-policy input QOSFORGE-IN")
    assert names.index("policy-map QOSFORGE-IN") < attach
    assert names.index("class-map match-all voice-video-A") < names.index("policy-map QOSFORGE-IN")
    assert names.index("ip access-list extended QOSFORGE-voice-video-A") < names.index(
        "class-map match-all voice-video-A"
    )
    undone = [
        line.strip() for line in transition(target, platform.grammar.parse(startup(device)), platform.grammar)
    ]
    assert undone.index("no service-policy input QOSFORGE-IN") < undone.index("no policy-map QOSFORGE-IN")
    assert undone.index("no policy-map QOSFORGE-IN") < undone.index("no class-map voice-video-A")


def test_qos_is_switched_on_before_a_policy_needs_it() -> None:
    request, result = lowered("s2970", campus(), startup("s2970"))
    forward, _ = delta(BOXES["s2970"].grammar, startup("s2970"), rendered("s2970", request, result))
    assert forward.index("mls qos") < [line.strip() for line in forward].index("service-policy input QOSFORGE-IN")


@pytest.mark.parametrize(("device", "priority", "web", "default"), [("s2950", 4, 2, 1), ("s2970", 1, 3, 2)])
def test_maps_carry_the_classes(device: str, priority: int, web: int, default: int) -> None:
    _, result = lowered(device, campus())
    system = result.plan.system
    assert system.cos_to_dscp is not None
    assert system.dscp_to_cos is not None
    assert system.cos_to_queue is not None
    assert (system.cos_to_dscp[5], system.dscp_to_cos[34]) == (34, 5)
    assert (system.cos_to_dscp[2], system.dscp_to_cos[18]) == (18, 2)
    assert [system.cos_to_queue[c] for c in (5, 2, 0, 1, 3, 4)] == [priority, web, *[default] * 4]
    control = {system.cos_to_queue[6], system.cos_to_queue[7]}
    assert len(control) == 1
    assert control.isdisjoint({priority, web, default})
    assert set(result.classes.values()) == {"voice-video", "web-and-file", "default"}
    assert result.classes[f"queue {priority}"] == "voice-video"


def test_the_2970_chooses_queues_by_dscp_too() -> None:
    _, result = lowered("s2970", campus())
    table = result.plan.system.dscp_to_queue
    assert table is not None
    assert [table[d] for d in (46, 34, 18, 0, 26, 48, 63)] == [1, 1, 3, 2, 2, 4, 4]


def test_hosts_of_the_2950_mark_themselves() -> None:
    _, result = lowered("s2950", campus())
    assert [i.ingress for i in result.plan.interfaces] == [Ingress(trust=Trust.DSCP)] * 4


def test_host_ports_recognise_and_trunks_trust() -> None:
    _, result = lowered("s2970", campus())
    host, trunk = "GigabitEthernet0/5", "GigabitEthernet0/1"
    recognising = port(result.plan, host).ingress
    assert recognising.trust is Trust.NONE
    assert [(r.name, r.set_dscp, r.set_cos) for r in recognising.rules] == [
        ("voice-video-A", 34, 5),
        ("voice-video-D", 34, 5),
        ("web-and-file-A", 18, 2),
        ("web-and-file-D", 18, 2),
    ]
    assert recognising.rules[1].any_of[0].dscp == (34, 46)
    assert port(result.plan, trunk).ingress.trust is Trust.DSCP
    assert port(result.plan, trunk).ingress.rules == ()


def test_schedulers() -> None:
    _, old = lowered("s2950", campus())
    scheduler = old.plan.system.scheduler
    assert scheduler is not None
    assert scheduler.discipline is Discipline.WRR
    assert [(q.number, q.priority, q.share.value if q.share else None) for q in scheduler.queues] == [
        (1, False, 30),
        (2, False, 70),
        (3, False, 3),
        (4, True, None),
    ]
    assert port(old.plan, "FastEthernet0/1").egress.scheduler is None
    _, new = lowered("s2970", campus())
    assert new.plan.system.scheduler is None
    own = port(new.plan, "GigabitEthernet0/5").egress.scheduler
    assert own is not None
    assert own.discipline is Discipline.SRR
    assert [(q.number, q.priority, q.share.value if q.share else None) for q in own.queues] == [
        (1, True, None),
        (2, False, 30),
        (3, False, 70),
        (4, False, 3),
    ]
    assert all(q.shape_weight is None for q in own.queues)


@pytest.mark.parametrize("device", DEVICES)
def test_findings_and_fidelity(device: str) -> None:
    request, result = lowered(device, campus(), startup(device))
    expected = {
        "wred-unsupported": "warning",
        "network-control-queue": "info",
        "priority-cap-not-enforced": "warning",
    }
    if device == "s2950":
        expected |= dict.fromkeys(("scheduler-device-wide", "unnamed-dscp"), "info")
    else:
        expected |= dict.fromkeys(("recognised-by-ports", "default-marked-down", "input-priority-limited"), "info")
        expected["told-in-ipv4"] = "warning"
        expected["fragments-unclassified"] = "info"
    assert codes(result) == expected
    cap = next(f for f in result.findings if f.code == "priority-cap-not-enforced")
    assert (cap.traffic_class, cap.requested, cap.applied) == ("voice-video", "50 %", "100 %")
    scheduled = [i.name for i in request.interfaces if i.schedule]
    assert [(f.traffic_class, f.interface) for f in result.fidelity] == [
        (c.name, name) for name in scheduled for c in request.classes
    ]
    shares = {f.traffic_class: (f.requested_percent, f.applied_percent) for f in result.fidelity}
    assert shares == {
        "voice-video": (50.0, 100.0),
        "web-and-file": (pytest.approx(35.0), pytest.approx(35.0)),
        "default": (pytest.approx(15.0), pytest.approx(15.0)),
    }


@pytest.mark.parametrize(
    ("device", "into", "out", "expedite"),
    [
        ("s2950", "FastEthernet0/1", "GigabitEthernet0/1", "queue 4"),
        ("s2970", "GigabitEthernet0/5", "GigabitEthernet0/1", "queue 1"),
    ],
)
def test_packets_go_where_the_plan_says(device: str, into: str, out: str, expedite: str, tmp_path: Path) -> None:
    box = booted(device, tmp_path, startup(device))
    request, result = lowered(device, campus(), box.running_text())
    forward, _ = delta(BOXES[device].grammar, box.running_text(), rendered(device, request, result))
    assert box.configure(forward) == []
    set_by_host = device == "s2950"
    offered = [
        Packets(count=1, bytes=200, protocol=17, dscp=34 * set_by_host, src_port=20000, dst_port=17000),
        Packets(count=1, bytes=200, protocol=17, dscp=46, src_port=5, dst_port=9),
        Packets(count=1, bytes=1500, protocol=6, dscp=18 * set_by_host, src_port=80, dst_port=40000),
        Packets(count=1, bytes=1500, protocol=17, dscp=26, src_port=20000, dst_port=9),
    ]
    outcomes = box.offer(into, out, offered, 0.0)
    queues = {name: key for key, name in result.classes.items() if key.startswith("queue ")}
    web, rest = queues["web-and-file"], queues["default"]
    assert [_queue(o.queue) for o in outcomes] == [expedite, expedite, web, rest]
    back = box.offer(out, into, [Packets(count=1, bytes=200, protocol=17, dscp=34, cos=5, tagged=True)], 0.0)
    assert _queue(back[0].queue) == expedite


def _queue(words: str) -> str:
    """The queue in an outcome, which may name a threshold too."""
    return " ".join(words.split()[:2])
