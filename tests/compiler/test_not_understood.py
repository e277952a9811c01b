"""What a change does beside lines that are not understood, and beside sides that the intent does not name."""

from __future__ import annotations

from typing import Any

import pytest

from qosforge.compiler.candidate import make_candidate, plan_differences
from qosforge.compiler.compile import CompiledDevice, compile_intent
from qosforge.findings import Finding, Severity
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Interface, Network

from .support import ROOT, a_class, device, emulated, made, routers, startup

HELD = """\
class-map match-any voice
 match protocol http
policy-map WAN
 class voice
  priority percent 10
  set frobnication 5
interface Serial0/0
 service-policy output WAN
"""
VOICE = a_class("voice", treatment={"priority": {"percent": 20}})


def compiled(more: str, **scope: str) -> tuple[CompiledDevice, str]:
    """R1 with more lines in its configuration, and the voice class served on its serial line."""
    text = startup("r1") + more
    intent = made([VOICE], apply=[{"devices": "r1", "ports": "Serial0/0", "direction": "output", **scope}])
    return device(compile_intent(intent, routers(), {"r1": text}), "r1"), text


def affected(found: CompiledDevice) -> list[Finding]:
    return [f for f in found.findings if f.code == "not-understood-affected"]


def test_a_value_changes_beside_a_line_that_is_not_understood() -> None:
    found, text = compiled(HELD, policy="WAN")

    assert affected(found) == []
    assert "set frobnication 5" in " ".join(f.message for f in found.findings)
    assert make_candidate(found, text).delta == ("policy-map WAN", " class voice", "  priority percent 20")


def test_a_class_that_would_take_such_a_line_with_it_stands_against_the_change() -> None:
    found, _ = compiled(HELD.replace("class voice", "class video").replace("any voice", "any video"), policy="WAN")

    (taken,) = affected(found)
    assert (taken.severity, taken.device) == (Severity.ERROR, "r1")
    assert taken.message == "'set frobnication 5' is not understood, and 'no class video' would take it away"


def test_a_policy_of_another_name_would_put_such_a_line_out_of_effect() -> None:
    found, _ = compiled(HELD)

    (left,) = affected(found)
    assert left.variant == "detached"
    assert "interface Serial0/0 output" in left.message


def test_a_class_with_a_condition_that_is_not_understood_is_not_ours() -> None:
    text = HELD.replace(" match protocol http\n", " match protocol http\n match frobnication 3\n")
    found, _ = compiled(text, policy="WAN")

    (unknown,) = affected(found)
    assert unknown.variant == "condition"
    assert "class-map voice" in unknown.message


def test_a_port_of_a_5510_does_not_leave_the_group_of_such_a_policy() -> None:
    group = "qos if-group name desks class unrestricted\nqos if-assign port 1-48 name desks\n"
    policy = "qos policy 1 name p if-group desks clfr-type classifier clfr-id 1 non-match-action 3\n"
    intent = load_intent(ROOT / "policies/campus-collaboration.yaml")
    causes = {}
    for more in (group + policy, group):
        running = {"ers5510": startup("ers5510") + more}
        found = device(compile_intent(intent, load_network(ROOT / "inventories/campus"), running), "ers5510")
        causes[more] = [(f.variant, "if-group desks" in f.message) for f in affected(found)]
    assert causes == {group + policy: [("detached", True)], group: []}


LAN = """\
policy-map LAN
 class class-default
  set dscp af21
interface Serial0/0
 service-policy input LAN
"""


def test_a_side_that_no_scope_names_keeps_its_policy() -> None:
    box = emulated("r1")
    assert box.configure(LAN.splitlines()) == []
    before = box.running_text()
    network = routers()
    intent = made([VOICE], apply=[{"devices": "r1", "ports": "Serial0/0", "direction": "output"}])
    found = device(compile_intent(intent, network, {"r1": before}), "r1")
    (left,) = (f for f in found.findings if f.code == "policy-left")

    assert (left.interface, left.direction, left.severity) == ("Serial0/0", "input", Severity.INFO)
    candidate = make_candidate(found, before)
    assert box.configure(candidate.delta) == []
    assert " service-policy input LAN" in box.running_text().splitlines()
    assert plan_differences(found, box.running_text()) == ()
    assert box.configure(candidate.inverse) == []
    assert box.running_text() == before


LINK = """\
access-list 101 permit udp any any
interface Serial0/0
 ip rtp header-compression
 ip mtu 600
 tx-ring-limit 7
 rate-limit output access-group 101 8000 1500 2000 conform-action transmit exceed-action drop
"""


