"""Read class-maps, with the access lists they refer to, into alternatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from qosforge.configtree import ConfigLine
from qosforge.dscp import parse_dscp
from qosforge.plan.model import Term
from qosforge.platforms.mqc.access_lists import AccessLists, Miss

_MOST_ALTERNATIVES = 10_000
"""What two access lists may combine to before their class-map is kept as not understood."""


@dataclass(frozen=True)
class MatchAlternatives:
    """What a class-map takes: one of ``any_of`` and none of ``none_of``."""

    any_of: tuple[Term, ...] = ()
    none_of: tuple[Term, ...] = ()


def _join_words(words: str) -> str:
    return words.replace(" ", "-")


class ClassReader:
    """Reads the class-maps of one configuration; access lists may stand behind them.

    ``application`` gives the name that a plan has for the words of ``match protocol``.
    """

    def __init__(self, lists: AccessLists, miss: Miss, application: Callable[[str], str] = _join_words) -> None:
        self._miss = miss
        self._application = application
        self._lists = lists

    def read(self, class_map: ConfigLine, mode: str) -> MatchAlternatives:
        """What a class-map of ``mode`` (``any`` or ``all``) takes."""
        any_of: list[Term] = []
        none_of: list[Term] = []
        joined: tuple[Term, ...] | None = None
        for line in class_map.children:
            words = line.text.split()
            negated = words[:2] == ["match", "not"]
            if negated and mode == "any":
                self._miss(line, class_map.text)  # "or everything that is not" has no alternatives
                continue
            found = self._condition(["match", *words[2:]] if negated else words, line, class_map.text)
            if found is None:
                continue
            if negated:
                none_of += found
            elif mode == "any":
                any_of += found
            elif (product := _product(joined, found)) is None:
                self._miss(line, class_map.text)
            else:
                joined = product
        if joined is None and none_of:
            joined = (Term(),)
        return MatchAlternatives((*any_of, *(joined or ())), tuple(none_of))

    def _condition(self, words: list[str], line: ConfigLine, context: str) -> tuple[Term, ...] | None:
        """The alternatives of one line; None where it is not understood, or none."""
        try:
            match words:
                case ["match", "any"]:
                    return (Term(),)
                case ["match", "ip", "dscp", *values] | ["match", "dscp", *values]:
                    return (Term(dscp=tuple(parse_dscp(v) for v in values)),)
                case ["match", "ip", "precedence", *values] | ["match", "precedence", *values]:
                    return (Term(precedence=tuple(int(v) for v in values)),)
                case ["match", "cos", *values]:
                    return (Term(cos=tuple(int(v) for v in values)),)
                case ["match", "protocol", *name]:
                    return (Term(application=self._application(" ".join(name))),)
                case ["match", "source-address", "mac", mac]:
                    return (Term(source_mac=mac),)
                case ["match", "destination-address", "mac", mac]:
                    return (Term(destination_mac=mac),)
                case ["match", "input-interface", name]:
                    return (Term(input_interface=name),)
                case ["match", "access-group", "name", name] | ["match", "access-group", name]:
                    if name in self._lists:
                        return self._lists.terms(name)
                    self._miss(line, context, f"access-group {name}")
                    return None
        except ValueError:
            pass
        if not line.text.startswith("description "):
            self._miss(line, context)
        return None


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
