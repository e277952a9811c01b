"""Matches as a router can have them: terms of match lines and entries of access lists, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Iterator
from ipaddress import ip_network

from qosforge.expansion import combine, count_combinations
from qosforge.findings import Finding
from qosforge.memoise import memoise
from qosforge.note import Reason, because, note
from qosforge.plan.model import PortRange, Term
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.plan.request import TermRequest as Alternative
from qosforge.platforms import recognition
from qosforge.platforms.cisco_ios.applications import by_ports, recognises_natively
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES, since
from qosforge.platforms.cisco_ios.class_maps import entry_marks, matches_marks, needs_one_line
from qosforge.platforms.cisco_ios.trains import has
from qosforge.platforms.mqc.access_lists import version
from qosforge.platforms.recognition import without_covered

_MOST_JOINED = 1_000
"""Pairs that two lists may stand for: people and findings look at each."""
_FLOW_ASKED = ("protocol", "source", "destination", "source_port", "destination_port")


def lower_match(
    class_request: ClassRequest, *, marks_in_list: bool = False
) -> tuple[tuple[Term, ...], tuple[Term, ...]] | Reason:
    """What a class matches and what not, as the device reads it back; or why no class-map can hold it.

    ``marks_in_list`` where class-maps look at DSCPs and precedences through access lists only (`matches_marks`).
    """
    return _lowered(class_request.terms, class_request.none_of, marks_in_list)


@memoise
def _lowered(
    terms: tuple[Alternative, ...], excepted: tuple[Alternative, ...], marks_in_list: bool
) -> tuple[tuple[Term, ...], tuple[Term, ...]] | Reason:
    limit = CAPABILITIES.access_list_entries.value
    count = max(_entered(terms, marks_in_list), sum(_count(term, marks_in_list) for term in excepted))
    if count > limit:
        return because("match-combination-unsupported", variant="too-many", count=count, limit=limit)
    none_of: list[Term] = []
    for term in excepted:
        if not _simple(term):
            return because("match-combination-unsupported", variant="excepted", fields=_words(term))
        none_of.extend(_expanded(term, marks_in_list))
    if not excepted and all(_simple(t) for t in terms):
        any_of = [one for t in terms for one in _expanded(t, marks_in_list)]
    elif all(_in_list(t) for t in terms) and (len(terms) != 1 or _flow(terms[0])):
        any_of = [one for t in terms for one in _entries_of(t)] or [Term()]
    else:
        joined = _joined(terms)
        if isinstance(joined, Reason):
            return joined
        if marks_in_list and any(t.dscp or t.precedence for t in joined):
            return because("match-combination-unsupported", variant="marks-in-lists")
        any_of = joined
    if not excepted and all(needs_one_line(t) for t in any_of):
        joined_versions = set()
    else:
        joined_versions = {version(t) == 6 for t in any_of}
    if len(joined_versions) > 1:
        return because("match-combination-unsupported", variant="ipv6-joined")
    return without_covered(any_of), tuple(dict.fromkeys(none_of))


def access_list_terms(request: DeviceRequest, class_request: ClassRequest) -> tuple[Term, ...] | Reason:
    """What a class matches as entries of one access list, applications by their ports; or why none holds it."""
    if class_request.none_of:
        return because("match-combination-unsupported", variant="excepted-in-list")
    terms: list[Alternative] = []
    for term in class_request.terms:
        if term.application is None:
            terms.append(term)
            continue
        if _flow(term):
            return because("match-combination-unsupported", variant="application-in-list", fields=_words(term))
        terms.extend(by_ports(request, class_request, term))
    for term in terms:
        if not _in_list(term) or version(Term(source=next(iter((*term.source, *term.destination)), None))) == 6:
            return because("match-combination-unsupported", variant="numbered-list", fields=_words(term))
    return without_covered(entry for term in terms for entry in _entries_of(term))


def check_match(request: DeviceRequest, class_request: ClassRequest) -> Iterator[Finding]:
    """What this router cannot look at: on old ones CoS, labels, MAC and IPv6 addresses, and what a class is not."""
    terms = (*class_request.terms, *class_request.none_of)
    for feature, command, wanted in (
        ("match_cos", "match cos", any(t.cos for t in terms)),
        ("match_mac", "match source-address mac", any(t.source_mac or t.destination_mac for t in terms)),
        ("match_not", "match not", class_request.none_of),
        ("qos_group", "match qos-group", any(t.qos_group for t in terms)),
        ("mpls_experimental", "match mpls experimental topmost", any(t.mpls_experimental for t in terms)),
    ):
        if wanted and not has(request, feature):
            place = class_place(request, class_request)
            yield note("match-line-unsupported", place, command=command, image=request.image, since=since(feature))
    prefixes = [p for t in terms for p in (*t.source, *t.destination)]
    if any(ip_network(p).version == 6 for p in prefixes) and not has(request, "match_ipv6"):
        place = class_place(request, class_request)
        yield note("match-ipv6-unsupported", place, image=request.image, since=since("match_ipv6"))


def _joined(terms: tuple[Alternative, ...]) -> list[Term] | Reason:
    """Alternatives as the product of single-line conditions that all share and one list of flows."""
    limits = CAPABILITIES.values_per_match.value
    rests = {tuple(sorted((n, getattr(t, n)) for n in _rest(t))) for t in terms}
    if len(rests) > 1:
        return because("match-combination-unsupported", variant="several-joined")
    flows = [bool(_flow(t)) for t in terms]
    if len(terms) > 1 and not all(flows):
        return because("match-combination-unsupported", variant="with-and-without-flow")
    rest = dict(next(iter(rests)))
    for name, values in rest.items():
        most = limits.get(name, 1)
        if name != "application" and len(values) > most:
            return because(
                "match-combination-unsupported", variant="too-many-values", most=most, field=name, count=len(values)
            )
    single = {n: v[0] if n in _SCALAR and n != "application" else v for n, v in rest.items()}
    return [Term.model_validate({**single, **flow}) for t in terms for flow in _flows(t)]


_SCALAR = frozenset({"application", "source_mac", "destination_mac", "input_interface"})


def _rest(term: Alternative) -> set[str]:
    return set(term.set_fields) - set(_FLOW_ASKED)


def _flow(term: Alternative) -> set[str]:
    return set(term.set_fields) & set(_FLOW_ASKED)


def _simple(term: Alternative) -> bool:
    """Whether one line, or entries of an access list, hold a term."""
    rest = _rest(term)
    return _in_list(term) if _flow(term) else len(rest) == 1


def _in_list(term: Alternative) -> bool:
    """Whether entries of an access list can ask for what a term asks beside the flow."""
    prefix = next(iter((*term.source, *term.destination)), None)
    return _rest(term) in entry_marks(ip_network(prefix).version if prefix else None)


def _words(term: Alternative) -> str:
    return " and ".join(term.set_fields)


def _expanded(term: Alternative, marks_in_list: bool) -> Iterator[Term]:
    """One term for each match line or entry: the device takes a few values a line, and one of each an entry."""
    if _flow(term) or (marks_in_list and (term.dscp or term.precedence)):
        yield from _entries_of(term)
        return
    (name,) = _rest(term)
    if name == "application":
        yield Term(application=term.application)
        return
    values = getattr(term, name)
    most = CAPABILITIES.values_per_match.value.get(name, 1)
    for start in range(0, len(values), most):
        yield Term.model_validate({name: values[start] if name in _SCALAR else values[start : start + most]})


def count_conditions(request: DeviceRequest, class_request: ClassRequest) -> int:
    """How many lines and entries a class becomes, by arithmetic."""
    marks_in_list = not matches_marks(request)

    def count(term: Alternative) -> int:
        if term.application and not recognises_natively(request, term.application):
            return recognition.count_conditions(request, term)
        return _count(term, marks_in_list)

    alone = len(class_request.terms) == 1 and not class_request.terms[0].application
    taken = _entered(class_request.terms, marks_in_list) if alone else sum(map(count, class_request.terms))
    return max(taken, sum(map(count, class_request.none_of)))


def _entered(terms: tuple[Alternative, ...], marks_in_list: bool) -> int:
    """Lines and entries of what a class takes: a single flow's sources and destinations are lists of their own."""
    whole = sum(_count(term, marks_in_list) for term in terms)
    # Images that have marks in lists alone join no lists either.
    if marks_in_list or len(terms) != 1 or not _flow(terms[0]) or whole > _MOST_JOINED:
        return whole
    (term,) = terms
    near, far = (
        count_combinations(*(getattr(term, name) or (None,) for name in ("protocol", *side)))
        for side in (("source", "source_port"), ("destination", "destination_port"))
    )
    marks = math.prod(len(getattr(term, name)) for name in _rest(term)) if _in_list(term) else 1
    return min(whole, near * marks + far)


