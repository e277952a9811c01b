"""Class-maps: how alternatives become match lines and one access list, and which cannot."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from app.plan.model import PortRange, Rule, Term
from app.plan.request import ClassRequest
from app.plan.request import Term as Alternative
from app.platforms.cisco_ios.capabilities import capabilities
from app.platforms.ios_switch.acl import entries

ACL_PREFIX = "QOSFORGE-"
EXCEPT_SUFFIX = ".NOT"
"""Ends the name of the list of what a class is not; no class name has a dot."""

_FLOW_ASKED = ("protocol", "source", "destination", "source_port", "destination_port")
_FLOW = ("protocol", "source", "destination", "source_ports", "destination_ports")
_IN_ENTRY = ({"dscp"}, {"precedence"}, set[str]())
"""What an access-list entry can ask for beside the flow."""


@dataclass(frozen=True)
class MatchLine:
    """One match line: one condition of a term, or an access list."""

    term: Term | None = None
    access_list: str | None = None
    negated: bool = False


@dataclass(frozen=True)
class AccessList:
    """A named extended access list: what it permits, as the box prints it."""

    name: str
    entries: tuple[str, ...]


@dataclass(frozen=True)
class ClassMap:
    """A class-map with the access lists that it refers to; ``mode`` is ``any`` or ``all``."""

    name: str
    mode: str
    lines: tuple[MatchLine, ...]
    access_lists: tuple[AccessList, ...] = ()


def lower_match(wanted: ClassRequest) -> tuple[tuple[Term, ...], tuple[Term, ...]] | str:
    """What a class matches and what not, as the box reads it back; or why no class-map can hold it."""
    none_of: list[Term] = []
    for term in wanted.none_of:
        if not _simple(term):
            return f"what a class is not cannot join {_words(term)} in one line"
        none_of.extend(_expanded(term))
    if not wanted.none_of and all(_simple(t) for t in wanted.terms):
        any_of = [one for t in wanted.terms for one in _expanded(t)]
    elif all(_rest(t) in _IN_ENTRY for t in wanted.terms) and (len(wanted.terms) != 1 or _flow(wanted.terms[0])):
        any_of = [one for t in wanted.terms for one in _entries_of(t)] or [Term()]
    else:
        joined = _joined(wanted.terms)
        if isinstance(joined, str):
            return joined
        any_of = joined
    limit = capabilities()["access_list_entries"]["value"]
    if max(len(any_of), len(none_of)) > limit:
        return f"its fields combine to {max(len(any_of), len(none_of))} conditions, at most {limit} are entered"
    # A line said twice is held once.
    return tuple(dict.fromkeys(any_of)), tuple(dict.fromkeys(none_of))


def _joined(terms: tuple[Alternative, ...]) -> list[Term] | str:
    """Alternatives as the product of single-line conditions that all share and one list of flows."""
    limits = capabilities()["values_per_match"]
    rests = {tuple(sorted((n, getattr(t, n)) for n in _rest(t))) for t in terms}
    if len(rests) > 1:
        return "several alternatives that join conditions must share all but addresses, protocols and ports"
    flows = [bool(_flow(t)) for t in terms]
    if len(terms) > 1 and not all(flows):
        return "alternatives with and without addresses, protocols or ports cannot be joined with other conditions"
    rest = dict(next(iter(rests)))
    for name, values in rest.items():
        most = limits.get(name, 1)
        if name != "application" and len(values) > most:
            return f"a joined condition takes at most {most} values of {name}, not {len(values)}"
    single = {n: v[0] if n in _SCALAR and n != "application" else v for n, v in rest.items()}
    return [Term.model_validate({**single, **flow}) for t in terms for flow in _flows(t)]


_SCALAR = frozenset({"application", "source_mac", "destination_mac", "input_interface"})


def _rest(term: Alternative) -> set[str]:
    return set(term.given) - set(_FLOW_ASKED)


def _flow(term: Alternative) -> set[str]:
    return set(term.given) & set(_FLOW_ASKED)


def _simple(term: Alternative) -> bool:
    """Whether one line, or entries of an access list, hold a term."""
    rest = _rest(term)
    return rest in _IN_ENTRY if _flow(term) else len(rest) == 1


def _words(term: Alternative) -> str:
    return " and ".join(term.given)


def _expanded(term: Alternative) -> Iterator[Term]:
    """One term for each match line or entry: the box takes a few values a line, and one of each an entry."""
    if _flow(term):
        yield from _entries_of(term)
        return
    (name,) = _rest(term)
    if name == "application":
        yield Term(application=term.application)
        return
    values = getattr(term, name)
    most = capabilities()["values_per_match"].get(name, 1)
    for start in range(0, len(values), most):
        yield Term.model_validate({name: values[start] if name in _SCALAR else values[start : start + most]})


def _entries_of(term: Alternative) -> Iterator[Term]:
    """One term for each access-list entry."""
    marks = [{name: (value,)} for name in _rest(term) for value in getattr(term, name)] or [{}]
    for flow, mark in itertools.product(_flows(term), marks):
        yield Term.model_validate({**flow, **mark})


def _flows(term: Alternative) -> Iterator[dict[str, object]]:
    """Every combination of the flow fields, one value each."""
    for protocol, source, destination, near, far in itertools.product(
        term.protocol or (None,),
        term.source or (None,),
        term.destination or (None,),
        term.source_port or (None,),
        term.destination_port or (None,),
    ):
        values = {"protocol": protocol, "source": source, "destination": destination}
        ports = {"source_ports": near, "destination_ports": far}
        yield {
            **{name: value for name, value in values.items() if value is not None},
            **{n: (PortRange(first=p[0], last=p[1]),) for n, p in ports.items() if p is not None},
        }


def class_map(rule: Rule) -> ClassMap:
    """The class-map of a rule that `lower_match` has made."""
    lists: list[AccessList] = []
    lines: list[MatchLine] = []
    own = f"{ACL_PREFIX}{rule.name}"
    in_list = [t for t in rule.any_of if _in_entry(t)]
    plain = [t for t in rule.any_of if not _in_entry(t)]
    mode = "any" if not rule.none_of and all(len(_given(t)) == 1 for t in plain) else "all"
    if mode == "all" and len(rule.any_of) > 1 and all(_enterable(t) for t in rule.any_of):
        # A line holds one of them only, a list all: a mark alone is an entry for any flow.
        in_list, plain = list(rule.any_of), []
    if mode == "all" and plain:
        rests = {t.model_copy(update=dict.fromkeys(_FLOW[:3]) | dict.fromkeys(_FLOW[3:], ())) for t in plain}
        flows = [Term.model_validate({n: getattr(t, n) for n in _FLOW}) for t in rule.any_of]
        assert len(rests) == 1
        assert not in_list
        plain = [Term.model_validate({n: getattr(t, n)}) for t in rests for n in _given(t)]
        in_list = [t for t in flows if _given(t)]
    lines += [MatchLine(term=t) for t in plain]
    if in_list:
        lists.append(AccessList(own, entries(tuple(in_list))))
        lines.append(MatchLine(access_list=own))
    lines += [MatchLine(term=t, negated=True) for t in rule.none_of if not _in_entry(t)]
    if excepted := tuple(t for t in rule.none_of if _in_entry(t)):
        lists.append(AccessList(own + EXCEPT_SUFFIX, entries(excepted)))
        lines.append(MatchLine(access_list=own + EXCEPT_SUFFIX, negated=True))
    return ClassMap(rule.name, mode, tuple(lines), tuple(lists))


def _given(term: Term) -> tuple[str, ...]:
    return tuple(term.model_dump(exclude_defaults=True))


def _in_entry(term: Term) -> bool:
    """Whether a term is an entry of an access list: a flow, with one DSCP or precedence beside it."""
    return bool(set(_given(term)) & set(_FLOW)) and _enterable(term)


def _enterable(term: Term) -> bool:
    rest = set(_given(term)) - set(_FLOW)
    return rest in _IN_ENTRY and all(len(getattr(term, n)) == 1 for n in rest)
