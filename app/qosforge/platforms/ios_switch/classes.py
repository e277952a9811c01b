"""From the classes of a request to class-maps with one match each: access lists for flows, lists of marks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from qosforge.memoise import memoise
from qosforge.plan.model import Rule, Term
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.plan.request import TermRequest as Alternative
from qosforge.plan.terms import asks_only
from qosforge.platforms.ios_switch.marks import SwitchClassMarks
from qosforge.platforms.ios_switch.notes import Notes
from qosforge.platforms.mqc.lines import CLASS_DEFAULT
from qosforge.platforms.names import short_names
from qosforge.platforms.recognition import (
    asks_flow,
    default_marked_down,
    header_terms,
    ipv4_only,
    points_of,
    ports_only,
)

INPUT_POLICY = "QOSFORGE-IN"
NAME_LENGTH = 40
"""Characters in the name of a class-map (IOS)."""
SUFFIX_LENGTH = 4
"""Longest suffix of a class's class-maps: ``-D63``."""
VALUES_PER_MATCH = 8
"""DSCP values on one match line (Catalyst 2950 and 2970 guides)."""


@dataclass(frozen=True)
class ClassifierLimits:
    """What a family's class-maps look at.

    ``supported`` are the DSCPs it knows; ``mac_beside_ip`` whether its MAC lists see IP packets too;
    ``rest_keeps_dscp`` whether what no class takes keeps its DSCP.
    """

    supported: frozenset[int]
    mac_beside_ip: bool
    rest_keeps_dscp: bool = False


def input_rules(
    request: DeviceRequest,
    marks: dict[str, SwitchClassMarks],
    cos_of: tuple[int, ...],
    limits: ClassifierLimits,
    notes: Notes,
) -> dict[str, tuple[Rule, ...]]:
    """The rules that recognise and mark each class on a host port, in the order of the classes.

    ``cos_of`` is the DSCP to CoS map in force: the device derives the CoS from the DSCP it sets. The default class
    has a rule where it is policed, by a list of all IP packets: policies of a 2950 take no ``class-default``, and
    guides of early releases of the 2970's family do not know it either (3560 guides 78-16156-01, p. 28-42, and
    OL-8553-06, p. 34-48; the 2960 guide OL-8603-09 does, p. 33-53).
    """
    default = request.classes[-1]
    notes.extend(default_marked_down(request, keeps_dscp=limits.rest_keeps_dscp and not policed_on_input(default)))
    for entry in request.classes:
        notes.extend(ipv4_only(request, entry))
    names = short_names((c.name for c in request.classes), NAME_LENGTH - SUFFIX_LENGTH)
    result = {
        entry.name: tuple(
            _rule(f"{names[entry.name]}-{suffix}", terms, dscp, cos_of)
            for suffix, terms, dscp in _matches(request, entry, marks[entry.name], limits, notes)
        )
        for entry in request.classes
        if not entry.is_default
    }
    for name, rules in result.items():
        if any(list_kind(rule) == "ip" for rule in rules):
            # 2950 guide 78-11380-07, p. 27-17; 2970 guide 78-15462-03, p. 27-29.
            notes.note("fragments-unclassified", traffic_class=name, direction="input")
    if policed_on_input(default):
        result[default.name] = (_rule(f"{names[default.name]}-A", (Term(),), 0, cos_of),)
    return result


def policed_on_input(entry: ClassRequest) -> bool:
    """Whether a class asks for a policer where it is recognised."""
    police = entry.treatment.police
    return police is not None and police.direction == "input"


@memoise
def list_kind(rule: Rule) -> Literal["ip", "mac"] | None:
    """The kind of access list that a rule's class-map looks at; None where it looks at marks, everything or what is
    not understood."""
    if rule.name == CLASS_DEFAULT or not rule.any_of:
        return None
    first = rule.any_of[0]
    if first.source_mac is not None or first.destination_mac is not None:
        return "mac"
    plain = asks_only(first, ("dscp", "precedence")) and not asks_only(first, ())
    return None if plain and len(rule.any_of) == 1 else "ip"


