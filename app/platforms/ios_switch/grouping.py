"""Which things go together where there are too few places: branch and bound over all ways to group them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, TypeVar

_T = TypeVar("_T")

Groups = tuple[tuple[_T, ...], ...]

MOST_STEPS = 20_000
"""Steps after which the best way found so far is taken: less than a second. A dozen classes need some hundreds."""


def best_groups(things: Sequence[_T], most: int, cost: Callable[[Groups[_T]], Any]) -> Groups[_T]:
    """The cheapest way to put things into at most ``most`` groups, each in the order of ``things``.

    A cost is asked for all things, or for those up to one of them; it must be comparable, and must not fall when a
    thing joins a group. Things that cost much should come first: the search ends sooner. The way is the best of all
    unless `MOST_STEPS` end the search.
    """
    best = _joined(things, most, cost)
    least = cost(best)
    steps = 0

    def place(groups: Groups[_T], at: int) -> None:
        nonlocal least, best, steps
        if at == len(things):
            least, best = cost(groups), groups
            return
        one = things[at]
        ways = [(*groups[:i], (*group, one), *groups[i + 1 :]) for i, group in enumerate(groups)]
        if len(groups) < most:
            ways.append((*groups, (one,)))
        for price, way in sorted(((cost(way), way) for way in ways), key=lambda found: found[0]):
            if price >= least or steps >= MOST_STEPS:
                return
            steps += 1
            place(way, at + 1)

    place((), 0)
    return best


def _joined(things: Sequence[_T], most: int, cost: Callable[[Groups[_T]], Any]) -> Groups[_T]:
    """A way to begin with: those two groups join, again and again, that cost the least together."""
    groups: Groups[_T] = tuple((thing,) for thing in things)
    while len(groups) > most:
        ways = [
            tuple(one + other if g is one else g for g in groups if g is not other)
            for one, other in combinations(groups, 2)
        ]
        groups = min(ways, key=cost)
    return groups
