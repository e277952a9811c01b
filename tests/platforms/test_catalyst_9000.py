"""The Catalyst 9000: marks on input, eight queues on output, and the emulated device that takes every line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from qosforge.compiler.compile import CompiledDevice
from qosforge.findings import Severity, has_errors
from qosforge.importing import import_configurations, read_configuration
from qosforge.plan.early_drop import TailThreshold
from qosforge.plan.model import DROP, Discipline, Policer, Share, ShareUnit
from qosforge.plan.shares import expected_shares
from qosforge.platforms.catalyst_9000 import PLATFORM
from qosforge.tester.scenario.schedulers import port_service
from qoslab.box import Box
from qoslab.packets import Packets
from tests.parts import SAMPLES
from tests.platforms.catalyst_9000_support import (
    APPLY,
    CONTRACTED,
    LAN,
    MARKED_DOWN,
    PORTS,
    REST,
    SIZED,
    STARTUP,
    TRUNK,
    TWO_RATES,
    VIDEO,
    VOICE,
    WEB,
    WEB_6,
    booted,
    compilation,
    finding,
    made,
    marked,
    port,
    pushed,
    queues,
)


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Box:
    """An emulated switch; every test leaves it as it found it."""
    return booted(tmp_path_factory.mktemp("sw"))


# -- what is rendered ----------------------------------------------------------------------------------------
GOLDEN = """\
ip access-list extended QOSFORGE-voice
 permit udp any any range 16384 32767
class-map match-any voice
 match dscp ef
 match access-group name QOSFORGE-voice
ip access-list extended QOSFORGE-web
 permit tcp any any eq www
 permit tcp any any eq 443
class-map match-any web
 match access-group name QOSFORGE-web
class-map match-any voice.Q
 match dscp ef
class-map match-any web.Q
 match dscp af21
policy-map QOSFORGE-IN
 class voice
  set dscp ef
  set cos 5
 class web
  set dscp af21
 class class-default
  set dscp default
policy-map QOSFORGE-OUT
 class voice.Q
  priority level 1 percent 10
 class web.Q
  bandwidth remaining percent 60
  random-detect dscp-based
  random-detect dscp af21 percent 80 100
 class class-default
  bandwidth remaining percent 40
policy-map QOSFORGE-OUT-PORT
 class class-default
  shape average 100000000
   service-policy QOSFORGE-OUT
interface GigabitEthernet1/0/1
 service-policy input QOSFORGE-IN
interface GigabitEthernet1/0/24
 service-policy output QOSFORGE-OUT-PORT
interface TenGigabitEthernet1/1/1
 service-policy output QOSFORGE-OUT
