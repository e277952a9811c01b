"""Read class-maps, with the access lists they refer to, into alternatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from qosforge.commands import Entry, Reading
from qosforge.plan.model import Term
from qosforge.platforms.mqc.access_lists import AccessLists, version

_MOST_ALTERNATIVES = 10_000
"""What two access lists may combine to before their class-map is kept as not understood."""


@dataclass(frozen=True)
class MatchAlternatives:
    """What a class-map takes: one of ``any_of`` and none of ``none_of``.

    ``ipv4`` where it looks for marks, or for flows without addresses, at packets of IPv4 alone.
    """

    any_of: tuple[Term, ...] = ()
    none_of: tuple[Term, ...] = ()
    ipv4: bool = False


def _join_words(words: str) -> str:
    return words.replace(" ", "-")


def read_class_maps(
    reading: Reading,
    lists: AccessLists,
    application: Callable[[str], str] = _join_words,
    *,
    tells_versions: bool = False,
) -> dict[str, MatchAlternatives]:
    """What each class-map of a configuration takes.

    ``application`` gives the name that a plan has for the words of ``match protocol``; ``tells_versions`` where
    plans say whether a class is told in packets of IPv4 alone.
    """
    reader = _Reader(reading, lists, application, tells_versions)
    return {name: reader.read(class_map) for name, class_map in reading.objects("class-map").items()}


@dataclass(frozen=True)
class _Reader:
    reading: Reading
    lists: AccessLists
    application: Callable[[str], str]
    tells_versions: bool

    def read(self, class_map: Entry) -> MatchAlternatives:
        """What a class-map takes."""
        context = class_map.line.text
        one_is_enough = class_map.get("mode") == "match-any"
        any_of: list[Term] = []
        none_of: list[Term] = []
        joined: tuple[Term, ...] | None = None
        ipv4 = listed = False
        for line in class_map.below:
            if line.id == "text":
                continue
            if line.id == "match-acl" and line.name not in self.lists:
                self.reading.miss(line, context, f"access-group {line.name}")
                continue
            alternative = one_is_enough or "negated" in line
            found, both = self._terms(line, class_map) if alternative else (self._alone(line), frozenset[Term]())
            ipv4 |= "ipv4" in line
            if line.id == "match-acl" and alternative:
                ipv4 |= any(version(t) is None and t not in both for t in found)
            if "negated" in line and one_is_enough:
                self.reading.miss(line, context)  # "or everything that is not" has no alternatives
            elif "negated" in line:
                none_of += found
            elif one_is_enough:
                any_of += found
            elif (product := _product(joined, found)) is None:
                self.reading.miss(line, context)
            else:
                joined, listed = product, listed or line.id == "match-acl"
        if joined is None and none_of:
            joined = (Term(),)
        ipv4 |= listed and any(version(t) is None for t in joined or ())
        return MatchAlternatives((*any_of, *(joined or ())), tuple(none_of), ipv4=ipv4 and self.tells_versions)

    def _alone(self, line: Entry) -> tuple[Term, ...]:
        return self.lists.terms(line.name) if line.id == "match-acl" else (_read_term(line, self.application),)

    def _terms(self, line: Entry, class_map: Entry) -> tuple[tuple[Term, ...], frozenset[Term]]:
        """The alternatives of a line that others stand beside, and those that lists of both versions have."""
        if line.id != "match-acl":
            return self._alone(line), frozenset()
        beside = [other.name for other in class_map.below if other.id == "match-acl" and other.name in self.lists]
        both = self.lists.in_both_versions(beside)
        return self.lists.terms(line.name, beside=both), both


def _read_term(line: Entry, application: Callable[[str], str]) -> Term:
    values = {name: value for name, value in line.values.items() if name not in {"negated", "ipv4"}}
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