def _count(term: Alternative, marks_in_list: bool) -> int:
    rest = _rest(term)
    if _flow(term):
        flows = count_combinations(*(getattr(term, name) or (None,) for name in _FLOW_ASKED))
        if not _in_list(term):
            return flows  # the marks are joined with the list, and stand once
        return flows * math.prod(len(getattr(term, name)) for name in rest)
    if len(rest) != 1 or term.application:
        return 1  # conditions that are joined stand once
    (name,) = rest
    most = 1 if marks_in_list else CAPABILITIES.values_per_match.value.get(name, 1)
    return -(-len(getattr(term, name)) // most)


def _entries_of(term: Alternative) -> Iterator[Term]:
    """One term for each access-list entry."""
    marks = [{name: (value,)} for name in _rest(term) for value in getattr(term, name)] or [{}]
    for flow, mark in combine(tuple(_flows(term)), marks):
        yield Term.model_validate({**flow, **mark})


def _flows(term: Alternative) -> Iterator[dict[str, object]]:
    """Every combination of the flow fields, one value each."""
    for protocol, source, near, destination, far in combine(
        term.protocol or (None,),
        term.source or (None,),
        term.source_port or (None,),
        term.destination or (None,),
        term.destination_port or (None,),
    ):
        values = {"protocol": protocol, "source": source, "destination": destination}
        ports = {"source_ports": near, "destination_ports": far}
        yield {
            **{name: value for name, value in values.items() if value is not None},
            **{n: (PortRange(first=p[0], last=p[1]),) for n, p in ports.items() if p is not None},
        }
