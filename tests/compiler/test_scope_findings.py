"""Where an intent applies: selectors of scopes against an inventory, and what resolving makes of them."""

from __future__ import annotations

from typing import Any

import pytest

from qosforge.compiler.compile import compile_intent
from qosforge.compiler.resolve import resolve
from qosforge.findings import Finding, Severity
from qosforge.intent.loader import parse_intent
from qosforge.inventory.models import Circuit, Device, DeviceRole, Framing, Interface, Link, Network
from qosforge.plan.request import DeviceRequest

from .support import a_class, made


def port(name: str, **more: Any) -> Interface:
    plain: dict[str, Any] = {"rate": 100_000_000, "role": DeviceRole.ACCESS, "tags": {"lan"}}
    return Interface.model_validate({"name": name, **plain, **more})


def network(*interfaces: Interface, role: DeviceRole = DeviceRole.EDGE, **more: Any) -> Network:
    device = Device(
        name="sw1", platform="cisco_ios", image="12.4", role=role, driver="ios", interfaces=interfaces, **more
    )
    other = device.model_copy(update={"name": "sw2"})
    return Network(name="made", devices=(device, other), links=(), stations=())


def requested(apply: list[dict[str, Any]], *interfaces: Interface, **more: Any) -> list[DeviceRequest]:
    return list(resolve(made([a_class()], apply=apply, **more), network(*interfaces))[0])


def told(apply: list[dict[str, Any]], *interfaces: Interface) -> list[Finding]:
    return list(resolve(made([a_class()], apply=apply), network(*interfaces))[1])


PORTS = (
    port("1", vlans=(10,), voice_vlan=110),
    port("2", vlans=(20,), lag="Port-channel1"),
    port("3", role=DeviceRole.EDGE, tags={"wan"}),
)


@pytest.mark.parametrize(
    ("scope", "names"),
    [
        ({"role": "edge"}, ["3", "3"]),
        ({"interfaces": "lan"}, ["1", "2", "1", "2"]),
        ({"devices": "sw2"}, ["1", "2", "3"]),
        ({"ports": ["1", "3"]}, ["1", "3", "1", "3"]),
        ({"ports": "Port-channel1"}, ["2", "2"]),
        ({"vlan": 10}, ["1", "1"]),
        ({"vlan": [110, 20]}, ["1", "2", "1", "2"]),
        ({"role": "access", "devices": "sw1", "vlan": 20}, ["2"]),
    ],
)
def test_all_selectors_of_a_scope_hold(scope: dict[str, Any], names: list[str]) -> None:
    requests = requested([{**scope, "direction": "output"}], *PORTS)

    assert [i.name for r in requests for i in r.interfaces] == names
    assert all(i.schedule for r in requests for i in r.interfaces)


def test_a_name_that_the_network_does_not_have_is_told_with_the_nearest() -> None:
    (finding,) = told([{"devices": ["sw1", "swl"], "direction": "output"}], *PORTS)

    assert (finding.code, finding.severity, finding.line) == ("scope-unknown-name", Severity.WARNING, 1)
    assert "devices 'swl'" in finding.message
    assert finding.hint == "did you mean 'sw2'?"


@pytest.mark.parametrize(("tag", "hint"), [("wan", None), ("lann", "did you mean 'lan'?")])
def test_a_word_that_scopes_name_themselves_is_meant_by_slips_only(tag: str, hint: str | None) -> None:
    scopes = [{"interfaces": ["lan"], "direction": "output"}, {"interfaces": [tag], "direction": "input"}]

    (finding,) = told(scopes, port("1"))

    assert finding.code == "scope-unknown-name"
    assert f"has the tag '{tag}': this scope has no ports there" in finding.message
    assert finding.hint == (hint or "give ports the tag in hosts.yaml, or take it out of the scope's interfaces")


def test_a_tag_beside_one_that_ports_have_leaves_the_scope_its_ports() -> None:
    (finding,) = told([{"interfaces": ["lan", "wan"], "direction": "output"}], port("1"))

    assert finding.code == "scope-unknown-name"
    assert finding.message.endswith("has the tag 'wan'")


def test_a_scope_that_meets_no_interface_is_told_beside_one_that_does() -> None:
    scopes = [{"vlan": 10, "direction": "output"}, {"vlan": 11, "ports": "1", "direction": "output"}]

    (finding,) = told(scopes, *PORTS)

    assert finding.code == "scope-matches-nothing"
    assert "ports, vlan" in (finding.hint or "")


