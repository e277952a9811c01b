"""What a rule of a plan is meant to match, as entries of an IPv4 access list that Batfish can compare."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Network, ip_network

from qosforge.plan.model import PortRange, Rule, Term

_MOST_ENTRIES = 2000
_BEYOND = ("cos", "application", "source_mac", "destination_mac", "input_interface", "vlan")
"""Fields that no entry of an IPv4 access list has."""
_NAMES = {6: "tcp", 17: "udp", 1: "icmp"}


def meant_entries(rule: Rule) -> list[str] | None:
    """The entries; ``None`` where such a list cannot say what the rule matches."""
    entries: list[str] = []
    for action, terms in (("deny", rule.none_of), ("permit", rule.any_of)):
        for term in terms:
            found = _entries(action, term)
            if found is None:
                return None
            entries += found
    return entries if rule.any_of and len(entries) <= _MOST_ENTRIES else None


def _entries(action: str, term: Term) -> list[str] | None:
    if any(getattr(term, name) not in (None, ()) for name in _BEYOND):
        return None
    ported = bool(term.source_ports or term.destination_ports)
    if ported and term.protocol not in (6, 17):
        return None
    addresses = [_address(prefix) for prefix in (term.source, term.destination)]
    if None in addresses:
        return None
    protocol = "ip" if term.protocol is None else _NAMES.get(term.protocol, str(term.protocol))
    ports, marks = (_ports(term.source_ports), _ports(term.destination_ports)), _marks(term)
    if len(ports[0]) * len(ports[1]) * len(marks) > _MOST_ENTRIES:
        return None
    return [
        " ".join(part for part in (action, protocol, addresses[0], source, addresses[1], to, mark) if part)
        for source in ports[0]
        for to in ports[1]
        for mark in marks
    ]


def _address(prefix: str | None) -> str | None:
    if prefix is None:
        return "any"
    network = ip_network(prefix, strict=False)
    return f"{network.network_address} {network.hostmask}" if isinstance(network, IPv4Network) else None


def _ports(ranges: Sequence[PortRange]) -> list[str]:
    return [f"range {r.first} {r.last}" if r.first != r.last else f"eq {r.first}" for r in ranges] or [""]


def _marks(term: Term) -> list[str]:
    by_precedence = {8 * level + low for level in term.precedence for low in range(8)}
    marks = set(term.dscp) & by_precedence if term.dscp and term.precedence else {*term.dscp} or by_precedence
    if not marks:
        return [] if term.dscp or term.precedence else [""]
    return [f"dscp {mark}" for mark in sorted(marks)]
