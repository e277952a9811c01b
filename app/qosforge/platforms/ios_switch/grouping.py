"""Group things into too few places at the least cost: branch and bound over all groupings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Generic, TypeVar

_T = TypeVar("_T")
_P = TypeVar("_P")

Groups = tuple[tuple[_T, ...], ...]

MOST_STEPS = 20_000
"""Steps after which the best way found so far is taken: less than a second. A dozen classes need some hundreds."""


def best_groups(
    things: Sequence[_T],
    most: int,
    price: Callable[[tuple[_T, ...]], _P],
    cost: Callable[[Sequence[_P]], Any],
    at_least: Callable[[Any, Sequence[_P], int], Any] | None = None,
) -> Groups[_T]:
    """The cheapest way to put things into at most ``most`` groups, each in the order of ``things``.

    ``price`` is what one group adds, asked for once; ``cost`` is what groups come to by their prices. It is asked
    for all things, or for those up to one of them; it must be comparable, and must not fall when a thing joins a
    group. ``at_least`` is what no way costs less than that goes on from a cost, prices and so many things. Things
    that cost much should come first: the search ends sooner. The way is the best of all unless `MOST_STEPS` end
    the search; of the best, always the same.
    """
    priced = _Prices(things, price)
    best = _joined(priced, len(things), most, cost)
    least = cost([priced[group] for group in best])
    steps = 0

    def place(groups: tuple[int, ...], prices: list[_P], at: int) -> None:
        nonlocal least, best, steps
        if at == len(things):
            least, best = cost(prices), groups
            return
        ways = []
        for i, group in enumerate((*groups, 0) if len(groups) < most else groups):
            joined = group | 1 << at
            with_it = prices.copy()
            with_it[i : i + 1] = [priced[joined]]
            found = cost(with_it)
            if found < least:
                ways.append((found, i, joined, with_it))
        ways.sort()  # by cost, then by place: no two are alike in both
        for found, i, joined, with_it in ways:
            if found >= least or steps >= MOST_STEPS:
                return
            if at_least is None or at_least(found, with_it, at + 1) < least:
                steps += 1
                place((*groups[:i], joined, *groups[i + 1 :]), with_it, at + 1)

    place((), [], 0)
    return tuple(priced.things(group) for group in best)


class _Prices(dict[int, _P], Generic[_T, _P]):
    """What groups are priced at: every group is a number, whose bits are the places of its things."""

    def __init__(self, things: Sequence[_T], price: Callable[[tuple[_T, ...]], _P]) -> None:
        self._things = things
        self._price = price
        self._groups: dict[int, tuple[_T, ...]] = {0: ()}

    def __missing__(self, group: int) -> _P:
        price = self[group] = self._price(self.things(group))
        return price

    def things(self, group: int) -> tuple[_T, ...]:
        """A group's things, in their order."""
        found = self._groups.get(group)
        if found is None:
            last = group.bit_length() - 1
            found = self._groups[group] = (*self.things(group ^ 1 << last), self._things[last])
        return found


def _joined(priced: _Prices[_T, _P], count: int, most: int, cost: Callable[[Sequence[_P]], Any]) -> tuple[int, ...]:
    """A way to begin with: those two groups join, again and again, that cost the least together."""
    groups = tuple(1 << at for at in range(count))
    while len(groups) > most:
        prices = [priced[group] for group in groups]

        def joined(pair: tuple[int, int], groups: tuple[int, ...] = groups, prices: list[_P] = prices) -> Any:
            one, other = pair
            with_it = prices.copy()
            with_it[one] = priced[groups[one] | groups[other]]
            del with_it[other]
            return cost(with_it)

        one, other = min(combinations(range(len(groups)), 2), key=joined)
        groups = tuple(
            group | groups[other] if at == one else group for at, group in enumerate(groups) if at != other
        )
    return groups
