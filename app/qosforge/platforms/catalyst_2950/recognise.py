"""Rules of a 2950's host ports: short port ranges spelled out, one mask, policers by the kind of port."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from qosforge.dscp import dscp_label
from qosforge.note import Reason, because
from qosforge.plan.model import PortRange, Rule, Term
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.plan.request import TermRequest as Alternative
from qosforge.platforms.catalyst_2950.capabilities import CAPABILITIES, DSCP_TO_COS, enhanced
from qosforge.platforms.catalyst_2950.masks import note_policy_masks
from qosforge.platforms.ios_switch.classes import (
    INPUT_POLICY,
    NAME_LENGTH,
    ClassifierLimits,
    input_rules,
    policed_on_input,
)
from qosforge.platforms.ios_switch.marks import SwitchClassMarks, dscp_to_cos
from qosforge.platforms.ios_switch.notes import Notes
from qosforge.platforms.ios_switch.policing import police_rules
from qosforge.platforms.ios_switch.ports import flat
from qosforge.platforms.names import shorten
from qosforge.platforms.recognition import count_conditions

FAST = "FastEthernet"
GIGABIT = "GigabitEthernet"
_SUFFIX = "-G"


@dataclass(frozen=True)
class Recognised:
    """Rules by class; ``by_kind`` those with policers for each kind of port."""

    rules: dict[str, tuple[Rule, ...]]
    by_kind: dict[str, tuple[Rule, ...]]

    def of(self, interface_request: InterfaceRequest) -> tuple[str, tuple[Rule, ...]]:
        """Policy and rules of a port; gigabit ports have a policy of their own where their policers differ."""
        name = interface_request.input_policy or INPUT_POLICY
        kind = kind_of(interface_request)
        if kind == GIGABIT and self.by_kind.get(FAST, self.by_kind.get(kind)) != self.by_kind.get(kind):
            name = shorten(name, NAME_LENGTH - len(_SUFFIX)) + _SUFFIX
        return name, self.by_kind.get(kind, ())


def kind_of(interface_request: InterfaceRequest) -> str:
    """The kind of port, which decides what its policers are."""
    return FAST if interface_request.name.startswith(FAST) else GIGABIT


def port_rules(
    request: DeviceRequest, kinds: Collection[str], marks: dict[str, SwitchClassMarks], notes: Notes
) -> Recognised:
    """The rules that recognise, mark and police classes on such host ports; what cannot be had is noted."""
    if not kinds:
        return Recognised({}, {})
    if not enhanced(request.image):
        _note_standard(request, notes)
        return Recognised({}, {})
    data = CAPABILITIES
    limits = ClassifierLimits(
        data.supported_dscp.value,
        mac_beside_ip=data.mac_acl_ip.value,
        rest_keeps_dscp=data.untrusted_keeps_dscp.value,
    )
    _note_default(request.classes[-1], notes)
    rules = {
        name: tuple(_single_ports(_destinations_only(name, rule, notes)) for rule in entries)
        for name, entries in input_rules(request, marks, dscp_to_cos(marks, DSCP_TO_COS), limits, notes).items()
    }
    for name, entries in rules.items():
        _note_ranges(name, entries, notes)
        _note_protocols(name, entries, notes)
    note_policy_masks(flat(rules), notes)
    by_kind = {
        kind: flat(police_rules(request, rules, data.police[kind], _write, notes, ports=kind)) for kind in kinds
    }
    return Recognised(rules, by_kind)


def _write(entry: ClassRequest, dscp: int, exceeding: int) -> Reason | None:
    """``exceed-action dscp``: any DSCP that the device knows."""
    del entry, dscp
    if exceeding in CAPABILITIES.supported_dscp.value:
        return None
    return because("police-unsupported", variant="exceed-dscp", dscp=dscp_label(exceeding))


def _note_default(default: ClassRequest, notes: Notes) -> None:
    """Whether the intent has DSCP 0 written on what no class takes; a policer's class-map does that."""
    mark = default.mark
    written = (mark.dscp if mark.precedence is None else mark.precedence) if mark else None
    if CAPABILITIES.untrusted_keeps_dscp.value and written == 0 and not policed_on_input(default):
        notes.note(
            "default-mark-unsupported",
            traffic_class=default.name,
            direction="input",
            requested="DSCP 0",
            applied="DSCP as received, CoS 0",
            variant="zero-not-written",
        )


