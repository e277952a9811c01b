"""The match rules of a device's classes, children included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qosforge.findings import Finding
from qosforge.inventory.models import DeviceRole
from qosforge.note import Reason, because, note
from qosforge.packet_sets.classification import acts
from qosforge.plan.model import Plan, Rule, Term
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES, since
from qosforge.platforms.cisco_ios.class_maps import class_map, lists_ipv6, matches_marks, rule_of
from qosforge.platforms.cisco_ios.limits import check_inputs, trusts_mark
from qosforge.platforms.cisco_ios.matching import check_match, lower_match
from qosforge.platforms.cisco_ios.trains import has
from qosforge.platforms.class_trees import every_class, within
from qosforge.platforms.mqc.lines import CLASS_DEFAULT
from qosforge.platforms.names import shorten

MARK_SUFFIX = ".MARK"
"""Ends the name of a class-map that looks at the mark, beside one that looks at what the class matches."""


def lower_rules(
    request: DeviceRequest, names: dict[str, str], held: frozenset[str] | None, findings: list[Finding]
) -> dict[str, Rule]:
    """The rule of every class by its name in the intent; ``names`` are what the device calls them.

    ``held`` are the interfaces that the device has, where they are known.
    """
    rules: dict[str, Rule] = {}

    def descend(classes: tuple[ClassRequest, ...], above: ClassRequest | None) -> None:
        for c in classes:
            whole = c
            if above is not None and not c.is_default and _handled_on_input(request, c):
                joined = within(above, c)
                if isinstance(joined, Reason):
                    findings.append(joined.note(class_place(request, c)))
                    joined = c.model_copy(update={"terms": ()})
                whole = joined
            rules[c.name] = _rule(request, whole, names.get(c.name, CLASS_DEFAULT), held, findings)
            descend(c.children, whole)

    descend(request.classes, None)
    return rules


def marked_rules(request: DeviceRequest, rules: Mapping[str, Rule], names: Mapping[str, str]) -> dict[str, Rule]:
    """The rules of outputs that tell classes by their marks; those without one are told as elsewhere.

    A class that inputs or other outputs tell by what it matches has a second class-map: the mark is in its name.
    """
    marked: dict[str, Rule] = {}
    for c in every_class(request.classes):
        rule, terms = rules[c.name], _groups(request, c) or _marks(c)
        if not c.is_default and (c.recognised_by or terms) and rule.any_of != terms:
            length = CAPABILITIES.name_length.value - len(MARK_SUFFIX)
            rule = rule_of(request, shorten(names[c.name], length) + MARK_SUFFIX, terms)
        marked[c.name] = rule
    return marked


def _groups(request: DeviceRequest, class_request: ClassRequest) -> tuple[Term, ...]:
    """The QoS groups that this device's own inputs give the packets of a class and of those below it."""
    if not any(i.recognise for i in request.interfaces) or not has(request, "qos_group"):
        return ()
    marks = [c.mark for c in every_class((class_request,))]
    return tuple(dict.fromkeys(Term(qos_group=(m.qos_group,)) for m in marks if m and m.qos_group is not None))


def _marks(class_request: ClassRequest) -> tuple[Term, ...]:
    """The marks of a class and of those below it, each for itself."""
    marks = [c.recognised_by for c in every_class((class_request,))]
    return tuple(
        dict.fromkeys(
            term
            for m in marks
            if m is not None
            for term in (*(Term(dscp=(d,)) for d in m.dscp), *(Term(precedence=(p,)) for p in m.precedence))
        )
    )


def _handled_on_input(request: DeviceRequest, class_request: ClassRequest) -> bool:
    acting = any(acts(c) for c in every_class((class_request,)))
    return acting and not trusts_mark(request, class_request) and any(i.recognise for i in request.interfaces)


def check_versions(request: DeviceRequest, rules: Mapping[str, Rule], running: Plan | None) -> Iterator[Finding]:
    """``told-in-ipv4``: classes that IPv6 packets do not reach, on a device that has them."""
    spoken = "ipv6" in request.features or lists_ipv6(request)
    if not spoken and not (running is not None and running.system.ipv6):
        return
    marks = not has(request, "match_both_versions")
    variant = "marks" if marks else "lists" if spoken else "unsaid"
    for c in every_class(request.classes):
        if rules[c.name].ipv4:
            facts = {"image": request.image, "since": since("match_both_versions")} if marks else {}
            yield note("told-in-ipv4", class_place(request, c), variant=variant, **facts)


def _rule(
    request: DeviceRequest,
    class_request: ClassRequest,
    name: str,
    held: frozenset[str] | None,
    findings: list[Finding],
) -> Rule:
    """What a class's class-map matches here: the mark where an edge has set it, else what the intent lists."""
    if class_request.is_default:
        return Rule(name=name, any_of=(Term(),))
    if trusts_mark(request, class_request):
        return rule_of(request, name, _marks(class_request))
    unmarked = class_request.recognised_by is None
    if request.role is not DeviceRole.EDGE and unmarked and any(t.application for t in class_request.terms):
        findings.append(
            note(
                "recognised-again",
                class_place(request, class_request),
            )
        )
    findings.extend(check_inputs(request, class_request, held))
    unknown = tuple(check_match(request, class_request))
    if unknown:
        findings.extend(unknown)
        return Rule(name=name)
    matched = lower_match(class_request, marks_in_list=not matches_marks(request))
    if isinstance(matched, Reason):
        findings.append(matched.note(class_place(request, class_request)))
        return Rule(name=name)
    rule = rule_of(request, name, *matched)
    made = class_map(request, rule)
    if not made.modal and len(made.lines) > 1:
        why = because("match-combination-unsupported", variant="single-line", image=request.image)
        findings.append(why.note(class_place(request, class_request)))
        return Rule(name=name)
    return rule