"""


def test_golden() -> None:
    device = made(VOICE, WEB, REST)
    assert "".join(block.text for block in device.blocks) == GOLDEN
    assert {b.traffic_class for b in device.blocks if b.kind == "class-map"} == {"voice", "web"}
    assert all(b.line for b in device.blocks if b.traffic_class)


# -- round trip, delta and inverse on the emulated device -------------------------------------------------------
SHAPED = marked("bulk", "af11", bandwidth={"remaining_percent": 10}, shape={"rate": "20 Mb/s"})
HALF = marked("bulk", "af11", bandwidth={"remaining_percent": 10}, shape={"percent": 50})
BOUNDED = marked("guest", "cs1", bandwidth={"remaining_percent": 10}, bounded=True)
POLICED = {**WEB, "treatment": {**WEB["treatment"], "police": {"rate": "5 Mb/s", "direction": "input"}}}
INTENTS: dict[str, dict[str, Any]] = {
    "all": {"classes": (VOICE, WEB, REST)},
    "two levels": {"classes": (VOICE, VIDEO, WEB, REST)},
    "the other first": {"classes": (VIDEO, VOICE, REST)},
    "no priority": {"classes": (marked("voice", "ef", bandwidth={"remaining_percent": 30}), VIDEO, REST)},
    "strict": {"classes": (marked("voice", "ef", priority=True), REST)},
    "by rate": {"classes": (marked("voice", "ef", priority={"rate": "5 Mb/s"}), REST)},
    "weights": {"classes": (marked("a", 10, bandwidth={"weight": 3}), marked("b", 12, bandwidth={"weight": 2}))},
    "at percentages": {
        "classes": (HALF, REST),
        "apply": (APPLY[0], {"interfaces": ["trunk", "wan"], "direction": "output", "shape": {"percent": 50}}),
    },
    "limits": {"classes": (SHAPED, BOUNDED, POLICED, {"name": "default"})},
    "sized": {"classes": (*SIZED, {"name": "default", "treatment": {"queue_limit": {"percent": 90}}})},
    "marked down": {"classes": (VOICE, MARKED_DOWN, REST)},
    "marks": {
        "classes": (
            {"name": "p", "match": {"any": [{"precedence": [5, 3]}]}, "mark": {"precedence": 5}},
            {"name": "c", "match": {"any": [{"cos": [2]}]}},
            {"name": "default", "mark": {"dscp": "cs1"}},
        )
    },
    "distrusted": {
        "classes": (VOICE, REST),
        "apply": (*APPLY, {"interfaces": "plain", "direction": "input", "trust": "none"}),
    },
    "by CoS": {
        "classes": (VOICE, REST),
        "apply": (*APPLY, {"interfaces": "trunk", "direction": "input", "trust": "cos"}),
    },
    "both versions": {"classes": (VOICE, WEB_6, REST)},
    "kept": {"classes": (VOICE, {"name": "default", "mark": {"keep": True}})},
    "two rates": {"classes": (VOICE, TWO_RATES, REST)},
    "levels and ratios": {
        "classes": (
            VOICE,
            VIDEO,
            marked("a", 10, bandwidth={"weight": 3}),
            marked("b", 12, bandwidth={"weight": 2}),
        ),
    },
    "trusted phones": {
        "classes": (VOICE, REST),
        "apply": (*APPLY, {"interfaces": "plain", "direction": "input", "trust": "phone"}),
    },
    "phones": {
        "classes": (VOICE, REST),
        "apply": ({"interfaces": "lan", "direction": "input", "requires_phone": True}, APPLY[1]),
    },
    "own names": {
        "classes": (
            {**WEB, "name": "class-defaul"},
            {**VIDEO, "name": "system-cpp-video"},
            {**VOICE, "name": "V" * 40},
        ),
        "apply": (
            {"interfaces": "trunk", "direction": "output", "policy": "P" * 40},
            {"interfaces": "lan", "direction": "input", "policy": "IN"},
        ),
    },
}


def intent(name: str, running: str) -> CompiledDevice:
    found = dict(INTENTS[name])
    result = compilation(*found.pop("classes"), running=running, **found)
    assert not has_errors(result.findings), result.findings
    return result.devices[0]


@pytest.mark.parametrize("name", INTENTS)
def test_a_box_takes_every_line_shows_it_back_and_goes_back(box: Box, name: str) -> None:
    before = box.running_text()
    inverse = pushed(box, intent(name, before))
    assert box.running_text() != before
    assert box.configure(inverse) == []
    assert box.running_text() == before


@pytest.mark.parametrize("first", ["two levels", "limits", "by CoS"])
def test_one_intent_replaces_another(box: Box, first: str) -> None:
    original = box.running_text()
    back = [pushed(box, intent(first, original))]
    for name in INTENTS:
        before = box.running_text()
        inverse = pushed(box, intent(name, before))
        assert box.configure(inverse) == []
        assert box.running_text() == before
        back.append(pushed(box, intent(name, before)))
    for inverse in reversed(back):
        assert box.configure(inverse) == []
    assert box.running_text() == original


def test_a_level_moves_to_another_class_without_two_holding_it(box: Box) -> None:
    """The device has one class a level: it is given up before another class takes it."""
    first = marked("a", "cs4", bandwidth={"remaining_percent": 5})
    back = [pushed(box, made(first, VOICE, REST))]
    back.append(
        pushed(box, made(marked("a", "cs4", priority={"percent": 5}), VOICE, REST, running=box.running_text()))
    )
    assert "  priority level 2 percent 10" in box.running_text()
    for inverse in reversed(back):
        assert box.configure(inverse) == []


def test_what_others_wrote_stays(box: Box) -> None:
    original = box.running_text()
    own = ["class-map match-any OWN", "match dscp cs2", "policy-map OWN", "class OWN", "set dscp cs1"]
    attached = ["interface GigabitEthernet1/0/2", "service-policy input OWN"]
    assert box.configure([*own, *attached]) == []
    before = box.running_text()
    inverse = pushed(box, made(VOICE, REST, running=before))
    assert " service-policy input OWN" in box.running_text()
    assert " service-policy input system-cpp-policy" in box.running_text()
    assert box.configure(inverse) == []
    assert box.running_text() == before
    undone = ["no service-policy input", "exit", "no policy-map OWN", "no class-map OWN"]
    assert box.configure([attached[0], *undone]) == []
    assert box.running_text() == original


# -- queues --------------------------------------------------------------------------------------------------
EASY_QOS = (
    ("voice", "ef", 10, True),
    ("broadcast-video", "cs5", 10, True),
    ("real-time", "cs4", 13, True),
    ("conferencing", "af41", 10, True),
    ("network-control", "cs6", 3, False),
    ("signaling", "cs3", 2, False),
    ("management", "cs2", 2, False),
    ("streaming", "af31", 10, False),
    ("transactional", "af21", 10, False),
    ("bulk", "af11", 4, False),
    ("scavenger", "cs1", 1, False),
)
"""Twelve business classes of a published design guide, with those of ``default``: DSCP, per cent, priority."""


def test_twelve_published_classes_take_the_published_queues() -> None:
    classes = [
        marked(name, dscp, **({"priority": {"percent": part}} if first else {"bandwidth": {"percent": part}}))
        for name, dscp, part, first in EASY_QOS
    ]
    result = compilation(*classes, {"name": "default", "treatment": {"bandwidth": {"percent": 25}}})
    held = queues(result.devices[0])
    assert [(q.level, q.share.value) for q in held[:2] if q.share] == [(1, 10), (2, 33)]
    names = [q.name for q in held[2:]]
    assert names == [
        "network-control.Q",
        "streaming.Q",
        "transactional.Q",
        "bulk.Q",
        "scavenger.Q",
        "class-default",
    ]
    shares = [q.share.value for q in held[2:] if q.share]
    assert sum(shares) == 100
    # The guide rounds each share and cuts control and scavenger until the sum is 100.
    assert all(abs(ours - theirs) <= 1 for ours, theirs in zip(shares, (12, 18, 18, 7, 1, 44), strict=True))
    rules = {rule.name: [t.dscp[0] for t in rule.any_of] for rule in port(result.devices[0]).egress.rules}
    assert rules["network-control.Q"] == [48, 24, 16]
    assert rules["broadcast-video.Q"] == [40, 32, 34]
    merged = [f for f in result.findings if f.code == "classes-merged"]
    assert [f.message.partition(": ")[2] for f in merged] == [
        "broadcast-video + real-time + conferencing",
        "network-control + signaling + management",
    ]
    assert merged[1].requested == "8 weighted queues"
    assert merged[1].applied == "6 weighted queues, a share may be wrong by 5 points of the link"
    assert not has_errors(result.findings)


def test_more_classes_than_can_be_tried_in_every_way_still_find_queues() -> None:
    classes = [marked(f"c{n}", n, bandwidth={"remaining_percent": 5}) for n in range(2, 20)]
    result = compilation(*classes, {"name": "default"}, tolerance="20 %")
    assert len(queues(result.devices[0])) == 8
    assert finding(result, "classes-merged").severity is Severity.WARNING


def test_classes_of_one_queue_that_miss_their_shares_are_an_error() -> None:
    classes = [marked(f"c{n}", n, bandwidth={"remaining_percent": 11}) for n in range(2, 10)]
    found = finding(compilation(*classes, {"name": "default"}), "queues-exceeded")
    assert found.severity is Severity.ERROR
    assert found.applied == "8 weighted queues, a share may be wrong by 11 points of the link"


def test_an_uncapped_class_is_not_put_beside_others_of_level_two() -> None:
    classes = (VOICE, VIDEO, marked("extra", "cs4", priority=True))
    found = finding(compilation(*classes, REST), "queues-exceeded")
    assert found.applied == "2 priority levels; extra may take the cap of the others"


def test_shares_are_those_of_the_findings() -> None:
    rates = [marked(name, dscp, bandwidth={"rate": "70 Mb/s"}) for name, dscp in (("c", 14), ("a", 10))]
    result = compilation(*rates, {"name": "default"})
    device = result.devices[0]
    scheduler = port(device).egress.scheduler
    assert scheduler is not None
    held = dict(zip(("c", "a", "default"), expected_shares(scheduler, 10**10, priority_load=0.0), strict=True))
    for near in device.fidelity:
        if near.interface == TRUNK:
            assert near.applied_percent == pytest.approx(100 * held[near.traffic_class], abs=1e-3)
            assert near.requested_percent == pytest.approx(near.applied_percent, abs=1)


def test_a_contracted_rate_is_shaped_and_divided() -> None:
    result = compilation(VOICE, REST)
    (whole,) = port(result.devices[0], CONTRACTED).egress.scheduler.queues  # type: ignore[union-attr]
    assert whole.shape_rate == 10**8
    assert whole.child == port(result.devices[0], TRUNK).egress
    assert finding(result, "port-shaped").applied == "shape average 100000000"


def test_ports_of_different_rates_have_policies_of_their_own_where_caps_are_rates() -> None:
    mixed = marked("mixed", "cs4", priority={"rate": "1 Mb/s"}), marked("more", "cs5", priority={"percent": 10})
    device = made(VOICE, *mixed, REST)
    caps = {name: queues(device, name)[1].share for name in (TRUNK, CONTRACTED)}
    assert caps == {
        TRUNK: Share(unit=ShareUnit.KBPS, value=1_001_000),
        CONTRACTED: Share(unit=ShareUnit.KBPS, value=11_000),
    }
    assert port(device, TRUNK).egress.policy != port(device, CONTRACTED).egress.dividing.policy


def test_shapers_at_a_percentage_are_held_as_such() -> None:
    """Cisco-IOS-XE-policy.yang 17.8.1, shape average percent: of the port, inside of what that is shaped to."""
    outputs = {"interfaces": ["trunk", "wan"], "direction": "output"}
    device = made(HALF, REST, apply=(APPLY[0], {**outputs, "shape": {"percent": 50}}))
    outside, inside = port(device).egress, port(device).egress.dividing
    assert outside.scheduler is not None
    assert inside.scheduler is not None
    shapers = [outside.scheduler.queues[0], inside.scheduler.queues[0]]
    assert [(q.shape_percent, q.shape_rate) for q in shapers] == [(50, None), (50, None)]
    assert "".join(block.text for block in device.blocks).count("  shape average percent 50\n") == 2
    # A rate that two limits come to, and one of a contract, is no part of the port's rate.
    both = made({**HALF, "treatment": {**HALF["treatment"], "bounded": True}}, REST)
    assert "shape average percent" not in "".join(block.text for block in both.blocks)
    service = port_service(device.plan, port(device), 5 * 10**9, 10**10)
    assert service.shape is not None
    assert service.shape.rate_bps == 5 * 10**9
    assert service.scheduler is not None
    assert service.scheduler.queues[0].shape_rate == 25 * 10**8
    (half, *_) = device.fidelity
    assert half.traffic_class == "bulk"


TYPE_QUEUEING = """\
policy-map type queueing Q
 class class-default
  bandwidth remaining ratio 10
