"""Sides of interfaces that no intent is for, what stands against an import, and texts as devices and people lay
them out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from qosforge.findings import has_errors
from qosforge.importing import ImportResult
from qosforge.importing.candidate_intent import drop_invalid
from qosforge.plan.early_drop import RedProfile
from qosforge.platforms.base import platform

from .support import imported, told

FRAGMENTS = Path(__file__).parent / "configurations"


def fragment(name: str, **given: str) -> ImportResult:
    return imported((FRAGMENTS / f"{name}.cfg").read_text(encoding="utf-8"), **given)


def scopes(found: ImportResult) -> Mapping[str, tuple[str, ...]]:
    """The ports of each side that an intent is for."""
    return {
        f"{intent.name} {scope.direction}": scope.ports
        for intent in found.intents
        for scope in intent.loaded.intent.apply
    }


def left_out(found: ImportResult) -> list[tuple[str | None, str | None, str]]:
    return [(f.interface, f.direction, f.message) for f in found.findings if f.code == "import-side-left-out"]


def test_a_side_with_a_line_that_is_not_understood_gets_nothing_of_its_neighbour() -> None:
    text = (FRAGMENTS / "m19.cfg").read_text(encoding="utf-8")
    assert scopes(imported(text)) == {"made input": ("Serial0/0",), "made-2 input": ("Serial0/1",)}
    found = imported(text.replace("set mpls experimental topmost 2", "set discard-class 2"))
    assert scopes(found) == {"made input": ("Serial0/0",)}
    assert left_out(found) == [
        ("Serial0/1", "input", "not in the intent: line 12 takes part in it and is not understood")
    ]
    assert has_errors(found.findings)


def test_marks_that_a_table_keeps_are_not_those_of_a_phone() -> None:
    found = fragment("c9k")
    classes = {
        scope.ports: [c.name for c in intent.loaded.intent.classes if c.match is not None]
        for intent in found.intents
        for scope in intent.loaded.intent.apply
    }
    # The other port trusts what arrives, as it does without a policy: nothing of it is in an intent.
    assert classes == {("TenGigabitEthernet1/0/13",): ["V"]}


def test_all_interfaces_that_share_what_is_not_understood_are_left_out() -> None:
    text = "version 15.1\nhostname R1\nip access-list extended A\n permit tcp any any established\n"
    text += "class-map match-any X\n match access-group name A\nclass-map match-any Y\n match ip dscp ef\n"
    for policy, name in (("P", "X"), ("Q", "Y")):
        text += f"policy-map {policy}\n class {name}\n  bandwidth percent 10\n"
    for port, policy in (("0/0", "P"), ("0/1", "Q"), ("0/2", "P")):
        text += f"interface Serial{port}\n service-policy output {policy}\n"
    found = imported(text)
    assert scopes(found) == {"made output": ("Serial0/1",)}
    assert left_out(found) == [
        ("Serial0/0, Serial0/2", "output", "not in the intent: line 4 takes part in it and is not understood")
    ]


STACK = """\
! Model = Ethernet Routing Switch 5510-24T
! Software version = v5.1.0.014
qos agent queue-set 4
qos if-group name desks class unrestricted
qos if-group name rooms class trusted
qos if-assign port 1/3-4 name desks
qos if-assign port 1/5-6 name rooms
qos ip-element 1 protocol 17
qos classifier 1 set-id 1 name c1 element-type ip element-id 1
"""


@pytest.mark.parametrize(
    ("line", "ports"),
    [
        ('qos policy 1 name "p" if-group "desks" clfr-type classifier clfr-id 1 non-match-action 3', "1/3, 1/4"),
        ("qos policy 1 port 1/6 clfr-type classifier clfr-id 1 in-profile-action 5 non-match-action 3", "1/6"),
        ("qos acl-assign port 1/4-1/5 acl-type ip name guests", "1/4, 1/5"),
    ],
)
def test_ports_of_a_5510_are_left_out_whose_policies_are_not_understood(line: str, ports: str) -> None:
    found = imported(f"{STACK}{line}\n")
    why = "not in the intent: line 10 takes part in it and is not understood"
    assert left_out(found) == [(ports, "input", why)]
    inputs = [port for side, held in scopes(found).items() if side.endswith(" input") for port in held]
    assert not {*inputs} & {*ports.split(", ")}


TEMPLATES = {
    "catalyst_2970": "mls qos\ntemplate DESK\n switchport mode access\n mls qos trust dscp\n priority-queue out\n",
    "catalyst_9000": "policy-map P\n class class-default\n  set cos 1\ntemplate DESK\n service-policy input P\n",
}


@pytest.mark.parametrize("platform_id", TEMPLATES)
def test_lines_of_a_template_are_those_of_its_ports(platform_id: str) -> None:
    text = f"{TEMPLATES[platform_id]}interface GigabitEthernet1/0/1\n source template DESK\n"
    found = imported(f"hostname S\n{text}", platform_id=platform_id)
    assert not found.intents
    sides = {(interface, direction) for interface, direction, _ in left_out(found)}
    assert ("GigabitEthernet1/0/1", "input") in sides
    lines = [f.message for f in found.findings if "template DESK" in f.message]
    assert len(lines) == text.count("priority-queue") + text.count("trust") + text.count("service-policy")


def test_a_port_that_leaves_its_input_to_its_vlan_is_left_out() -> None:
    text = "mls qos\nclass-map V\n match ip dscp ef\npolicy-map P\n class V\n  set dscp ef\n"
    for port, more in (("1", " mls qos vlan-based\n"), ("2", "")):
        text += f"interface GigabitEthernet0/{port}\n service-policy input P\n{more}"
    found = imported(text, platform_id="catalyst_2970")
    assert [(port, side) for port, side, _ in left_out(found)] == [("GigabitEthernet0/1", "input")]
    assert scopes(found)["made input"] == ("GigabitEthernet0/2",)


@pytest.mark.parametrize("name", ["m8", "m17", "m18"])
def test_a_side_without_a_policy_gets_none(name: str) -> None:
    found = fragment(name)
    assert not found.intents
    assert [message for _, _, message in left_out(found)] == [
        "not in the intent: it has no policy, and an intent would attach one"
    ]
    assert "import-nothing" in {f.code for f in found.findings}


def test_an_ip_mtu_of_a_tunnel_is_no_fragmentation() -> None:
    found = fragment("m10")
    assert not found.intents
    assert "1452" not in "".join(f.message for f in found.findings)


def test_lines_that_no_interface_acts_on_are_named_all_the_same() -> None:
    told = [f.message for f in fragment("m5").findings]
    for line in ("fair-queue 64 256 0", "ip rtp priority 16384 16383 200", "priority-group 15"):
        assert any(line in message for message in told)


def test_a_policer_that_an_intent_loses_is_an_error() -> None:
    found = fragment("m18", image="12.0(7)T")
    (list_102,) = found.intents[0].loaded.intent.classes[:1]
    assert list_102.treatment.police is not None
    assert [(f.code, f.variant) for f in found.findings if f.severity == "error"] == [
        ("import-does-not-compile", "default"),
        ("import-not-expressed", "loses"),
    ]


def test_policers_by_one_access_list_are_a_class_each() -> None:
    text = "version 12.0\nhostname R1\ninterface Serial0/0\n"
    for number, rate in ((101, 400_000), (102, 160_000), (101, 200_000)):
        text += f" rate-limit input access-group {number} {rate} 25000 25000 "
        text += "conform-action transmit exceed-action drop\n"
    text += "access-list 101 permit tcp any any eq www\naccess-list 102 permit tcp any any eq ftp\n"
    found = imported(text, image="12.0(7)T")
    assert told(found) == []
    classes = [(c.name, c.treatment.police) for c in found.intents[0].loaded.intent.classes]
    assert [(name, police.rate) for name, police in classes if police is not None] == [
        ("list-101", 400_000),
        ("list-102", 160_000),
        ("list-101-3", 200_000),
    ]


@pytest.mark.parametrize(
    ("name", "image", "line"),
    [("m18", "12.0(7)T", "interface Serial0/0"), ("m20", "12.0(7)T", "policy-map VoIPoFR")],
)
def test_a_difference_names_the_line_that_it_is_about(name: str, image: str, line: str) -> None:
    lines = (FRAGMENTS / f"{name}.cfg").read_text(encoding="utf-8").splitlines()
    found = fragment(name, image=image)
    assert {f.line for f in found.findings if f.variant == "loses"} == {1 + lines.index(line)}


def test_an_intent_that_does_not_compile_is_an_error() -> None:
    text = "version 12.2\nhostname R1\nclass-map match-any V\n match ip dscp ef\npolicy-map P\n class V\n"
    found = imported(text + "  priority\ninterface Serial0/0\n service-policy output P\n")
    error = next(f for f in found.findings if f.code == "import-does-not-compile")
    assert (error.severity, error.traffic_class) == ("error", "V")
    assert error.message.startswith("intent made does not compile: priority-needs-cap: ")


def test_errors_that_arise_beside_the_running_configuration_alone_are_told() -> None:
    text = "version 15.1\nhostname R1\nclass-map match-any V\n match ip dscp ef\nclass-map match-any W\n"
    text += " match access-group name ABSENT\npolicy-map P\n class V\n  priority percent 10\n class W\n"
    text += "  bandwidth percent 10\ninterface Serial0/0\n service-policy output P\n"
    error = next(f for f in imported(text).findings if f.code == "import-does-not-compile")
    assert (error.severity, error.variant) == ("error", "beside")
    assert "beside what the device runs: not-understood-affected: 'match access-group name ABSENT'" in error.message


def test_what_a_push_leaves_is_told_beside_what_the_intent_compiles_to() -> None:
    text = "version 15.1\nhostname R1\nclass-map match-any V\n match ip dscp ef\npolicy-map P\n class V\n"
    text += "  priority percent 10\ninterface Serial0/0\n service-policy output P\n"
    (left,) = (f for f in imported(text).findings if f.variant == "left-as-it-is")
    assert (left.requested, left.applied) == ("no", "yes")


def test_classes_told_in_ipv4_are_a_warning_where_the_device_has_ipv6() -> None:
    text = "version 15.1\nhostname R1\nclass-map match-any V\n match ip dscp ef\npolicy-map P\n class V\n"
    text += "  priority percent 10\ninterface Serial0/0\n service-policy output P\n"
    severities = [
        [(f.variant, str(f.severity)) for f in imported(text + more).findings if f.line is not None]
        for more in ("", "ipv6 unicast-routing\n")
    ]
    assert severities == [[("left-as-it-is", "info")], [("versions", "warning")]]


def test_a_side_that_loses_something_is_in_an_intent_of_its_own() -> None:
    text = "version 15.1\nhostname R1\nclass-map match-any V\n match dscp ef\nclass-map match-any W\n"
    text += " match protocol frobnicate\n"
    for policy in ("P", "Q", "R"):
        text += f"policy-map {policy}\n class V\n  priority percent 10\n"
    text += " class W\n  police cir 64000 bc 8000\n"
    for port, policy in enumerate("PQR"):
        text += f"interface Serial0/{port}\n service-policy output {policy}\n"
    found = imported(text)
    losing = {f.interface for f in found.findings if f.variant == "loses"}
    assert losing == {"Serial0/2"}
    every = [scope.ports for intent in found.intents for scope in intent.loaded.intent.apply]
    assert sorted(port for ports in every for port in ports) == ["Serial0/0", "Serial0/1", "Serial0/2"]
    apart = [{p for scope in i.loaded.intent.apply for p in scope.ports} for i in found.intents]
    assert sorted(map(sorted, apart)) == [["Serial0/0", "Serial0/1"], ["Serial0/2"]]


def test_a_detector_one_deeper_than_the_line_before_it_is_that_of_the_class() -> None:
    plan = platform("cisco_ios").parse((FRAGMENTS / "m1.cfg").read_text(encoding="utf-8"), "R1", "15.0")
    scheduler = plan.interfaces[0].egress.scheduler
    assert scheduler is not None
    first, rest = (queue.red for queue in scheduler.queues)
    assert first is not None
    assert first.by_dscp
    assert rest is not None
    assert not rest.by_dscp
    assert any(isinstance(profile, RedProfile) and 18 in profile.dscp for profile in first.profiles)
    assert plan.unknown == ()


def test_the_curves_of_a_class_are_those_of_its_own_code_points() -> None:
    (intent,) = fragment("m11").intents
    assert "wred: {profiles: [{dscp: [af21], minimum: 24 packets, maximum: 40 packets}]}" in intent.text


SESSION = """\
hostname R1
version 15.1
R1(config)# class-map match-any V
R1(config-cmap)# match ip dscp ef
R1(config-cmap)# policy-map P
R1(config-pmap)# class V
R1(config-pmap-c)# priority percent 10
R1(config-pmap-c)# class class-default
R1(config-pmap-c)# fair-queue
R1(config-pmap-c)# interface Serial0/0
R1(config-if)# service-policy output P
"""
LEFT_BY_EXIT = """\
hostname R1
version 15.1
class-map match-any V
match ip dscp ef
exit
policy-map P
class V
priority percent 10
exit
class class-default
fair-queue
exit
exit
interface Serial0/0
service-policy output P
exit
"""
ONE_INDENTED = """\
hostname R1
version 15.1
class-map match-any V
match ip dscp ef
policy-map P
class V
  priority percent 10