def test_a_side_that_no_scope_names_keeps_what_it_does_to_the_link() -> None:
    box = emulated("r1")
    assert box.configure(LINK.splitlines()) == []
    before = box.running_text()
    marked = a_class("voice", mark={"dscp": "ef"}, treatment={"priority": {"percent": 20}})
    intent = made([marked], apply=[{"devices": "r1", "ports": "Serial0/0", "direction": "input"}])
    found = device(compile_intent(intent, with_lan("r1", "Serial0/0"), {"r1": before}), "r1")
    (left,) = (f for f in found.findings if f.code == "policy-left")

    assert (left.interface, left.direction, left.variant) == ("Serial0/0", "output", "lines")
    assert "header compression and fragments and the transmit ring and rate limits stay" in left.message
    candidate = make_candidate(found, before)
    assert [line for line in candidate.delta if " no " in line] == []
    assert " service-policy input QOSFORGE-IN" in candidate.delta
    assert box.configure(candidate.delta) == []
    held = {line.strip() for line in box.running_text().splitlines()}
    assert {line.strip() for line in LINK.splitlines()} <= held
    assert plan_differences(found, box.running_text()) == ()


OTHERS = "ip cef\npolicy-map OTHERS\n class class-default\n  bandwidth 100\n"
PVC = """\
interface ATM1/0
 no ip address
interface ATM1/0.5 point-to-point
 ip address 192.0.2.1 255.255.255.252
 pvc 1/5
  vbr-nrt 2000 2000 1
  tx-ring-limit 7
  service-policy output OTHERS
"""
DLCI = """\
map-class frame-relay THEIRS
 frame-relay cir 512000
 frame-relay mincir 512000
 frame-relay fragment 640
 service-policy output OTHERS
interface Serial0/3
 encapsulation frame-relay
 frame-relay traffic-shaping
interface Serial0/3.5 point-to-point
 ip address 192.0.2.1 255.255.255.252
 frame-relay interface-dlci 55
  class THEIRS
 frame-relay ip rtp header-compression
"""
CIRCUITS = {
    "ATM1/0.5": (PVC, {"rate": 2_000_000, "encapsulation": "atm", "circuit": {"vpi": 1, "vci": 5}}),
    "Serial0/3.5": (DLCI, {"rate": 512_000, "encapsulation": "frame-relay", "circuit": {"dlci": 55}}),
}


@pytest.mark.parametrize("port", CIRCUITS)
@pytest.mark.parametrize("policy", [" service-policy output OTHERS\n", ""])
def test_a_circuit_that_no_scope_names_for_output_keeps_what_it_has(port: str, policy: str) -> None:
    written, facts = CIRCUITS[port]
    box = emulated("r1", (OTHERS + written.replace(" service-policy output OTHERS\n", policy)))
    text = box.running_text()
    marked = a_class("voice", mark={"dscp": "ef"}, treatment={"priority": {"percent": 20}})
    intent = made([marked], apply=[{"devices": "r1", "ports": port, "direction": "input"}])
    found = device(compile_intent(intent, with_lan("r1", port, **facts), {"r1": text}), "r1")

    delta = make_candidate(found, text).delta
    assert "service-policy input QOSFORGE-IN" in {line.strip() for line in delta}
    assert [line for line in delta if " no " in line] == []
    assert [f.code for f in found.findings if f.interface == port] == ["policy-left"]
    assert box.configure(delta) == []
    assert plan_differences(found, box.running_text()) == ()


def with_lan(name: str, port: str, **more: Any) -> Network:
    """The routers, one of them with this interface as a boundary, where classes are recognised."""
    network = routers()
    held = network.device(name)
    there = next((i for i in held.interfaces if i.name == port), None)
    lan = there.model_copy(update={"tags": frozenset({"lan"})}) if there else None
    lan = lan or Interface.model_validate({"name": port, "role": "edge", "tags": ["lan"], **more})
    others = tuple(i for i in held.interfaces if i.name != port)
    changed = held.model_copy(update={"interfaces": (*others, lan)})
    devices = tuple(changed if d.name == name else d for d in network.devices)
    return network.model_copy(update={"devices": devices})


def test_a_policy_of_ours_goes_with_its_scope() -> None:
    box = emulated("r1")
    marking = a_class("voice", match={"any": [{"dscp": "ef"}]}, mark={"dscp": "cs5"})
    both = [{"devices": "r1", "ports": "FastEthernet0/0", "direction": way} for way in ("input", "output")]
    for scopes in (both, both[1:]):
        running = box.running_text()
        found = device(compile_intent(made([marking], apply=scopes), routers(), {"r1": running}), "r1")
        assert box.configure(make_candidate(found, running).delta) == []

    assert "service-policy input" not in box.running_text()
