"""Classes told by CoS at outputs: there by the DSCPs that the device's own inputs write.

A router takes the tag off what it forwards, and no CoS is set for an outgoing packet but by ``set cos`` (command
reference, set cos: "No CoS value is set for the outgoing packet").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from qosforge.findings import DEFAULT, Finding
from qosforge.note import note
from qosforge.plan.model import Rule, Term
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES
from qosforge.platforms.cisco_ios.class_maps import rule_of
from qosforge.platforms.cisco_ios.trains import uses_car
from qosforge.platforms.class_trees import every_class
from qosforge.platforms.names import shorten

DSCP_SUFFIX = ".DSCP"
"""Ends the name of a class-map that looks at the DSCP in place of the CoS."""


def dscp_of_cos(request: DeviceRequest) -> dict[int, int]:
    """The DSCP that inputs which trust the CoS write for each, but for those of the same precedence.

    A class that marks both goes before the map of the intent.
    """
    marks = [c.mark for c in request.classes if c.mark]
    own = {m.cos: m.dscp for m in reversed(marks) if m.cos is not None and m.dscp is not None}
    return dict(enumerate(request.cos_to_dscp or ())) | own


def routed_rules(request: DeviceRequest, rules: Mapping[str, Rule]) -> Mapping[str, Rule]:
    """The rules as outputs use them, where packets have no CoS any more.

    A class that is told by a CoS of which no input writes a DSCP keeps its rule, which takes nothing there.
    """
    if not any(_by_cos(rule) for rule in rules.values()):
        return rules
    found = dict(rules)
    length = CAPABILITIES.name_length.value - len(DSCP_SUFFIX)
    for c in every_class(request.classes):
        rule = rules[c.name]
        if _by_cos(rule) and (told := _told(request, c, rule)) is not None:
            found[c.name] = rule_of(request, shorten(rule.name, length) + DSCP_SUFFIX, *told)
    return found


def check_routed(
    request: DeviceRequest, rules_at: Callable[[InterfaceRequest], Mapping[str, Rule]]
) -> Iterator[Finding]:
    """``cos-untagged``: classes that outputs cannot tell."""
    for tagged, variant in ((False, DEFAULT), (True, "routed")):
        outputs = [i for i in request.interfaces if i.schedule and i.tagged is tagged]
        for c in every_class(request.classes) if outputs else ():
            if ports := [i.name for i in outputs if _by_cos(rules_at(i)[c.name])]:
                place = class_place(request, c, direction="output")
                yield note("cos-untagged", place, variant=variant, interfaces=", ".join(ports))


def _by_cos(rule: Rule) -> bool:
    return any(term.cos for term in (*rule.any_of, *rule.none_of))


def _told(
    request: DeviceRequest, class_request: ClassRequest, rule: Rule
) -> tuple[tuple[Term, ...], tuple[Term, ...]] | None:
    """What a class takes and what not, by DSCP; None where one of its CoS has none."""
    written, trusted = dscp_of_cos(request), _trusts_cos(request)
    recognised = not uses_car(request) and any(i.recognise and i.tagged for i in request.interfaces)
    own = class_request.recognised_by if recognised else None

    def told(term: Term, marks: tuple[int, ...]) -> Term | None:
        if not term.cos:
            return term
        dscps = [written.get(cos, 8 * cos) for cos in term.cos] if trusted else []
        dscps += marks
        if not dscps or term.dscp or term.precedence:
            return None
        return term.model_copy(update={"cos": (), "dscp": tuple(dict.fromkeys(dscps))})

    any_of = [told(term, own.dscp if own else ()) for term in rule.any_of]
    none_of = [told(term, ()) for term in rule.none_of]
    if None in any_of or None in none_of:
        return None
    return tuple(dict.fromkeys(t for t in any_of if t)), tuple(dict.fromkeys(t for t in none_of if t))


def _trusts_cos(request: DeviceRequest) -> bool:
    return not uses_car(request) and any(i.trust and i.trust_in == "cos" and i.tagged for i in request.interfaces)