def test_scopes_that_give_one_interface_two_policies_are_an_error() -> None:
    scopes = [
        {"interfaces": "lan", "direction": "output", "policy": "A"},
        {"ports": "1", "direction": "output", "policy": "B", "shape": {"rate": "5 Mb/s"}},
        {"ports": "1", "direction": "input", "policy": "C"},
    ]

    found = told(scopes, *PORTS)

    assert [(f.code, f.device, f.interface, f.requested, f.applied) for f in found] == [
        ("scopes-disagree", "sw1", "1", "B", "A"),
        ("scopes-disagree", "sw2", "1", "B", "A"),
    ]


@pytest.mark.parametrize(
    ("contracted", "rate", "shape", "usable"),
    [
        (None, None, None, 100_000_000),
        (20_000_000, None, 20_000_000, 20_000_000),
        (None, "30 Mb/s", 30_000_000, 30_000_000),
        (20_000_000, "30 Mb/s", 20_000_000, 20_000_000),
        (None, "200 Mb/s", None, 100_000_000),
        (100_000_000, None, None, 100_000_000),
    ],
)
def test_a_port_is_shaped_where_its_contract_or_the_intent_is_below_its_rate(
    contracted: int | None, rate: str | None, shape: int | None, usable: int
) -> None:
    scope: dict[str, Any] = {"interfaces": "lan", "direction": "output"}
    if rate:
        scope["shape"] = {"rate": rate}

    request = requested([scope], port("1", contracted=contracted))[0]

    assert (request.interfaces[0].shape, request.interfaces[0].usable) == (shape, usable)


def test_what_only_arrives_is_not_shaped() -> None:
    request = requested([{"interfaces": "lan", "direction": "input"}], port("1", contracted=20_000_000))[0]

    assert request.interfaces[0].shape is None


def test_an_input_that_trusts_marks_does_not_recognise() -> None:
    apply = [
        {"interfaces": "lan", "direction": "input"},
        {"ports": "2", "direction": "input", "trust": "phone"},
    ]
    first, second = requested(apply, port("1"), port("2"))[0].interfaces

    assert (first.recognise, first.trust, first.trust_in) == (True, False, None)
    assert (second.recognise, second.trust, second.trust_in) == (False, True, "phone")


POLICE = {"rate": "1 Mb/s"}


@pytest.mark.parametrize(
    ("more", "severities"),
    [
        ({}, []),
        ({"mark": {"dscp": "af21"}}, [Severity.WARNING]),
        ({"treatment": {"police": POLICE}}, [Severity.ERROR]),
        ({"treatment": {"police": {**POLICE, "prefer": True}}}, [Severity.WARNING]),
        ({"treatment": {"police": {**POLICE, "direction": "output"}}}, []),
        ({"treatment": {"children": [a_class("inner", treatment={"police": POLICE})]}}, [Severity.ERROR]),
    ],
)
@pytest.mark.parametrize(
    "apply",
    [
        [{"ports": ["1", "3"], "direction": "output"}],
        [{"ports": "3", "direction": "input"}],
        [{"ports": "1", "direction": "input", "trust": "dscp"}],
    ],
)
def test_what_is_done_on_input_needs_an_input_that_recognises(
    apply: list[dict[str, Any]], more: dict[str, Any], severities: list[Severity]
) -> None:
    _, found = resolve(made([a_class(**more)], apply=apply), network(*PORTS))
    everywhere = [*apply, {"ports": "2", "direction": "input"}]
    _, recognised = resolve(made([a_class(**more)], apply=everywhere), network(*PORTS))

    assert [(f.code, f.severity, f.line) for f in found] == [("input-scope-missing", s, 1) for s in severities]
    assert {f.interface for f in recognised} <= {"3"}


