"""Match conditions of FTOS class maps: access-list entries, lists of marks, or both."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from qosforge.findings import Finding
from qosforge.memoise import memoise
from qosforge.note import Reason, because
from qosforge.plan.model import Rule, Term
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.plan.request import TermRequest as Alternative
from qosforge.plan.terms import asks_only
from qosforge.platforms import recognition
from qosforge.platforms.force10_e300.capabilities import CAPABILITIES, has_layer2, since_8
from qosforge.platforms.recognition import aligned_blocks, joins_too_much

LAYER2 = frozenset({"cos", "source_mac", "destination_mac"})
"""Fields of a match that a policy of layer 3 does not see."""
_MARKS = ("dscp", "precedence", "cos", "vlan")
_EITHER = frozenset({"vlan"})


def layer2(request: DeviceRequest) -> bool:
    """Whether the classes are told by Ethernet headers: a policy looks at these or at IP headers."""
    return has_layer2(request.image) and _by_ethernet(request.classes, request.image)


@memoise
def _by_ethernet(classes: tuple[ClassRequest, ...], image: str) -> bool:
    requested = {name for c in classes for t in c.terms for name in t.set_fields}
    if requested and requested <= _EITHER:
        return not since_8(image)
    return bool(requested & LAYER2) and requested <= LAYER2 | _EITHER


def is_layer2(rules: Sequence[Rule], image: str) -> bool:
    """Whether rules are those of a policy of layer 2; older images see VLANs there alone."""
    vlans = not since_8(image)
    return any(
        r.set_cos is not None
        or any(t.cos or t.source_mac or t.destination_mac or (vlans and t.vlan) for t in r.any_of)
        for r in rules
    )


def entry_of(term: Term) -> Term:
    """The part of an alternative that an access list holds; nothing in particular where it has none."""
    return term.model_copy(update=dict.fromkeys(_MARKS, ()))


def marks_of(term: Term) -> dict[str, tuple[int, ...]]:
    """The lists of marks that an alternative asks for."""
    return {name: getattr(term, name) for name in _MARKS if getattr(term, name)}


@memoise
def together(terms: tuple[Term, ...]) -> bool:
    """Whether the lines of a class map must all hold: entries together with marks, or marks of several kinds."""
    return any(len(marks_of(t)) + (not asks_only(t, _MARKS)) > 1 for t in terms)


@memoise
def entries(rule: Rule) -> tuple[Term, ...]:
    """What stands in the rule's access list; everything where an alternative asks for nothing."""
    found = (entry_of(t) for t in rule.any_of if not asks_only(t, _MARKS) or not marks_of(t))
    return tuple(dict.fromkeys(found))


@memoise
def mark_lines(rule: Rule) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Kinds and values of the other match lines."""
    found = ((kind, values) for t in rule.any_of for kind, values in marks_of(t).items())
    return tuple(dict.fromkeys(found))


def expressible(request: DeviceRequest, class_request: ClassRequest) -> tuple[Term, ...]:
    """The alternatives of a class that one class map can hold: entries first, then marks."""
    return _split(request, class_request)[0]


@memoise
def _split(request: DeviceRequest, class_request: ClassRequest) -> tuple[tuple[Term, ...], tuple[Alternative, ...]]:
    """What a class map holds, and what is left out."""
    kept: list[tuple[Alternative, tuple[Term, ...]]] = []
    refused: list[Alternative] = []
    for term in class_request.terms:
        if _reason(request, term) is None:
            kept.append((term, tuple(_singles(request, term))))
        else:
            refused.append(term)
    terms = [t for _, singles in kept for t in singles]
    if together(tuple(terms)):
        alike = {tuple(marks_of(t).items()) for t in terms}
        bare = sum(asks_only(t, _MARKS) for t in terms)
        most_vlans = max(len(t.vlan) for t in terms)
        if len(alike) > 1 or (bare and len(terms) > 1) or most_vlans > 1:
            mixed = [term for term, singles in kept if together(singles)]
            refused += mixed
            terms = [t for term, singles in kept if term not in mixed for t in singles]
        else:
            return tuple(dict.fromkeys(terms)), tuple(refused)
    lists = [t for t in terms if not asks_only(t, _MARKS)]
    marked = [piece for t in terms if asks_only(t, _MARKS) for piece in pieces(t)]
    return tuple(dict.fromkeys((*lists, *marked))), tuple(refused)


def count_conditions(request: DeviceRequest, term: Alternative) -> int:
    """How many entries and lines an alternative becomes at most, by arithmetic."""
    most = CAPABILITIES.values_per_match.value
    lists = sum(-(-len(getattr(term, name)) // most) for name in ("dscp", "precedence", "cos"))
    return recognition.count_conditions(request, term, points_apart=False) + lists + len(term.vlan)


def pieces(term: Term) -> Iterator[Term]:
    """Lists of marks no longer than a match line; VLANs stand alone."""
    most = CAPABILITIES.values_per_match.value
    for kind, values in marks_of(term).items():
        size = 1 if kind == "vlan" else most
        for at in range(0, len(values), size):
            yield Term.model_validate({kind: values[at : at + size]})


def _reason(request: DeviceRequest, term: Alternative) -> Reason | None:
    """The reason where no class map of the request's layer holds an alternative."""
    if layer2(request):
        return None
    if not has_layer2(request.image) and (command := _layer2_command(request, term)):
        since = CAPABILITIES.layer2_since.value
        return because("match-line-unsupported", command=command, image=request.image, since=since)
    if term.cos:
        return because("match-unsupported", variant="layer3-cos")
    if term.source_mac or term.destination_mac:
        return because("match-unsupported", variant="layer3-mac")
    if term.vlan and not since_8(request.image):
        return because("match-unsupported", variant="layer3-vlan", image=request.image)
    if joins_too_much(term):
        return because("match-combination-unsupported", variant="application")
    return None


