"""Sets of packets against Batfish's: random classes as access lists, on a real service."""

from __future__ import annotations

import os
import random
import uuid
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import pytest
from pybatfish.client.session import Session
from pybatfish.datamodel import HeaderConstraints

from qosforge.packet_sets.space import PacketSet, PacketSpace
from qosforge.packet_sets.terms import of_terms
from qosforge.packet_sets.witness import Witness
from qosforge.plan.model import PortRange, Term

pytestmark = pytest.mark.batfish
PAIRS = 60
_PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp", 47: "gre"}
_PREFIXES = ("10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.1.2.3/32", "192.0.2.0/24")


def random_term(choose: random.Random) -> Term:
    """A term of IPv4 that entries of an access list can say."""
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
    pairs = [
        ([random_term(choose) for _ in range(choose.randint(1, 3))], [random_term(choose)]) for _ in range(PAIRS)
    ]
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
