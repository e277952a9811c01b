"""From the classes of a request to class-maps with one match each: ACLs for applications, DSCP lists for marks."""

from __future__ import annotations

from collections.abc import Iterator

from app.findings import Severity
from app.plan.model import Rule, Term
from app.plan.request import ClassRequest, DeviceRequest
from app.platforms.ios_switch.marks import ClassMarks
from app.platforms.ios_switch.notes import Notes
from app.platforms.names import short_names
from app.platforms.recognition import asks_flow, header_terms, ports_only

INPUT_POLICY = "QOSFORGE-IN"
ACL_PREFIX = "QOSFORGE-"
NAME_LENGTH = 40
"""Characters in the name of a class-map (IOS)."""
SUFFIX_LENGTH = 4
"""Longest suffix of a class's class-maps: ``-D63``."""
VALUES_PER_MATCH = 8
"""DSCP values on one match line (Catalyst 2950 and 2970 guides)."""


def input_rules(
    request: DeviceRequest, marks: dict[str, ClassMarks], cos_of: tuple[int, ...], notes: Notes
) -> dict[str, tuple[Rule, ...]]:
    """The rules that recognise and mark each class on a host port, in the order of the classes.

    ``cos_of`` is the DSCP to CoS map in force: the box derives the CoS from the DSCP it sets.
    """
    names = short_names((c.name for c in request.classes), NAME_LENGTH - SUFFIX_LENGTH)
    return {
        entry.name: tuple(
            _rules(request, entry, name=names[entry.name], marks=marks[entry.name], cos_of=cos_of, notes=notes)
        )
        for entry in request.classes
        if not entry.is_default
    }


def _rules(
    request: DeviceRequest,
    entry: ClassRequest,
    *,
    name: str,
    marks: ClassMarks,
    cos_of: tuple[int, ...],
    notes: Notes,
) -> Iterator[Rule]:
    terms = _application_terms(request, entry, notes)
    if terms and marks.dscp is None:
        notes.add(
            Severity.ERROR,
            "mark-needed",
            "the box chooses queues by marks, so what comes without one cannot be served",
            traffic_class=entry.name,
            mend="give the class a mark",
        )
        terms = ()
    if terms:
        yield _rule(f"{name}-A", terms, marks.dscp, cos_of)
    if marks.dscp is None:
        # Without a mark of the class every code point is kept as it is: a rule for each.
        for point in marks.listed:
            yield _rule(f"{name}-D{point}", (Term(dscp=(point,)),), point, cos_of)
        return
    for position in range(0, len(marks.listed), VALUES_PER_MATCH):
        suffix = "D" if position == 0 else f"D{position // VALUES_PER_MATCH + 1}"
        part = marks.listed[position : position + VALUES_PER_MATCH]
        yield _rule(f"{name}-{suffix}", (Term(dscp=part),), marks.dscp, cos_of)


def _rule(name: str, terms: tuple[Term, ...], dscp: int | None, cos_of: tuple[int, ...]) -> Rule:
    return Rule(name=name, any_of=terms, set_dscp=dscp, set_cos=None if dscp is None else cos_of[dscp])


def _application_terms(request: DeviceRequest, entry: ClassRequest, notes: Notes) -> tuple[Term, ...]:
    """The class's applications as protocol and ports; a match that one class-map cannot hold is refused."""
    for term in entry.terms:
        flow = asks_flow(term)
        if term.cos or ((term.application or flow) and term.dscp) or (term.application and flow):
            what = "CoS" if term.cos else "an application or a flow together with anything else"
            notes.add(
                Severity.ERROR,
                "match-unsupported",
                f"a class-map here holds one match and cannot ask for {what}",
                traffic_class=entry.name,
                mend="match the application or the DSCP",
            )
    if (found := ports_only(request, entry)) is not None:
        notes.extend([found])
    return tuple(t for t in header_terms(request, entry) if in_list(t) and not (t.dscp or t.cos))


def in_list(term: Term) -> bool:
    """Whether an access list holds a term."""
    return term.protocol is not None or term.source is not None or term.destination is not None