interface TenGigabitEthernet1/1/1
 service-policy type queueing output Q
"""


def test_a_switch_that_queues_by_traffic_classes_is_other_hardware() -> None:
    result = compilation(VOICE, REST, running=STARTUP + TYPE_QUEUEING)
    found = finding(result, "queueing-in-the-way")
    assert (found.severity, found.variant) == (Severity.ERROR, "type-queueing")
    assert f"{TRUNK} queue by traffic classes ('service-policy type queueing output Q')" in found.message
    inputs = compilation(VOICE, REST, apply=APPLY[:1], running=STARTUP + TYPE_QUEUEING)
    assert [f.code for f in inputs.findings if f.severity is Severity.ERROR] == []


# -- what cannot be had --------------------------------------------------------------------------------------
def refusals() -> Iterator[Any]:
    def case(code: str, *classes: dict[str, Any], applied: str | None = None, **more: Any) -> Any:
        return pytest.param(code, classes, applied, more, id=code + str(len(classes)))

    unmarked = {"name": "x", "match": {"any": [{"application": "http"}]}}
    yield case("mark-needed", unmarked)
    yield case(
        "mark-shared",
        VOICE,
        marked("w", "ef", bandwidth={"remaining_percent": 5}),
        applied="DSCP ef is served as voice",
    )
    joined = {"any": [{"cos": [3], "dscp": ["cs3"]}]}
    yield case("match-unsupported", {**VOICE, "match": joined})
    yield case("feature-unsupported", {**VOICE, "match": {"any": [{"vlan": 5}]}})
    yield case("police-unsupported", {**WEB, "treatment": {"police": {"rate": "3 Gb/s"}}}, applied="not policed")
    slow = marked("s", 10, bandwidth={"remaining_percent": 5}, shape={"rate": "4 kb/s"})
    yield case("shape-unsupported", slow, applied="not shaped")
    detecting = [marked(f"w{n}", n, bandwidth={"remaining_percent": 5}, wred={"prefer": False}) for n in range(5)]
    yield case("wred-unsupported", *detecting, applied="tail drop")
    compress = [{"when": {"rate_below": "100 Gb/s"}, "header_compression": "rtp", "prefer": False}]
    yield case("feature-unsupported", VOICE, link_efficiency=compress)


@pytest.mark.parametrize(("code", "classes", "applied", "more"), list(refusals()))
def test_what_cannot_be_had_is_an_error(
    code: str, classes: tuple[dict[str, Any], ...], applied: str | None, more: dict[str, Any]
) -> None:
    found = [f for f in compilation(*classes, REST, **more).findings if f.code == code]
    assert found
    assert all(f.severity is Severity.ERROR and f.hint for f in found)
    assert applied is None or applied in {f.applied for f in found}


def test_members_of_an_aggregation_have_its_policy() -> None:
    members = [{**PORTS[3], "name": f"TenGigabitEthernet1/1/{n}", "lag": "Port-channel1"} for n in (1, 2)]
    bundle = {**PORTS[3], "name": "Port-channel1"}
    result = compilation(VOICE, REST, ports=(PORTS[0], *members, bundle))
    assert [i.name for i in result.devices[0].plan.interfaces if i.egress.policy] == [m["name"] for m in members]
    assert finding(result, "port-not-physical").severity is Severity.INFO


def test_a_trusted_port_needs_nothing() -> None:
    device = made(VOICE, REST, apply=(*APPLY, {"interfaces": "trunk", "direction": "input", "trust": "dscp"}))
    assert port(device).ingress.policy is None


# -- what is read --------------------------------------------------------------------------------------------
WRITTEN = """\
version 17.9
class-map match-any system-cpp-police-data
  description ICMP and broadcast
