"""Read class-maps, with the access lists they refer to, into alternatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from qosforge.commands import Entry, Reading
from qosforge.plan.model import Term
from qosforge.platforms.mqc.access_lists import AccessLists

_MOST_ALTERNATIVES = 10_000
"""What two access lists may combine to before their class-map is kept as not understood."""


@dataclass(frozen=True)
class MatchAlternatives:
    """What a class-map takes: one of ``any_of`` and none of ``none_of``."""

    any_of: tuple[Term, ...] = ()
    none_of: tuple[Term, ...] = ()


def _join_words(words: str) -> str:
    return words.replace(" ", "-")


def read_class_maps(
    reading: Reading, lists: AccessLists, application: Callable[[str], str] = _join_words
) -> dict[str, MatchAlternatives]:
    """What each class-map of a configuration takes.

    ``application`` gives the name that a plan has for the words of ``match protocol``.
    """
    return {
        name: _read_class_map(class_map, reading, lists, application)
        for name, class_map in reading.objects("class-map").items()
    }


def _read_class_map(
    class_map: Entry, reading: Reading, lists: AccessLists, application: Callable[[str], str]
) -> MatchAlternatives:
    context = class_map.line.text
    one_is_enough = class_map.get("mode") == "match-any"
    any_of: list[Term] = []
    none_of: list[Term] = []
    joined: tuple[Term, ...] | None = None
    for line in class_map.below:
        if line.id == "text":
            continue
        if line.id == "match-acl" and line.name not in lists:
            reading.miss(line, context, f"access-group {line.name}")
            continue
        found = lists.terms(line.name) if line.id == "match-acl" else (_read_term(line, application),)
        if "negated" in line and one_is_enough:
            reading.miss(line, context)  # "or everything that is not" has no alternatives
        elif "negated" in line:
            none_of += found
        elif one_is_enough:
            any_of += found
        elif (product := _product(joined, found)) is None:
            reading.miss(line, context)
        else:
            joined = product
    if joined is None and none_of:
        joined = (Term(),)
    return MatchAlternatives((*any_of, *(joined or ())), tuple(none_of))


def _read_term(line: Entry, application: Callable[[str], str]) -> Term:
    values = {name: value for name, value in line.values.items() if name != "negated"}
    if "application" in values:
        values["application"] = application(values["application"])
    return Term(**values)


def _product(joined: tuple[Term, ...] | None, found: tuple[Term, ...]) -> tuple[Term, ...] | None:
    """Alternatives that ask for both; None where two lines differ in a field, or they are too many to tell.

    Two access lists that both name protocols meet where these are the same.
    """
    if joined is None:
        return found
    if len(joined) * len(found) > _MOST_ALTERNATIVES:
        return None
    result = []
    for one in joined:
        for other in found:
            first, second = (t.model_dump(exclude_defaults=True) for t in (one, other))
            differ = {name for name in first.keys() & second.keys() if first[name] != second[name]}
            if not differ:
                result.append(Term.model_validate(first | second))
            elif differ != {"protocol"}:
                return None
    return tuple(result) or None