def _note_standard(request: DeviceRequest, notes: Notes) -> None:
    notes.note(
        "recognition-unsupported",
        requested="recognise and mark classes on host ports",
        applied="CoS 0 for everything from them, and the DSCP as received",
        variant="no-class-maps",
        image=request.image,
    )
    for entry in request.classes:
        police = entry.treatment.police
        if police is not None and policed_on_input(entry):
            notes.note(
                "police-unsupported",
                traffic_class=entry.name,
                direction="input",
                applied="not policed",
                variant="no-policers",
                image=request.image,
                preferred=police.prefer,
            )


def _note_ranges(traffic_class: str, rules: tuple[Rule, ...], notes: Notes) -> None:
    ranges = [p for rule in rules for term in rule.any_of for p in _ports(term) if p.first != p.last]
    if ranges:
        notes.note(
            "acl-range-unsupported",
            traffic_class=traffic_class,
            direction="input",
            requested=", ".join(f"ports {p.first} to {p.last}" for p in dict.fromkeys(ranges)),
            applied="single ports",
            most=CAPABILITIES.acl_port_range.spelled_out,
        )


def _note_protocols(traffic_class: str, rules: tuple[Rule, ...], notes: Notes) -> None:
    known = CAPABILITIES.acl_protocols.value
    others = {t.protocol for rule in rules for t in rule.any_of if t.protocol is not None} - set(known.values())
    if others:
        notes.note(
            "match-unsupported",
            traffic_class=traffic_class,
            direction="input",
            requested=f"protocol {', '.join(map(str, sorted(others)))}",
            variant="protocol",
            known=", ".join(known),
        )


def _destinations_only(traffic_class: str, rule: Rule, notes: Notes) -> Rule:
    """A rule without the source ports that it has as destination ports too: lists of a port have one mask."""
    towards = {t for t in rule.any_of if t.destination_ports and not t.source_ports}
    away = [t for t in rule.any_of if t.source_ports and not t.destination_ports and _turned(t) in towards]
    if not away:
        return rule
    ports = [p for term in away for p in term.source_ports]
    notes.note(
        "acl-one-direction",
        traffic_class=traffic_class,
        direction="input",
        requested=f"ports {', '.join(f'{p.first}-{p.last}' if p.first != p.last else str(p.first) for p in ports)}",
        applied="as destination ports",
    )
    return rule.model_copy(update={"any_of": tuple(t for t in rule.any_of if t not in away)})


def _turned(term: Term) -> Term:
    return term.model_copy(update={"source_ports": (), "destination_ports": term.source_ports})


def _ports(term: Term) -> tuple[PortRange, ...]:
    return (*term.source_ports, *term.destination_ports)


def _single_ports(rule: Rule) -> Rule:
    """Short ranges as single ports: lists compare a port with a value, and have no ranges."""
    spelled_out = dict.fromkeys(one for term in rule.any_of for one in _spelled_out(term))
    return rule.model_copy(update={"any_of": tuple(spelled_out)})


def _spelled_out(term: Term) -> Iterator[Term]:
    longest = CAPABILITIES.acl_port_range.spelled_out
    sides = [_singles(ports, longest) for ports in (term.source_ports, term.destination_ports)]
    if len(sides[0]) * len(sides[1]) > longest:
        yield term
        return
    for source in sides[0]:
        for destination in sides[1]:
            yield term.model_copy(update={"source_ports": source, "destination_ports": destination})


def count_entries(request: DeviceRequest, term: Alternative) -> int:
    """How many entries an alternative becomes at most, by arithmetic: short ranges are one for each port."""
    longest = CAPABILITIES.acl_port_range.spelled_out

    def width(first: int, last: int) -> int:
        count = last - first + 1
        return count if count <= longest else 1

    return count_conditions(request, term, width)


def _singles(ports: tuple[PortRange, ...], longest: int) -> list[tuple[PortRange, ...]]:
    """Every port of short ranges by itself; what is longer stays."""
    if not ports or sum(p.last - p.first + 1 for p in ports) > longest:
        return [ports]
    return [(PortRange(first=n, last=n),) for p in ports for n in range(p.first, p.last + 1)]