class class-default
fair-queue
interface Serial0/0
service-policy output P
"""
LAID_OUT = """\
hostname R1
version 15.1
class-map match-any V
 match ip dscp ef
policy-map P
 class V
    priority percent 10
 class class-default
    fair-queue
interface Serial0/0
 service-policy output P
"""


def test_modes_whose_prompts_do_not_tell_how_deep_they_are() -> None:
    session = """\
hostname R1
R1(config)# policy-map P
R1(config-pmap)# class class-default
R1(config-pmap-c)# police cir 64000 bc 8000
R1(config-pmap-c-police)# conform-action set-dscp-transmit af31
R1(config-pmap-c-police)# map-class frame-relay M
R1(config-map-class)# frame-relay cir 64000
R1(config-map-class)# service-policy output P
R1(config-map-class)# interface Serial0/0
R1(config-if)# frame-relay traffic-shaping
R1(config-if)# interface Serial0/0.1 point-to-point
R1(config-subif)# frame-relay interface-dlci 100
R1(config-fr-dlci)# class M
"""
    plan = platform("cisco_ios").parse(session, "R1", "12.4")
    circuit = plan.interface("Serial0/0.1")
    assert circuit is not None
    assert circuit.egress.policy == "P"
    (rule,) = circuit.egress.rules
    assert rule.police is not None
    assert rule.police.conform.set_dscp == 26
    assert plan.unknown == ()


@pytest.mark.parametrize("text", [SESSION, LEFT_BY_EXIT, ONE_INDENTED], ids=["session", "exit", "one indented"])
def test_texts_that_say_the_same_read_the_same(text: str) -> None:
    read = platform("cisco_ios").parse
    held = read(LAID_OUT, "R1", "15.1")
    assert held.interfaces[0].egress.policy == "P"
    assert read(text, "R1", "15.1") == held


def test_a_version_decides_between_platforms_that_say_a_thing_alike() -> None:
    text = (FRAGMENTS / "m2.cfg").read_text(encoding="utf-8")
    assert "platform: cisco_ios" in imported(text).files["hosts.yaml"]
    assert "platform: catalyst_9000" in imported(text.replace("15.1", "16.12")).files["hosts.yaml"]


def shaped(version: str, port: str, kbps: int) -> str:
    """A port with a contract that a policy shapes it to, and two classes inside."""
    return (
        f"{version}hostname R1\nclass-map match-any V\n match ip dscp ef\n"
        "policy-map INNER\n class V\n  priority 16\n"
        f"policy-map P\n class class-default\n  shape average {kbps * 1000}\n  service-policy INNER\n"
        f"interface {port}\n bandwidth {kbps}\n service-policy output P\n"
    )


@pytest.mark.parametrize("port", ["GigabitEthernet0/1", "Serial0/1"])
def test_a_port_that_is_shaped_to_the_rate_it_states_has_a_contract(port: str) -> None:
    found = imported(shaped("version 15.1\n", port, 1024))
    assert not told(found)
    (device,) = found.network.devices
    (interface,) = device.interfaces
    assert interface.contracted == 1_024_000
    assert interface.rate > 1_024_000


def test_the_image_that_is_taken_refuses_nothing_of_what_the_device_has() -> None:
    found = imported(shaped("", "Serial0/1", 64))
    assert not has_errors(found.findings)
    assert "the configuration does not state its image" in {f.message for f in found.findings}


@pytest.mark.parametrize(
    "line",
    [  # as the interfaces of other boxes, and of switches in routers, have them
        *("platform qos trust none remark", "shape rate 2000000", "srr-queue bandwidth share 1 30 35 5"),
        *("wrr-queue cos-map 4 5", "priority-queue out", "queue-set 2", "qos trust cos"),
    ],
)
def test_queueing_of_other_boxes_below_an_interface_is_named(line: str) -> None:
    text = f"version 15.1\nhostname R1\ninterface FastEthernet0/0\n {line}\n"
    found = imported(text, platform_id="cisco_ios")
    assert [f.line for f in found.findings if f"{line!r} (in interface FastEthernet0/0)" in f.message] == [4]


@pytest.mark.parametrize("ports", ["range 40000 30000", "lt 0", "gt 65535"])
def test_an_entry_of_no_port_is_not_one_of_any(ports: str) -> None:
    """Without its ports the entry would put all datagrams into the class of priority."""
    text = f"""\
