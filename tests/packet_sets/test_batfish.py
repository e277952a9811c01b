"""Sets of packets against Batfish's: random classes as access lists, on a real service."""

from __future__ import annotations

import json
import os
import random
import tempfile
import uuid
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from pybatfish.client.session import Session
from pybatfish.datamodel import HeaderConstraints

from qosforge.batfish.analysis_copy import AnalysisCopy, analysis_copy
from qosforge.batfish.class_filters import PREFIX, class_filters
from qosforge.batfish.copy_rules import copy_rules
from qosforge.compiler.compile import CompiledDevice, compile_intent
from qosforge.intent.loader import parse_intent
from qosforge.packet_sets.rule_change import rule_change
from qosforge.packet_sets.space import PacketSet, PacketSpace
from qosforge.packet_sets.terms import of_terms
from qosforge.packet_sets.witness import Witness
from qosforge.plan.model import Plan, PortRange, Rule, Term
from tests.compiler.goldens import every_platform

pytestmark = pytest.mark.batfish
PAIRS = 60
_PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp", 47: "gre"}
_PREFIXES = ("10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.1.2.3/32", "192.0.2.0/24")


def _term(choose: random.Random) -> Term:
    protocol = choose.choice((None, *_PROTOCOLS))
    ends = [sorted(choose.choices((0, 80, 1023, 1024, 5060, 65535), k=2)) for _ in range(2)]
    ports = [
        (PortRange(first=a, last=b),) if choose.random() < 0.4 and protocol in (6, 17) else () for a, b in ends
    ]
    return Term(
        protocol=protocol,
        source=choose.choice((None, *_PREFIXES)),
        destination=choose.choice((None, None, *_PREFIXES)),
        source_ports=ports[0],
        destination_ports=ports[1],
        dscp=choose.choice(((), (), (46,), (0, 8))),
        precedence=choose.choice(((), (), (), (5,))),
    )


def _entries(action: str, term: Term) -> Iterator[str]:
    """A term as entries of a list that Batfish reads whole: it knows code points and no precedences."""
    asked = set(term.dscp or range(64)) & {p for p in range(64) if not term.precedence or p >> 3 in term.precedence}
    for mark in [f" dscp {point}" for point in sorted(asked)] if term.dscp or term.precedence else [""]:
        protocol = "ip" if term.protocol is None else _PROTOCOLS[term.protocol]
        source, destination = _end(term.source, term.source_ports), _end(term.destination, term.destination_ports)
        yield f"{action} {protocol} {source} {destination}{mark}"


def _end(prefix: str | None, ports: tuple[PortRange, ...]) -> str:
    network = ip_network(prefix) if prefix else None
    address = f"{network.network_address} {network.hostmask}" if network else "any"
    return f"{address} range {ports[0].first} {ports[0].last}" if ports else address


def _protocol(flow: Any) -> int:
    name = str(flow.ipProtocol)
    known = {"ICMP": 1, "TCP": 6, "UDP": 17, "GRE": 47}
    return known[name] if name in known else int(name.removeprefix("UNNAMED_"))


def test_both_find_the_same_differences_and_packets_of_them() -> None:
    choose = random.Random(20)
    space = PacketSpace()
    pairs = [([_term(choose) for _ in range(choose.randint(1, 3))], [_term(choose)]) for _ in range(PAIRS)]
    differences = [(of_terms(space, one, {}) - of_terms(space, other, {})) & space.ipv4 for one, other in pairs]
    lines = ["! BATFISH_FORMAT: cisco_ios", "hostname sets"]
    for number, (one, other) in enumerate(pairs):
        lines.append(f"ip access-list extended DIFFERENCE-{number}")
        lines += [f" {entry}" for term in other for entry in _entries("deny", term)]
        lines += [f" {entry}" for term in one for entry in _entries("permit", term)]
    session = Session(host=os.environ["QOSFORGE_BATFISH_HOST"])
    network = f"qosforge-sets-{uuid.uuid4()}"
    session.set_network(network)
    try:
        session.init_snapshot_from_text("\n".join([*lines, "end", ""]), platform="cisco_ios", snapshot_name="sets")
        rows = session.q.searchFilters(filters="/DIFFERENCE-.*/", action="permit").answer().frame()
        found = {int(row.Filter_Name.rpartition("-")[2]): row.Flow for row in rows.itertuples()}

        assert set(found) == {at for at, packets in enumerate(differences) if not packets.is_empty}
        assert 5 < len(found) < PAIRS
        for number, flow in found.items():
            assert _single(space, flow).inside(differences[number]), (flow, pairs[number])
        for number in sorted(found)[:15]:
            witness = space.witness(differences[number])
            assert witness is not None
            headers = HeaderConstraints(**_headers(witness))
            (row,) = (
                session.q.testFilters(filters=f"DIFFERENCE-{number}", headers=headers).answer().frame().itertuples()
            )
            assert row.Action == "PERMIT", (str(witness), pairs[number])
    finally:
        session.delete_network(network)


