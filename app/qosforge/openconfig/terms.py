"""Map match alternatives to OpenConfig terms: one range of ports a side, DSCPs, no CoS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_network

from qosforge.errors import Place
from qosforge.expansion import combine
from qosforge.intent.applications import Application
from qosforge.intent.ports import WELL_KNOWN
from qosforge.note import Reason, because
from qosforge.openconfig.unmapped_fields import UnmappedFields
from qosforge.plan.model import PortRange, Rule, Term

CARRIED = frozenset(
    {
        "dscp",
        "precedence",
        "application",
        "protocol",
        "source",
        "destination",
        "source_ports",
        "destination_ports",
        "source_mac",
        "destination_mac",
    }
)
"""Fields of a term that the model has, or that can be said in its own."""
LAST_PROTOCOL = 254
"""Highest protocol number that ``ip-protocol-type`` takes."""
_PRECEDENCE_BITS = 3


def carried_terms(
    rule: Rule, applications: Mapping[str, Application], unmapped: UnmappedFields, interface: str, direction: str
) -> tuple[Term, ...]:
    """What the model can say of a rule's alternatives, none twice; what it cannot is noted and left out."""
    found: dict[Term, None] = {}
    for term in rule.any_of:
        reason = _unmapped_reason(term, applications)
        if reason:
            unmapped.report(reason, Place(interface=interface, direction=direction, traffic_class=rule.name))
            continue
        if term.application:
            unmapped.note(
                "openconfig-application-by-ports",
                interface=interface,
                direction=direction,
                traffic_class=rule.name,
                application=term.application,
            )
        for header in _headers(term, applications):
            found.update(dict.fromkeys(_single(header)))
    return tuple(found)


def _unmapped_reason(term: Term, applications: Mapping[str, Application]) -> Reason | None:
    """Why a term cannot be carried; None where it can."""
    lacking = [
        name
        for name, spec in Term.model_fields.items()
        if name not in CARRIED and getattr(term, name) != spec.get_default(call_default_factory=True)
    ]
    if lacking:
        return because(
            "openconfig-match-not-carried", variant="fields", fields=", ".join(lacking).replace("_", " ")
        )
    if term.application and term.application not in applications:
        return because("openconfig-match-not-carried", variant="ports-unknown", application=term.application)
    if term.application and (term.protocol is not None or term.source_ports or term.destination_ports):
        return because("openconfig-match-not-carried", variant="application-joined", application=term.application)
    if term.protocol is not None and term.protocol > LAST_PROTOCOL:
        return because("openconfig-match-not-carried", variant="protocol", protocol=term.protocol)
    if len({ip_network(p, strict=False).version for p in (term.source, term.destination) if p}) > 1:
        return because("openconfig-match-not-carried", variant="two-families")
    if term.precedence and not _dscps(term):
        return because("openconfig-match-not-carried", variant="dscp-and-precedence")
    return None


def _dscps(term: Term) -> tuple[int, ...]:
    if not term.precedence:
        return tuple(sorted(set(term.dscp)))
    wanted = set(term.dscp) or set(range(64))
    return tuple(d for d in sorted(wanted) if d >> _PRECEDENCE_BITS in term.precedence)


def _headers(term: Term, applications: Mapping[str, Application]) -> Iterator[Term]:
    """The term without precedence and application, with its prefixes in canonical form."""
    plain = Term(
        dscp=_dscps(term),
        protocol=term.protocol,
        source=_prefix(term.source),
        destination=_prefix(term.destination),
        source_mac=term.source_mac,
        destination_mac=term.destination_mac,
        source_ports=term.source_ports,
        destination_ports=term.destination_ports,
    )
    if term.application is None:
        yield plain
        return
    application = applications[term.application]
    for first, last in application.ports:
        ports = (PortRange(first=first, last=last),)
        yield plain.model_copy(
            update={"protocol": application.protocol_number, "destination_ports": ports},
        )
        if last < WELL_KNOWN:  # a server answers from its own port
            yield plain.model_copy(update={"protocol": application.protocol_number, "source_ports": ports})


def mac_leaf(value: str) -> str:
    """A MAC address as the model writes it: ``00:1b:54:aa:bb:cc``."""
    digits = value.replace(".", "")
    return ":".join(digits[at : at + 2] for at in range(0, len(digits), 2))


def _prefix(value: str | None) -> str | None:
    return None if value is None else str(ip_network(value, strict=False))


def _single(term: Term) -> Iterator[Term]:
    """A term for every pair of port ranges: the model's terms hold one on either side."""
    for source, destination in combine(term.source_ports or (None,), term.destination_ports or (None,)):
        sides = {"source_ports": source, "destination_ports": destination}
        yield term.model_copy(update={name: () if r is None else (r,) for name, r in sides.items()})


def family(term: Term) -> int | None:
    """IP version that a term's addresses bind it to; None where it speaks of both."""
    prefix = term.source or term.destination
    return None if prefix is None else ip_network(prefix, strict=False).version
