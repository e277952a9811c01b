"""The cost of classes that share queues, for the search of the cheapest assignment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qosforge.intent.models import RESERVED_CLASS

Price = tuple[int, float, bool, float, float]
"""Of one group: classes that the device tells wrongly, the largest share error and the sum of all (points of the
link), whether routing goes with everything else; and what is asked of the queue, the last two in another order."""
Cost = tuple[int, float, int, float]
"""Of all groups, what matters most first."""

MIXED = 10_000
"""What a group with a class that should be alone counts, beside 1 for a pair that is kept in two queues in vain."""


@dataclass(frozen=True)
class MergeConstraints:
    """What to look at where classes share queues: those that should have theirs alone, pairs that the device cannot
    tell apart, and those with the marks of routing, which should not go with everything else."""

    apart: frozenset[str]
    twins: tuple[tuple[str, str], ...]
    routing: frozenset[str]


class Merging:
    """Prices of groups of classes, which are named with those first that ask for most.

    ``requested`` are the shares (parts of the link) on the different ports.
    """

    def __init__(
        self,
        names: Sequence[str],
        queues: int,
        requested: Sequence[Mapping[str, float]],
        constraints: MergeConstraints,
    ) -> None:
        self._queues = queues
        self._asked = requested
        self._kept = constraints
        places = {name: at for at, name in enumerate(names)}
        ends = [max(places[one], places[other]) for one, other in constraints.twins]
        self._split = {name: ends.count(at) for at, name in enumerate(names)}
        one = [requested[0][name] for name in names]
        # What is still to be placed from each class on: together, and at most in one.
        self._left = [(sum(one[at:]), max(one[at:], default=0.0)) for at in range(len(one) + 1)]

    def mixes(self, group: Sequence[str]) -> bool:
        """Whether a class shares with others that should be alone."""
        return len(group) > 1 and not self._kept.apart.isdisjoint(group)

    def price(self, group: Sequence[str]) -> Price:
        """What one queue with these classes adds."""
        told = MIXED if self.mixes(group) else 0
        if self._kept.twins:
            told += sum([self._split[name] for name in group])
            told -= sum([one in group and other in group for one, other in self._kept.twins])
        # What the others in a queue ask for may go to any one class in it.
        worst = errors = total = 0.0
        for at in reversed(self._asked):
            shares = [at[name] for name in group]
            total = sum(shares)
            worst = max(worst, total - min(shares))
            errors += (len(shares) - 1) * total
        demoted = RESERVED_CLASS in group and not self._kept.routing.isdisjoint(group)
        return told, round(100 * worst, 9), demoted, 100 * errors, total

    @staticmethod
    def cost(prices: Sequence[Price]) -> Cost:
        """What queues come to together."""
        told = demoted = 0
        worst = errors = 0.0
        for its_told, its_worst, its_demoted, its_errors, _ in prices:
            told += its_told
            worst = its_worst if its_worst > worst else worst
            demoted += its_demoted
            errors += its_errors
        return told, worst, demoted, round(errors, 9)

    def least(self, cost: Cost, prices: Sequence[Price], placed: int) -> Cost:
        """What no way costs less than that goes on from queues with the first classes.

        A queue that gets another class may hold no more than the largest error and that class: the rest fills
        them evenly at best, the emptiest first.
        """
        rest, largest = self._left[placed]
        if not rest:
            return cost
        level, held = 0.0, rest
        totals = sorted([*[price[4] for price in prices], *(0.0,) * (self._queues - len(prices))])
        for count, total in enumerate(totals, 1):
            if count > 1 and total >= level:
                break
            held += total
            level = held / count
        worst = round(100 * (level - largest) - 1e-9, 9)
        return cost if worst <= cost[1] else (cost[0], worst, *cost[2:])
