"""Conditions of class-maps and access lists: alternatives and exceptions, joined or turned into their opposite."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qosforge.plan.model import Term
from qosforge.plan.terms import disjoint, meet, subtract

_MOST_ALTERNATIVES = 10_000
"""What two conditions may combine to before they are kept as not understood."""
_MOST_EXCEPTIONS = 256


@dataclass(frozen=True)
class Condition:
    """Packets that match one of ``any_of`` and none of ``none_of``."""

    any_of: tuple[Term, ...] = ()
    none_of: tuple[Term, ...] = ()

    def union(self, other: Condition) -> Condition | None:
        """What matches one of the two; None where alternatives and exceptions cannot say it."""
        if self.none_of == other.none_of or not self.any_of or not other.any_of:
            none_of = self.none_of if self.any_of else other.none_of
            return Condition((*self.any_of, *other.any_of), none_of)
        mine, theirs = _without(self.none_of, other.any_of), _without(other.none_of, self.any_of)
        if (mine is None or theirs is None) or (self.none_of and other.none_of and not self._apart(other)):
            return None
        return Condition((*self.any_of, *other.any_of), (*mine, *theirs))

    def _apart(self, other: Condition) -> bool:
        return disjoint(self.none_of, other.any_of) and disjoint(other.none_of, self.any_of)

    def intersection(self, other: Condition) -> Condition | None:
        """What matches both; None where that is too much to tell."""
        if len(self.any_of) * len(other.any_of) > _MOST_ALTERNATIVES:
            return None
        met = (meet(a, b) for a in self.any_of for b in other.any_of)
        any_of = tuple(dict.fromkeys(term for term in met if term is not None))
        return Condition(any_of, tuple(dict.fromkeys((*self.none_of, *other.none_of))) if any_of else ())

    def opposite(self) -> Condition | None:
        """What does not match; None where alternatives and exceptions cannot say it."""
        if not self.none_of:
            return Condition((Term(),), self.any_of)
        return Condition(self.none_of) if self.any_of == (Term(),) else None

    def except_(self, term: Term) -> Condition:
        """What matches, but for a term."""
        if disjoint(self.any_of, (term,)):
            return self
        return Condition(self.any_of, (term, *self.none_of))


def _without(exceptions: tuple[Term, ...], alternatives: Iterable[Term]) -> tuple[Term, ...] | None:
    """Exceptions that do not concern what the alternatives of another condition have."""
    for alternative in alternatives:
        left: list[Term] = []
        for term in exceptions:
            parts = subtract(term, alternative)
            if parts is None or len(left) + len(parts) > _MOST_EXCEPTIONS:
                return None
            left += parts
        exceptions = tuple(left)
    return exceptions