def test_both_judge_the_classes_of_random_intents_alike() -> None:
    choose = random.Random(4)
    classes = [
        {
            "name": f"c{at}",
            "match": {"any": [_words(choose) for _ in range(choose.randint(1, 3))]},
            "mark": {"dscp": at},
        }
        for at in range(1, 13)
    ]
    scopes = [{"devices": "ios-12-4", "interfaces": "lan", "direction": "input"}]
    document = {"version": 1, "intent": "random", "classes": classes, "apply": scopes}
    network = every_platform()
    (made,) = compile_intent(parse_intent(json.dumps(document), "random.yaml"), network).devices
    changed = [(f"r{at}", tuple(_changed(rule, choose) for rule in _rules(made))) for at in range(8)]
    filters = class_filters((name, _copy(made), _with_rules(made, rules)) for name, rules in changed)
    session = Session(host=os.environ["QOSFORGE_BATFISH_HOST"])
    folder = f"qosforge-classes-{uuid.uuid4()}"
    session.set_network(folder)
    try:
        with tempfile.TemporaryDirectory() as snapshot:
            configs = Path(snapshot) / "configs"
            configs.mkdir()
            for name, text in filters.files.items():
                (configs / name).write_text(text, encoding="utf-8")
            session.init_snapshot(snapshot, name="classes")
        rows = session.q.searchFilters(filters=f"/{PREFIX}-/", action="permit").answer().frame()
        found = {(row.Node, row.Filter_Name.strip("~").rpartition("~")[2]) for row in rows.itertuples()}
    finally:
        session.delete_network(folder)

    judged = 0
    for policy, (_, rules) in zip(filters.policies, changed, strict=True):
        text = {rule.name: rule for rule in _rules(made)}
        plan = {rule.name: rule for rule in rules}
        for number, each in enumerate(policy.classes, 1):
            change = rule_change(plan[each.name], text[each.name])
            assert change is not None
            for asked, ours in (("WIDER", change.more), ("NARROWER", change.fewer)):
                if asked in each.asked:
                    judged += 1
                    there = (policy.node, f"{PREFIX}-{asked}-{number}") in found
                    assert there == (ours is not None), (asked, str(ours), text[each.name], plan[each.name])
    assert judged > 100
    assert any(kind in name for _, name in found for kind in ("WIDER", "NARROWER"))


def _words(choose: random.Random) -> dict[str, Any]:
    """A term as an intent writes it."""
    term = _term(choose)
    found: dict[str, Any] = {"protocol": 17 if term.protocol is None else term.protocol}
    for side in ("source", "destination"):
        if (prefix := getattr(term, side)) is not None:
            found[side] = prefix
        for ports in getattr(term, f"{side}_ports"):
            found[f"{side}_port"] = f"{ports.first}-{ports.last}"
    return found | ({"dscp": list(term.dscp)} if term.dscp else {})


def _rules(made: CompiledDevice) -> tuple[Rule, ...]:
    return next(i.ingress.rules for i in made.plan.interfaces if i.ingress.rules)


def _changed(rule: Rule, choose: random.Random) -> Rule:
    """A rule with an alternative more, or one less, or as it is."""
    match choose.randrange(3):
        case 0:
            term = _term(choose).model_copy(update={"precedence": ()})
            return rule.model_copy(update={"any_of": (*rule.any_of, term)})
        case 1 if len(rule.any_of) > 1:
            return rule.model_copy(update={"any_of": rule.any_of[1:]})
    return rule


def _copy(made: CompiledDevice) -> AnalysisCopy:
    lines = made.text.splitlines()
    rules = copy_rules("cisco_ios")
    assert rules is not None
    return analysis_copy(lines, lines, rules, made.name)


def _with_rules(made: CompiledDevice, rules: tuple[Rule, ...]) -> Plan:
    interfaces = tuple(
        i.model_copy(update={"ingress": i.ingress.model_copy(update={"rules": rules if i.ingress.rules else ()})})
        for i in made.plan.interfaces
    )
    return made.plan.model_copy(update={"interfaces": interfaces})


def _single(space: PacketSpace, flow: Any) -> PacketSet:
    """The packets of a flow of Batfish."""
    found = space.ipv4 & space.prefix("source", flow.srcIp) & space.prefix("destination", flow.dstIp)
    found &= space.among("dscp", [flow.dscp]) & space.among("protocol", [_protocol(flow)])
    if _protocol(flow) in (6, 17):
        found &= space.among("source_port", [flow.srcPort]) & space.among("destination_port", [flow.dstPort])
    return found


def _headers(witness: Witness) -> dict[str, object]:
    values = witness.values
    headers: dict[str, object] = {
        "srcIps": str(witness.address("source")),
        "dstIps": str(witness.address("destination")),
        "dscps": str(values["dscp"]),
        "ipProtocols": str(values["protocol"]),
    }
    if values["protocol"] in (6, 17):
        headers |= {"srcPorts": str(values["source_port"]), "dstPorts": str(values["destination_port"])}
    return headers