def _layer2_command(request: DeviceRequest, term: Alternative) -> str | None:
    """The match line of layer 2 that an alternative needs; VLANs beside IP headers need another release."""
    if term.cos:
        return "match mac dot1p"
    if term.source_mac or term.destination_mac:
        return "match mac access-group"
    return "match mac vlan" if term.vlan and _by_ethernet(request.classes, request.image) else None


def match_refusals(request: DeviceRequest) -> Iterator[Finding]:
    """Alternatives that are left out."""
    for c in request.classes:
        for term in _split(request, c)[1]:
            reason = _reason(request, term) or because("match-combination-unsupported", variant="alternatives")
            yield reason.note(class_place(request, c, direction="input"))


def _singles(request: DeviceRequest, term: Alternative) -> Iterator[Term]:
    dscps = tuple(sorted(term.dscp))
    precedences = tuple(sorted(term.precedence))
    if dscps and precedences:
        dscps, precedences = tuple(d for d in dscps if d >> 3 in precedences), ()
    marks = {"dscp": dscps, "precedence": precedences, "cos": tuple(sorted(term.cos)), "vlan": term.vlan}
    return recognition.single_terms(request, term, [marks])


def sorted_lines(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    """Alternatives as a class map lists them: its access list, then lists of marks."""
    return tuple(sorted(terms, key=lambda t: bool(marks_of(t)) and asks_only(t, _MARKS)))


# -- order -----------------------------------------------------------------------------------------------


def orders(rules: Sequence[Rule]) -> dict[str, int]:
    """``order`` of the entries of rules that are looked at before ones of higher queues.

    The device looks at the class of the highest queue first, but at entries with an ``order`` before all others.
    """
    late = [at for at, rule in enumerate(rules) if any((o.queue or 0) > (rule.queue or 0) for o in rules[at + 1 :])]
    last = max(late, default=-1)
    return {rule.name: at + 1 for at, rule in enumerate(rules[: last + 1]) if not mark_lines(rule)}


def in_box_order(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """The rules in the order in which the device looks at them, by ``order`` if that is nearer to the given one."""
    chosen = orders(rules)
    ordered = sorted(rules, key=lambda r: (chosen.get(r.name, 255), -(r.queue or 0)))
    plain = sorted(rules, key=lambda r: -(r.queue or 0))
    given = [r.name for r in rules]
    return tuple(min((plain, ordered), key=lambda found: _turned([r.name for r in found], given)))


def _turned(found: list[str], given: list[str]) -> int:
    """How many pairs stand the other way round."""
    place = [given.index(name) for name in found]
    return sum(a > b for a, b in itertools.combinations(place, 2))


def cam_entries(rules: Sequence[Rule]) -> int:
    """CAM entries of a policy: for each line one a value, for an entry one for each pair of blocks of ports."""
    total = 0
    for rule in rules:
        parts = [sum(_entry_size(t) for t in entries(rule))] if entries(rule) else []
        parts += [len(values) for _, values in mark_lines(rule)]
        total += math.prod(parts) if together(rule.any_of) else sum(parts)
    return total


def _entry_size(term: Term) -> int:
    most = CAPABILITIES.entries_per_rule.maximum
    sides = (term.source_ports, term.destination_ports)
    near, far = (sum(len(aligned_blocks(p.first, p.last)) for p in ports) or 1 for ports in sides)
    return min(near * far, most)
