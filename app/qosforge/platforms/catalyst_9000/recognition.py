"""Input policies: recognise, mark and police classes where they enter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qosforge.plan.model import Rule, Term
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.plan.request import TermRequest as Alternative
from qosforge.platforms.catalyst_9000.capabilities import CAPABILITIES
from qosforge.platforms.catalyst_9000.marks import ClassMarks, dscp_of_cos
from qosforge.platforms.catalyst_9000.policing import policer
from qosforge.platforms.ios_switch.notes import Notes
from qosforge.platforms.ios_switch.policing import PolicedMap
from qosforge.platforms.mqc import trust
from qosforge.platforms.mqc.access_lists import speaks_ipv6, version
from qosforge.platforms.mqc.lines import CLASS_DEFAULT
from qosforge.platforms.recognition import (
    asks_flow,
    default_marked_down,
    header_terms,
    points_of,
    ports_only,
    without_covered,
)


def input_rules(
    request: DeviceRequest, names: Mapping[str, str], marks: Mapping[str, ClassMarks], notes: Notes
) -> tuple[Rule, ...]:
    """The rules of a port that recognises classes, in their order; the last one is for what none of them takes."""
    rules = []
    exceeding = PolicedMap()
    notes.extend(default_marked_down(request))
    for entry in request.classes:
        taken = (Term(),) if entry.is_default else without_covered(_terms(request, entry, notes))
        if not taken:
            continue
        written = marks[entry.name]
        rule = Rule(
            name=CLASS_DEFAULT if entry.is_default else names[entry.name],
            any_of=taken,
            ipv4=any(version(term) is None and is_flow(term) for term in taken) and not lists_ipv6(request),
            set_dscp=written.dscp,
            set_cos=written.cos,
            set_qos_group=written.group,
        )
        if rule.ipv4:
            notes.note("told-in-ipv4", traffic_class=entry.name, direction="input", variant="switched")
        rule = rule.model_copy(update={"police": policer(entry, rule, exceeding, notes)})
        empty = not rule.writes and rule.police is None
        if empty and not entry.is_default and not CAPABILITIES.empty_classes.has(request.image):
            notes.note("class-empty", traffic_class=entry.name, direction="input", image=request.image)
        if not (empty and entry.is_default):
            rules.append(rule)
    return tuple(rules)


def lists_ipv6(request: DeviceRequest) -> bool:
    """Whether flows without addresses have lists of both versions: where inventory or intent speaks of IPv6."""
    return CAPABILITIES.ipv6_lists.value and speaks_ipv6(request)


def is_flow(term: Term) -> bool:
    """Whether a term is an entry of an access list, and no match line."""
    ends = term.source or term.destination or term.source_ports or term.destination_ports
    return term.protocol is not None or bool(ends)


def trust_policy(
    request: DeviceRequest, interface_request: InterfaceRequest, marks: Mapping[str, ClassMarks]
) -> tuple[str, tuple[Rule, ...]] | None:
    """The policy of a port that does not simply keep the DSCPs it gets, as the device does by itself."""
    return trust.trust_policy(interface_request, dscp_of_cos(request, marks))


def _terms(request: DeviceRequest, entry: ClassRequest, notes: Notes) -> Iterator[Term]:
    """One term for every match line, then one for every entry of the class's access list."""
    flows: list[Alternative] = []
    for term in entry.terms:
        if term.qos_group:
            continue  # outputs look for groups
        flow = bool(term.application) or asks_flow(term)
        points = points_of(term)
        if (term.cos and (flow or points is not None)) or (term.application and asks_flow(term)):
            notes.note(
                "match-unsupported",
                traffic_class=entry.name,
                direction="input",
                variant="alternatives",
            )
        elif flow:
            if points is None or points:
                wanted = tuple(sorted(points)) if points is not None else ()
                flows.append(term.model_copy(update={"dscp": wanted, "precedence": ()}))
        elif term.cos:
            yield from (Term(cos=(value,)) for value in term.cos)
        elif term.dscp:
            yield from (Term(dscp=(value,)) for value in sorted(points or ()))
        else:
            yield from (Term(precedence=(value,)) for value in term.precedence)
    listed = entry.model_copy(update={"terms": tuple(flows)})
    notes.extend(ports_only(request, listed))
    for found_term in header_terms(request, listed) if flows else ():
        for point in found_term.dscp or (None,):
            yield found_term.model_copy(update={"dscp": () if point is None else (point,)})
