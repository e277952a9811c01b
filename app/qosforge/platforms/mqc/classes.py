"""Read class-maps, with the access lists they refer to, into alternatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from qosforge.commands import ReadConfiguration, ReadLine
from qosforge.plan.model import Term
from qosforge.platforms.mqc.access_lists import AccessLists, version
from qosforge.platforms.mqc.conditions import Condition


@dataclass(frozen=True)
class MatchAlternatives:
    """What a class-map takes: one of ``any_of`` and none of ``none_of``.

    ``ipv4`` where it looks for marks, or for flows without addresses, at packets of IPv4 alone.
    """

    any_of: tuple[Term, ...] = ()
    none_of: tuple[Term, ...] = ()
    ipv4: bool = False


def _read_application(words: str) -> tuple[Term, ...]:
    return (Term(application=words.replace(" ", "-")),)


def read_class_maps(
    reading: ReadConfiguration,
    lists: AccessLists,
    protocol: Callable[[str], tuple[Term, ...]] = _read_application,
    *,
    tells_versions: bool = False,
) -> dict[str, MatchAlternatives]:
    """What each class-map of a configuration takes.

    ``protocol`` gives what the words of ``match protocol`` take; ``tells_versions`` where plans say whether a class
    is told in packets of IPv4 alone.
    """
    return _Reader(reading, lists, protocol, tells_versions).every()


class _Reader:
    def __init__(
        self,
        reading: ReadConfiguration,
        lists: AccessLists,
        protocol: Callable[[str], tuple[Term, ...]],
        tells_versions: bool,
    ) -> None:
        self._reading = reading
        self._lists = lists
        self._protocol = protocol
        self._tells_versions = tells_versions
        self._class_maps = reading.objects("class-map")
        self._read: dict[str, MatchAlternatives | None] = {}

    def every(self) -> dict[str, MatchAlternatives]:
        """What each class-map takes."""
        return {name: self._named(name) or MatchAlternatives() for name in self._class_maps}

    def _named(self, name: str) -> MatchAlternatives | None:
        """What a class-map takes; None where it is not there, or is being read: it would contain itself."""
        if name not in self._class_maps:
            return None
        if name not in self._read:
            self._read[name] = None
            self._read[name] = self._map(self._class_maps[name])
        return self._read[name]

    def _map(self, class_map: ReadLine) -> MatchAlternatives:
        context = class_map.line.text
        one_is_enough = class_map.get("mode") == "match-any"
        whole: Condition | None = None
        ipv4 = listed = False
        for line in class_map.below:
            if line.id == "text":
                continue
            alternative = one_is_enough or "negated" in line
            held, both, undefined = self._condition(line, class_map, alternative=alternative)
            ipv4 |= "ipv4" in line
            if "application" in line and held is not None:  # inspection looks at packets of IPv4
                ipv4 |= any(t.application is None for t in held.any_of)
            if held is None:
                self._reading.miss(line, context, undefined)
                continue
            if line.id == "match-acl" and alternative:
                ipv4 |= any(version(t) is None and t not in both for t in (*held.any_of, *held.none_of))
            if line.id == "match-class":
                inner = self._named(line.name)
                ipv4 |= inner is not None and inner.ipv4
            if "negated" in line:
                held = held.opposite()
            joined = held
            if whole is not None and held is not None:
                joined = whole.union(held) if one_is_enough else whole.intersection(held)
            if joined is None:
                self._reading.miss(line, context)
            else:
                whole, listed = joined, listed or (line.id == "match-acl" and not alternative)
        whole = whole or Condition()
        ipv4 |= listed and any(version(t) is None for t in whole.any_of)
        return MatchAlternatives(whole.any_of, whole.none_of, ipv4=ipv4 and self._tells_versions)

    def _condition(
        self, line: ReadLine, class_map: ReadLine, *, alternative: bool
    ) -> tuple[Condition | None, frozenset[Term], str | None]:
        """What one line asks for, the terms that lists of both versions have, and what it names in vain."""
        if line.id == "match-class":
            inner = self._named(line.name)
            undefined = None if line.name in self._class_maps else f"class-map {line.name}"
            held = None if inner is None else Condition(inner.any_of, inner.none_of)
            return held, frozenset(), undefined
        if line.id != "match-acl":
            return Condition(_read_terms(line, self._protocol)), frozenset(), None
        if line.name not in self._lists:
            return None, frozenset(), f"access-group {line.name}"
        if not alternative:
            return self._lists.condition(line.name), frozenset(), None
        beside = [other.name for other in class_map.below if other.id == "match-acl" and other.name in self._lists]
        both = self._lists.in_both_versions(beside)
        return self._lists.condition(line.name, beside=both), both, None


def _read_terms(line: ReadLine, protocol: Callable[[str], tuple[Term, ...]]) -> tuple[Term, ...]:
    if "application" in line:
        return protocol(line["application"])
    values = {name: value for name, value in line.values.items() if name not in {"negated", "ipv4"}}
    if "qos_group" in values:  # a line has one
        values["qos_group"] = (values["qos_group"],)
    return (Term(**values),)