policy-map system-cpp-policy
class-map match-any EF
 match dscp ef
class-map match-any LOW
 match dscp cs1
 match dscp af11
class-map match-any LATER
 match vlan 5
policy-map OUT
 class EF
  priority level 1
  police rate percent 10
 class LOW
  ban rem per 5
  queue-buffers ratio 10
  queue-limit dscp values  cs1 af13 percent 80
  queue-limit dscp af11 percent 100
 class class-default
  bandwidth remaining percent 25
policy-map IN
 class LOW
  set qos-group 4
  police cir 1000000 bc 31250
    conform-action transmit
    exceed-action drop
policy-map TOP
 class class-default
  shape average percent 50
   service-policy OUT
qos queue-softmax-multiplier 1200
int te1/1/1
 serv in IN
 service-policy output OUT
interface Vlan5
 service-policy input IN
control-plane
 service-policy input system-cpp-policy
"""


def test_what_people_wrote_is_read_and_what_is_not_understood_is_kept() -> None:
    plan = PLATFORM.parse(WRITTEN, "sw", "17.9")
    (trunk,) = plan.interfaces
    assert trunk.name == TRUNK
    assert trunk.egress.scheduler is not None
    assert trunk.egress.scheduler.discipline is Discipline.LLQ_CBWFQ
    first, low, rest = trunk.egress.scheduler.queues
    assert (first.level, first.capped, first.share) == (1, True, Share(unit=ShareUnit.PERCENT, value=10))
    assert low.buffer_percent == 10
    assert low.thresholds == (TailThreshold(dscp=(8, 14), percent=80), TailThreshold(dscp=(10,), percent=100))
    assert rest.share == Share(unit=ShareUnit.REMAINING_PERCENT, value=25)
    assert trunk.ingress.rules[0].set_qos_group == 4
    assert trunk.ingress.rules[0].police == Policer(rate=1_000_000, burst=31_250, exceed=DROP)
    assert [u.text for u in plan.unknown] == [
        "match vlan 5",
        "qos queue-softmax-multiplier 1200",
        "service-policy input IN",
    ]


def test_an_input_policer_at_a_percentage_is_kept_as_not_understood() -> None:
    """Plans of this family hold rates, and no input has one to take a part of."""
    policy = "policy-map IN\n class class-default\n  police rate percent 10\n"
    text = f"{policy}interface {LAN}\n service-policy input IN\n"
    plan = PLATFORM.parse(text, "sw", "17.12")
    assert [entry.text for entry in plan.unknown] == ["police rate percent 10"]
    (rule,) = plan.interfaces[0].ingress.rules
    assert rule.police is None


def test_a_written_configuration_is_told_and_compiles_back(box: Box) -> None:
    before = box.running_text()
    behind = {"apply": [{"interfaces": "trunk", "direction": "output"}]}
    inverse = pushed(box, made(VOICE, VIDEO, REST, running=before, **behind))
    read = read_configuration(box.running_text(), "sw.cfg")
    recognised = (read.platform, read.device, read.images, read.family.driver)
    assert recognised == ("catalyst_9000", "sw", ("17.12",), "ios")
    imported = import_configurations([read], "imported")
    assert "import-not-expressed" not in {f.code for f in imported.findings}
    assert box.configure(inverse) == []


def test_a_port_without_a_policy_is_best_effort() -> None:
    (entry,) = PLATFORM.parse(f"interface {LAN}\n", "sw", "17.12").interfaces
    assert entry.egress.scheduler is not None
    assert entry.egress.scheduler.discipline is Discipline.FIFO
    assert entry.ingress.policy is None


SAMPLE = SAMPLES / "others" / "c9300l-2p6q3t.txt"


@pytest.mark.samples
def test_a_published_configuration_is_understood_as_a_whole() -> None:
    text = SAMPLE.read_text(encoding="utf-8") + f"interface {TRUNK}\n service-policy output 2P6Q3T\n"
    plan = PLATFORM.parse(text, "sw", "17.12")
    assert plan.unknown == ()
    assert plan.interfaces[0].egress.scheduler is not None
    assert len(plan.interfaces[0].egress.scheduler.queues) == 8


# -- counters ------------------------------------------------------------------------------------------------
def test_counters_are_read_as_the_box_shows_them(box: Box) -> None:
    device = made(VOICE, WEB, REST)
    inverse = pushed(box, device)
    web, voice = Packets(50, 400, protocol=6, dst_port=80), Packets(100, 200, dscp=46)
    for out in (TRUNK, CONTRACTED):
        box.offer(LAN, out, [web, voice], 1.0)
    box.offer(LAN, CONTRACTED, [Packets(50_000, 1000, dscp=46)], 1.0)
    (command,) = PLATFORM.counter_commands(device.plan)
    counts = PLATFORM.read_counters({command: box.new_shell("u").feed(command).text}, device.plan)
    told = {(c.interface, c.direction, c.queue): (c.packets, c.drops, c.priority) for c in counts}
    assert told == {
        (LAN, "input", "voice"): (50_200, None, None),
        (LAN, "input", "web"): (100, None, None),
        (LAN, "input", "class-default"): (0, None, None),
        (TRUNK, "output", "voice.Q"): (100, 0, True),
        (TRUNK, "output", "web.Q"): (50, 0, False),
        (TRUNK, "output", "class-default"): (0, 0, False),
        # A second of 10 Mb/s and its burst of 200 ms are 1500 of these packets.
        (CONTRACTED, "output", "voice.Q"): (50_100, 48_500, True),
        (CONTRACTED, "output", "web.Q"): (50, 0, False),
        (CONTRACTED, "output", "class-default"): (0, 0, False),
    }
    assert box.configure(inverse) == []
    box.clear_counters()


@pytest.mark.parametrize(
    "answer",
    [
        "    Class-map: a (match-any)\n      0 packets\n",
        f" {LAN}\n  Service-policy input: P\n    Class-map: a (match-any)\n",
    ],
)
def test_counters_that_stand_nowhere_are_refused(answer: str) -> None:
    plan = made(VOICE, REST).plan
    with pytest.raises(ValueError, match="class a"):
        PLATFORM.read_counters({"show policy-map interface": answer}, plan)


def test_without_a_policy_there_is_nothing_to_ask() -> None:
    assert PLATFORM.counter_commands(PLATFORM.parse(STARTUP, "sw", "17.12")) == ()


def test_network_control_that_no_class_has_is_told_beside_the_default_class() -> None:
    told = finding(compilation(VOICE, WEB, REST), "network-control-queue")
    assert told.facts == {"control": "DSCP 48, 56", "classes": "default"}

    routing = marked("routing", "cs6", bandwidth={"remaining_percent": 5})
    both = {**routing, "match": {"any": [{"dscp": ["cs6", "cs7"]}]}}
    found = compilation(VOICE, both, REST).findings
    assert "network-control-queue" not in {f.code for f in found}
