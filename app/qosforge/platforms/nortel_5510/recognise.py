"""Filter elements of classes: one value or one aligned block of values in every field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qosforge.dscp import dscp_label
from qosforge.errors import Place
from qosforge.expansion import combine
from qosforge.findings import DEFAULT, Finding
from qosforge.note import note
from qosforge.plan.model import Rule, Term
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.plan.request import TermRequest as Alternative
from qosforge.platforms.names import short_name
from qosforge.platforms.nortel_5510.capabilities import CAPABILITIES
from qosforge.platforms.nortel_5510.filters import number_filters
from qosforge.platforms.nortel_5510.policing import policer
from qosforge.platforms.recognition import aligned_blocks, count_conditions, joins_too_much, points_of, single_terms

COUNT_SUFFIX = 3
"""Room behind a rule's name for the count of a filter (``-15``) or the action beyond its meter (``-x``)."""


def element_terms(request: DeviceRequest, class_request: ClassRequest) -> tuple[Term, ...]:
    """The alternatives of a class, each as one IP element and one L2 element can hold it; flows first."""
    flows: dict[Term, None] = {}
    marks: dict[Term, None] = {}
    for term in class_request.terms:
        if joins_too_much(term):
            continue
        asks_flow = term.application or term.protocol or term.source or term.destination
        table = flows if asks_flow or term.source_mac or term.destination_mac else marks
        for single in _singles(request, term):
            table[single] = None
    return (*flows, *marks)


def _singles(request: DeviceRequest, term: Alternative) -> Iterator[Term]:
    points = points_of(term)
    marks = combine(
        ((),) if points is None else tuple((d,) for d in sorted(points)),
        tuple((cos,) for cos in sorted(term.cos)) or ((),),
        _vlans(term.vlan) or ((),),
    )
    fields = [{"dscp": dscp, "cos": cos, "vlan": vlan} for dscp, cos, vlan in marks]
    return single_terms(request, term, fields, aligned_blocks)


def count_filters(request: DeviceRequest, term: Alternative) -> int:
    """How many filters an alternative becomes at most, by arithmetic: each block of ports and VLANs is one."""
    flows = count_conditions(request, term, lambda first, last: len(aligned_blocks(first, last)))
    return flows * (len(term.cos) or 1) * (len(_vlans(term.vlan)) or 1)