@pytest.mark.parametrize(
    ("more", "variants"),
    [
        ({}, []),
        ({"mark": {"dscp": "af21"}}, [("unmarked-here", Severity.WARNING)]),
        ({"mark": {"dscp": "af21"}, "treatment": {"police": POLICE}}, [("unpoliced-here", Severity.ERROR)]),
        ({"treatment": {"police": {**POLICE, "prefer": True}}}, [("unpoliced-here", Severity.WARNING)]),
        ({"treatment": {"police": {**POLICE, "direction": "output"}}}, []),
    ],
)
def test_an_input_in_scope_that_recognises_nothing_is_told_whatever_others_do(
    more: dict[str, Any], variants: list[tuple[str, Severity]]
) -> None:
    inner = (
        port("trunk", tags={"cust"}),
        port("trunk.7", tags={"cust"}),
        port("member", tags={"cust"}, lag="trunk"),
    )
    ports = (port("lan"), port("customer", tags={"cust"}), *inner)
    link = Link(a=("sw1", "trunk"), b=("sw2", "trunk"), rate=100_000_000)
    connected = network(*ports).model_copy(update={"links": (link,)})
    apply = [{"interfaces": ["cust", "lan"], "direction": "input"}]
    trusting = [
        {"interfaces": "lan", "direction": "input"},
        {"interfaces": "cust", "direction": "input", "trust": "dscp"},
    ]

    _, found = resolve(made([a_class(**more)], apply=apply), connected)
    _, trusted = resolve(made([a_class(**more)], apply=trusting), connected)

    assert [(f.device, f.interface, f.variant, f.severity) for f in found] == [
        (device, "customer", *variant) for device in ("sw1", "sw2") for variant in variants
    ]
    assert trusted == ()


def test_an_interface_that_a_policy_has_no_lines_for_is_not_printed() -> None:
    apply = [{"interfaces": ["cust", "lan"], "direction": "input", "trust": "dscp"}]
    loaded = made([a_class(mark={"dscp": "af21"})], apply=[*apply, {"ports": "2", "direction": "output"}])

    compiled = compile_intent(loaded, network(*PORTS)).devices[0]

    assert "interface 2\n service-policy output" in compiled.text
    assert "interface 1" not in compiled.text
    assert {block.name for block in compiled.blocks if block.kind == "interface"} == {"1", "2"}


def test_every_default_of_a_tree_has_its_own_line() -> None:
    text = """\
version: 1
intent: made
classes:
  - name: gold
    match: {any: [{application: http}]}
    treatment:
      bandwidth: {remaining_percent: 50}
      children:
        - {name: inner, match: {any: [{dscp: ef}]}, treatment: {bandwidth: {percent: 50}}}
        - {name: default, treatment: {level: 3}}
apply:
  - {ports: "3", direction: output}
"""
    loaded = parse_intent(text, "made.yaml")

    (request, _), _ = resolve(loaded, network(*PORTS))
    told = {(f.traffic_class, f.line) for f in compile_intent(loaded, network(*PORTS)).findings if f.traffic_class}

    assert [(c.name, c.line) for c in request.classes] == [("gold", 4), ("default", None)]
    assert [(c.name, c.line) for c in request.classes[0].children] == [("inner", 9), ("default", 10)]
    assert ("default", 10) in told
    assert loaded.class_place("default") is None


@pytest.mark.parametrize(
    ("platform", "unnamed"), [("cisco_ios", []), ("nortel_5510", ["input", "output"]), ("force10_e300", [])]
)
def test_a_name_that_no_policy_of_the_box_can_have_is_told(platform: str, unnamed: list[str]) -> None:
    name = {"cisco_ios": "FastEthernet0/0", "nortel_5510": "1", "force10_e300": "GigabitEthernet 0/1"}[platform]
    boxes = network(port(name)).devices
    made_for = Network(
        name="made",
        devices=tuple(d.model_copy(update={"platform": platform}) for d in boxes),
        links=(),
        stations=(),
    )
    apply = [{"ports": name, "direction": side, "policy": f"{side}-{30 * 'P'}"} for side in ("input", "output")]

    found = compile_intent(made([a_class(mark={"dscp": "af21"})], apply=apply), made_for).devices[0].findings

    assert [(f.direction, f.requested) for f in found if f.code == "policy-name-unused"] == [
        (side, f"{side}-{30 * 'P'}") for side in unnamed
    ]


def test_the_voice_vlan_is_that_of_the_box() -> None:
    intent = made([a_class(match={"any": [{"vlan": ["voice", 7]}]})], apply=[{"vlan": 10, "direction": "output"}])

    requests, findings = resolve(intent, network(*PORTS))

    assert [t.vlan for t in requests[0].classes[0].terms] == [(7, 110)]
    assert not findings


def test_a_box_without_a_voice_vlan_cannot_match_it() -> None:
    intent = made([a_class(match={"any": [{"vlan": "voice"}]})], apply=[{"ports": "2", "direction": "output"}])

    requests, findings = resolve(intent, network(*PORTS[1:]))

    assert [(f.code, f.device, f.traffic_class) for f in findings] == [
        ("voice-vlan-missing", "sw1", "gold"),
        ("voice-vlan-missing", "sw2", "gold"),
    ]
    assert requests[0].classes[0].terms == ()