def _rule(name: str, terms: tuple[Term, ...], dscp: int | None, cos_of: tuple[int, ...]) -> Rule:
    # A list holds an entry once.
    return Rule(
        name=name, any_of=tuple(dict.fromkeys(terms)), set_dscp=dscp, set_cos=None if dscp is None else cos_of[dscp]
    )


def _matches(
    request: DeviceRequest, entry: ClassRequest, marks: SwitchClassMarks, limits: ClassifierLimits, notes: Notes
) -> Iterator[tuple[str, tuple[Term, ...], int | None]]:
    """Suffix, terms and DSCP to set of every class-map of a class."""
    flows, macs = _flow_terms(request, entry, limits.supported, notes), _mac_terms(entry, limits, notes)
    if (flows or macs) and marks.dscp is None:
        notes.note("mark-needed", traffic_class=entry.name)
        flows = macs = ()
    if marks.dscp is None:
        # Without a mark of the class every code point is kept as it is: a rule for each.
        for point in marks.listed:
            yield f"D{point}", (Term(dscp=(point,)),), point
        return
    by_marks = list(_by_marks(marks))
    if policed_on_input(entry) and len(by_marks) + bool(flows) > 1:
        # One class-map has one policer: what is policed together is matched together, in one list.
        points = sorted({*marks.listed, *(d for p in marks.precedences for d in range(8 * p, 8 * p + 8))})
        flows, by_marks = (*flows, *(Term(dscp=(d,)) for d in points)), []
    if flows:
        yield "A", flows, marks.dscp
    if macs:
        yield "M", macs, marks.dscp
    for suffix, term in by_marks:
        yield suffix, (term,), marks.dscp


def _by_marks(marks: SwitchClassMarks) -> Iterator[tuple[str, Term]]:
    for position in range(0, len(marks.listed), VALUES_PER_MATCH):
        suffix = "D" if position == 0 else f"D{position // VALUES_PER_MATCH + 1}"
        yield suffix, Term(dscp=marks.listed[position : position + VALUES_PER_MATCH])
    if marks.precedences:
        yield "P", Term(precedence=marks.precedences)


def _flow_terms(
    request: DeviceRequest, entry: ClassRequest, supported: frozenset[int], notes: Notes
) -> tuple[Term, ...]:
    """The class's applications and flows as header fields, one DSCP at most in each; what one class-map cannot hold
    is refused."""
    kept: list[Alternative] = []
    for term in entry.terms:
        flow = bool(term.application) or asks_flow(term)
        if term.cos or (term.application and asks_flow(term)) or (_asks_mac(term) and (flow or points_of(term))):
            notes.note("match-unsupported", traffic_class=entry.name, variant="cos" if term.cos else "joined")
        elif flow:
            points = points_of(term)
            wanted = tuple(sorted(points & supported)) if points is not None else ()
            if points is None or wanted:
                kept.append(term.model_copy(update={"dscp": wanted, "precedence": ()}))
    recognised = entry.model_copy(update={"terms": tuple(kept)})
    notes.extend(ports_only(request, recognised))
    return tuple(
        term.model_copy(update={"dscp": () if point is None else (point,)})
        for term in header_terms(request, recognised)
        for point in term.dscp or (None,)
    )


def _asks_mac(term: Alternative) -> bool:
    return bool(term.source_mac or term.destination_mac)


def _mac_terms(entry: ClassRequest, limits: ClassifierLimits, notes: Notes) -> tuple[Term, ...]:
    alone = [
        t
        for t in entry.terms
        if _asks_mac(t) and not (t.application or asks_flow(t) or t.cos or t.dscp or t.precedence)
    ]
    if alone and not limits.mac_beside_ip:
        notes.note(
            "mac-match-without-ip",
            traffic_class=entry.name,
            direction="input",
            requested="every packet of these addresses",
            applied="those that are not IP",
        )
    return tuple(
        Term(source_mac=source, destination_mac=destination)
        for term in alone
        for source in term.source_mac or (None,)
        for destination in term.destination_mac or (None,)
    )