ip access-list extended CALLS
 permit udp any any {ports}
class-map match-any CALLS
 match access-group name CALLS
policy-map WAN
 class CALLS
  priority percent 20
interface Serial0/0
 service-policy output WAN
"""
    found = imported(text)
    assert not found.intents
    assert left_out(found) == [
        ("Serial0/0", "output", "not in the intent: line 2 takes part in it and is not understood")
    ]


def test_a_match_without_a_word_for_one_of_its_conditions_is_left_out_whole() -> None:
    notes: list[str] = []
    words = {
        "name": "calls",
        "match": {"any": [{"protocol": "udp", "destination_port": "9-1"}, {"dscp": "ef"}]},
    }
    assert drop_invalid(words, notes.append) == {"name": "calls", "match": {"any": [{"dscp": "ef"}]}}
    (told_once,) = notes
    assert told_once.startswith("match.any.0.destination_port: ")


@pytest.mark.parametrize("quantor", ["any", "all", "none"])
def test_a_match_of_nothing_else_is_left_out_with_one_note(quantor: str) -> None:
    notes: list[str] = []
    words = {
        "name": "calls",
        "match": {quantor: [{"protocol": "udp", "destination_port": "9-1"}]},
        "treatment": {"priority": True},
    }
    left = {"name": "calls", "treatment": {"priority": True}}
    assert drop_invalid(words, notes.append) == left
    (told_once,) = notes
    assert told_once.startswith(f"match.{quantor}.0.destination_port: ")


@pytest.mark.parametrize("quantor", ["all", "none"])
def test_conditions_that_hold_together_are_left_out_together(quantor: str) -> None:
    """Without one of ``all`` or of ``none`` a class would take packets that the device does not."""
    notes: list[str] = []
    words = {
        "name": "calls",
        "match": {
            quantor: [{"protocol": "udp", "destination_port": "9-1"}, {"dscp": "ef"}],
            "any": [{"dscp": "af41"}],
        },
    }
    assert drop_invalid(words, notes.append) == {"name": "calls"}
    assert len(notes) == 1
