"""Terms of plans, requests and intents as sets of packets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from qosforge.intent.applications import Application
from qosforge.intent.models import MatchTerm
from qosforge.intent.ports import WELL_KNOWN
from qosforge.packet_sets.fields import Atom
from qosforge.packet_sets.space import PacketSet, PacketSpace
from qosforge.plan.model import PortRange, Rule, Term
from qosforge.plan.request import ClassRequest, TermRequest

Applications = Mapping[str, Application]
"""Applications that are told by their ports; others are atoms."""
_PORTS = {
    "source_port": "source_port",
    "destination_port": "destination_port",
    "source_ports": "source_port",
    "destination_ports": "destination_port",
}


def of_term(space: PacketSpace, term: Term | TermRequest | MatchTerm, by_ports: Applications) -> PacketSet:
    """The packets of which everything holds that a term asks for; of a field's values one has to."""
    found = space.everything
    for name, value in vars(term).items():
        if value in (None, ()):
            continue
        values = value if isinstance(value, tuple) else (value,)
        found &= space.union(_one(space, name, one, by_ports) for one in values)
    return found


def of_terms(
    space: PacketSpace, terms: Iterable[Term | TermRequest | MatchTerm], by_ports: Applications
) -> PacketSet:
    """The packets of any of some terms."""
    return space.union(of_term(space, term, by_ports) for term in terms)


def of_rule(space: PacketSpace, rule: Rule) -> PacketSet:
    """The packets that a classifier of a device takes, if no earlier one does."""
    taken = space.union(_versioned(space, term, rule) for term in rule.any_of)
    return taken - of_terms(space, rule.none_of, {})


def _versioned(space: PacketSpace, term: Term, rule: Rule) -> PacketSet:
    """A term as a rule that tells packets in IPv4 alone has it: frames and addresses of IPv6 are told as ever."""
    found = of_term(space, term, {})
    by_ip = term.dscp or term.precedence or term.protocol is not None or term.source_ports or term.destination_ports
    return found & space.ipv4 if rule.ipv4 and by_ip and not (term.source or term.destination) else found


def of_class(space: PacketSpace, entry: ClassRequest, by_ports: Applications) -> PacketSet:
    """The packets that a class asks for, if no earlier one does; all where it is the one of everything else."""
    if entry.is_default:
        return space.everything
    alternatives = of_terms(space, entry.terms, by_ports)
    if not entry.terms and entry.none_of:
        alternatives = space.everything
    return alternatives - of_terms(space, entry.none_of, by_ports)


def _one(space: PacketSpace, name: str, value: Any, by_ports: Applications) -> PacketSet:
    """The packets whose field has a value, as a term writes it."""
    match name:
        case "dscp":
            return space.among("dscp", [value]) & space.ip
        case "precedence":
            return space.within("dscp", [(8 * value, 8 * value + 7)]) & space.ip
        case "cos":
            return space.among("cos", [value]) & space.among("tagged", [1])
        case "vlan" if isinstance(value, int):
            return space.among("vlan", [value])
        case "protocol":
            return space.among("protocol", [value]) & space.ip
        case "source" | "destination":
            return space.prefix(name, value)
        case "source_port" | "destination_port" | "source_ports" | "destination_ports":
            ends = (value.first, value.last) if isinstance(value, PortRange) else value
            return space.ports(_PORTS[name], [ends])
        case "application" if value in by_ports:
            return _by_ports(space, by_ports[value])
        case "application":
            return space.atom(Atom(name, value)) & space.ip
    return space.atom(Atom(name, str(value)))


def _by_ports(space: PacketSpace, application: Application) -> PacketSet:
    """An application by its ports: well-known ones are its servers', whose answers carry them as the source."""
    servers = [ports for ports in application.ports if ports[1] < WELL_KNOWN]
    ports = space.ports("destination_port", application.ports) | space.ports("source_port", servers)
    return ports & space.among("protocol", [application.protocol_number])
