"""A small space of packets that can be gone through one by one, and terms over it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from ipaddress import ip_address, ip_network

from hypothesis import strategies as st

from qosforge.packet_sets.fields import FIELDS, Atom
from qosforge.packet_sets.witness import Witness
from qosforge.plan.model import PortRange, Term

DSCPS = (0, 8, 46)
PROTOCOLS = (1, 6, 17)
PORTS = (0, 80, 5060, 65535)
SOURCES = {4: ("10.0.0.1", "10.1.2.3"), 6: ("2001:db8::1", "::a00:1")}
PREFIXES = ("10.0.0.0/8", "10.1.0.0/16", "10.1.2.3/32", "2001:db8::/32", "::/16")
APPLICATIONS = ("sip", "http")
MACS = ("001b.54aa.bbcc", "001b.54aa.bbcd")


def packets() -> Iterator[Witness]:
    """Every packet of the small space."""
    for version, dscp, protocol, port, cos, application, mac in itertools.product(
        (4, 6, None), DSCPS, PROTOCOLS, PORTS, (None, 0, 5), (None, *APPLICATIONS), (None, *MACS)
    ):
        for source in SOURCES.get(version or 0, (None,)):
            values = dict.fromkeys(FIELDS, 0)
            values |= {"ipv4": version == 4, "ipv6": version == 6, "dscp": dscp, "protocol": protocol}
            values |= {"destination_port": port, "tagged": cos is not None, "cos": cos or 0, "vlan": 3}
            if source is not None:
                values["source"] = int(ip_address(source)) << (96 if version == 4 else 0)
            atoms = [Atom("application", application)] if application else []
            atoms += [Atom("source_mac", mac)] if mac else []
            yield Witness({name: int(value) for name, value in values.items()}, tuple(sorted(atoms)))


def holds(term: Term, packet: Witness) -> bool:
    """Whether a packet has everything that a term asks for, by the words of the language."""
    values, of = packet.values, {atom.field: atom.value for atom in packet.atoms}
    ip = packet.version is not None
    source = packet.address("source")
    return (
        (not term.dscp or (ip and values["dscp"] in term.dscp))
        and (not term.precedence or (ip and values["dscp"] // 8 in term.precedence))
        and (term.protocol is None or (ip and values["protocol"] == term.protocol))
        and (not term.cos or bool(values["tagged"] and values["cos"] in term.cos))
        and (not term.vlan or values["vlan"] in term.vlan)
        and (term.source is None or (source is not None and source in ip_network(term.source)))
        and (
            not term.destination_ports
            or (
                ip
                and values["protocol"] in (6, 17)
                and any(p.first <= values["destination_port"] <= p.last for p in term.destination_ports)
            )
        )
        and (term.application is None or (ip and of.get("application") == term.application))
        and (term.source_mac is None or of.get("source_mac") == term.source_mac)
    )


def _some(values: tuple[int, ...]) -> st.SearchStrategy[tuple[int, ...]]:
    return st.lists(st.sampled_from(values), max_size=2, unique=True).map(tuple)


@st.composite
def _ranges(draw: st.DrawFn) -> tuple[PortRange, ...]:
    ends = st.tuples(st.sampled_from(PORTS), st.sampled_from(PORTS)).map(sorted)
    return tuple(PortRange(first=first, last=last) for first, last in draw(st.lists(ends, max_size=2)))


TERMS = st.builds(
    Term,
    dscp=_some(DSCPS),
    precedence=_some((0, 1, 5)),
    cos=_some((0, 5)),
    vlan=_some((3, 4)),
    protocol=st.sampled_from((None, *PROTOCOLS)),
    source=st.sampled_from((None, None, *PREFIXES)),
    destination_ports=_ranges(),
    application=st.sampled_from((None, None, *APPLICATIONS)),
    source_mac=st.sampled_from((None, None, None, *MACS)),
)
