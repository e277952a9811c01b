"""What a change does beside lines that are not understood, and beside sides that the intent does not name."""

from __future__ import annotations

from qosforge.compiler.candidate import make_candidate, plan_differences
from qosforge.compiler.compile import CompiledDevice, compile_intent
from qosforge.findings import Finding, Severity
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network

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


def test_a_policy_of_ours_goes_with_its_scope() -> None:
    box = emulated("r1")
    marking = a_class("voice", match={"any": [{"dscp": "ef"}]}, mark={"dscp": "cs5"})
    both = [{"devices": "r1", "ports": "FastEthernet0/0", "direction": way} for way in ("input", "output")]
    for scopes in (both, both[1:]):
        running = box.running_text()
        found = device(compile_intent(made([marking], apply=scopes), routers(), {"r1": running}), "r1")
        assert box.configure(make_candidate(found, running).delta) == []

    assert "service-policy input" not in box.running_text()