def test_children_end_with_their_default() -> None:
    child = {"name": "inner", "match": {"any": [{"dscp": "af31"}]}, "treatment": {"bandwidth": {"percent": 40}}}
    parent = a_class(treatment={"bandwidth": {"percent": 50}, "children": [child]})
    intent = made([parent], apply=[{"ports": "1", "direction": "output"}])

    request = resolve(intent, network(*PORTS))[0][0]

    assert [c.name for c in request.classes] == ["gold", "default"]
    assert [c.name for c in request.classes[0].children] == ["inner", "default"]
    assert request.classes[0].children[0].line == 1


WAN = {"interfaces": "wan", "direction": "output"}


@pytest.mark.parametrize(
    ("fragment", "size", "blocking"),
    [
        ({"blocking_delay": "16 ms"}, 112, 0.016),
        ({"packetisation": "20 ms"}, 112, 0.016),
        ({"size": "70 B"}, 70, 0.01),
    ],
)
def test_a_fragment_is_sized_by_time_or_bytes(fragment: dict[str, str], size: int, blocking: float) -> None:
    rule = {"when": {"rate_below": "768 kb/s"}, "fragment": fragment, "transmit_ring": {"packets": 3}}
    line = port("3", rate=56_000, role=DeviceRole.EDGE, tags={"wan"}, encapsulation=Framing.MLPPP)

    efficiency = requested([WAN], line, link_efficiency=[rule])[0].interfaces[0].efficiency

    assert efficiency is not None
    assert (efficiency.fragment_bytes, efficiency.transmit_ring) == (size, 3)
    assert efficiency.blocking_delay == pytest.approx(blocking)


def test_a_rule_may_be_for_framings_alone() -> None:
    rules = [
        {"when": {"framing": "frame-relay"}, "fragment": {"size": "80 B", "by": "frf12"}},
        {"when": {"framing": "atm"}, "transmit_ring": {"packets": 5}},
    ]
    lines = (
        port("f", role=DeviceRole.EDGE, tags={"wan"}, encapsulation=Framing.FRAME_RELAY, circuit=Circuit(dlci=100)),
        port("a", role=DeviceRole.EDGE, tags={"wan"}, encapsulation=Framing.ATM, circuit=Circuit(vpi=4, vci=108)),
        port("h", role=DeviceRole.EDGE, tags={"wan"}, encapsulation=Framing.HDLC),
    )

    relay, cells, plain = (i.efficiency for i in requested([WAN], *lines, link_efficiency=rules)[0].interfaces)

    assert relay is not None
    assert cells is not None
    assert (relay.fragment_bytes, relay.methods, relay.transmit_ring) == (80, ("frf12",), None)
    assert (cells.fragment_bytes, cells.transmit_ring) == (None, 5)
    assert plain is None


@pytest.mark.parametrize(("rate", "codes"), [(1_000_000, []), (10_000_000, ["efficiency-not-needed"] * 4)])
def test_a_link_is_said_to_be_fast_only_where_no_rule_concerns_it(rate: int, codes: list[str]) -> None:
    rules = [
        {"when": {"rate_below": "768 kb/s"}, "fragment": {"size": "80 B"}},
        {"when": {"rate_below": "2 Mb/s"}, "header_compression": "rtp"},
    ]
    edges = network(port("1", rate=rate, tags={"wan"}))

    _, found = resolve(made([a_class()], apply=[WAN], link_efficiency=rules), edges)

    assert [f.code for f in found] == codes


@pytest.mark.parametrize(
    ("framing", "circuit", "says"),
    [
        (Framing.ATM, None, "give both or none"),
        (Framing.HDLC, {"dlci": 100}, "give both or none"),
        (Framing.ATM, {"dlci": 100}, "with a vci"),
        (Framing.FRAME_RELAY, {"vpi": 1, "vci": 2}, "with a dlci"),
        (Framing.ATM, {"vpi": 1}, "give vpi and vci, or dlci"),
        (Framing.ATM, {"vpi": 1, "vci": 2, "dlci": 16}, "give vpi and vci, or dlci"),
    ],
)
def test_a_circuit_goes_with_its_framing(framing: Framing, circuit: dict[str, int] | None, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        port("1", encapsulation=framing, circuit=circuit)


def test_a_shape_that_changes_nothing_is_told() -> None:
    scope = {"interfaces": "lan", "direction": "output", "shape": {"rate": "200 Mb/s"}}

    found = told([scope], port("1"))

    assert [(f.code, f.severity, f.interface, f.applied) for f in found] == [
        ("port-shape-not-needed", Severity.INFO, "1", "100 Mb/s")
    ] * 2