def _vlans(wanted: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """VLANs as blocks of neighbours that one mask covers."""
    runs: list[list[int]] = []
    for vlan in sorted(set(wanted)):
        if runs and runs[-1][-1] == vlan - 1:
            runs[-1].append(vlan)
        else:
            runs.append([vlan])
    blocks = (block for run in runs for block in aligned_blocks(run[0], run[-1]))
    return tuple(tuple(range(block.first, block.last + 1)) for block in blocks)


def rules(
    request: DeviceRequest, names: Mapping[str, str], dscp_of: Mapping[str, int], cos_of: Mapping[str, int]
) -> tuple[tuple[Rule, str], ...]:
    """Rules of a host port, each with its class, in the intent's order; what none matches is the untrusted group's
    to clear.

    An untrusted group clears the marks of what no action marks: a class that has no mark of its own keeps what it
    is recognised by, with one rule for each value.
    """
    result: list[tuple[Rule, str]] = []
    taken: list[Term] = []
    in_use, limit = set(names.values()), CAPABILITIES.name_limit.value - COUNT_SUFFIX
    for c in request.classes:
        dscp, name = dscp_of.get(c.name), names[c.name]
        high = "high" if c.mark and c.mark.drop_precedence in ("medium", "high") else None
        police = policer(c, dscp, cos_of[c.name])
        shared = {"set_drop_precedence": high, "police": police}
        if c.is_default:
            if dscp or cos_of[c.name] or high or police:
                result.append((_rule(name, (Term(),), dscp, cos_of[c.name], shared), c.name))
            continue
        # What an earlier class has as the very same alternative is its own.
        terms = tuple(t for t in element_terms(request, c) if t not in taken)
        taken.extend(terms)
        if dscp is not None:
            result.extend([(_rule(name, terms, dscp, cos_of[c.name], shared), c.name)] if terms else [])
            continue
        kept: dict[tuple[int | None, int], list[Term]] = {}
        for t in terms:
            cos = t.cos[0] if t.cos and not (c.mark and c.mark.cos is not None) else cos_of[c.name]
            kept.setdefault((t.dscp[0] if t.dscp else None, cos), []).append(t)
        for (point, cos), held in kept.items():
            # Behind the name of its class, a rule that keeps one mark has this: ``46`` a DSCP, ``c5`` a priority.
            longer = f"{name}-{f'c{cos}' if point is None else point}"
            called = name if len(kept) == 1 else short_name(longer, limit, in_use)
            in_use.add(called)
            result.append((_rule(called, tuple(held), point, cos, shared), c.name))
    return tuple(result)


def _rule(name: str, terms: tuple[Term, ...], dscp: int | None, cos: int, more: Mapping[str, object]) -> Rule:
    return Rule.model_validate({"name": name, "any_of": terms, "set_dscp": dscp, "set_cos": cos, **more})


def filter_findings(request: DeviceRequest, host_rules: tuple[Rule, ...]) -> Iterator[Finding]:
    """Whether the filters find room on a port, and what they cannot match."""
    for c in request.classes:
        yield from _match_findings(request, c)
    made = number_filters(host_rules)
    room = CAPABILITIES.precedences.value
    limits = CAPABILITIES.filter_limits.value
    needs = (
        ("filters", len(made.policies), room),
        ("classifiers", len(made.filters), limits.classifiers),
        ("meters", len(made.meters), limits.meters),
    )
    beyond = [(what, used, most) for what, used, most in needs if used > most]
    place = Place(device=request.device, direction="input")
    for what, used, most in beyond:
        requested, applied = f"{used} {what}", f"{most} at most"
        yield note(
            "too-many-filters", place, requested=requested, applied=applied, variant=what, used=used, most=most
        )
    if not beyond:
        blocks = sum(p.block is not None for p in made.policies)
        yield note(
            "filter-precedences",
            place,
            requested=f"{len(made.policies)} filters",
            applied=f"{room} at most",
            variant="blocks" if blocks else DEFAULT,
            policies=len(made.policies),
            room=room,
            filters=len(made.filters),
            blocks=blocks,
        )


def _match_findings(request: DeviceRequest, c: ClassRequest) -> Iterator[Finding]:
    place = class_place(request, c, direction="input")
    for term in c.terms:
        if joins_too_much(term):
            yield note("match-combination-unsupported", place, variant="application")
    precedences = list(dict.fromkeys(p for t in c.terms for p in t.precedence))
    if precedences:
        listed, elements = f"precedence {', '.join(map(str, precedences))}", f"{8 * len(precedences)} elements"
        yield note("precedence-as-dscps", place, requested=listed, applied=elements, variant="code-points")
    ranges = [r for t in c.terms for r in (*t.source_port, *t.destination_port)]
    ranges += [r for t in c.terms if t.application for r in request.applications[t.application].ports]
    for first, last in dict.fromkeys(ranges):
        blocks = len(aligned_blocks(first, last))
        if blocks > 1:
            yield note("range-as-blocks", place, requested=f"ports {first} to {last}", applied=f"{blocks} elements")
    if c.mark and c.mark.drop_precedence == "medium":
        yield note("drop-precedence-rounded", place, requested="medium", applied="high")
    if c.mark and c.mark.precedence is not None:
        requested, applied = f"precedence {c.mark.precedence}", f"DSCP {dscp_label(c.mark.code_point or 0)}"
        yield note("precedence-carried-as-dscp", place, requested=requested, applied=applied)
