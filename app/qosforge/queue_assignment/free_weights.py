"""Group classes into too few queues of free weights: branch and bound over all groupings, or pair by pair."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations
from operator import add, sub
from typing import NamedTuple

from qosforge.queue_assignment.shape import ERROR, ERRORS, MERGED, Criterion, Demand, QueueUse

Groups = list[tuple[Demand, ...]]
Values = tuple[float, ...]
"""What the criteria come to, in the order of preference; of one queue, then its sum of shares at the first rate."""

MOST_STEPS = 20_000
"""Steps after which the best grouping so far is taken: less than a second. A dozen classes need some hundreds."""
_SAME = 1e-9


def cheapest_groups(demands: Sequence[Demand], most: int, preference: Sequence[Criterion]) -> Groups:
    """The preferred grouping into at most ``most`` queues: the best of all, unless `MOST_STEPS` end the search.

    Large demands should come first: the search ends sooner. Of equally good groupings it is always the same.
    """
    queues = _Queues(demands, preference, digits=9)
    # A criterion that is nothing for classes alone and for all in one queue is nothing for any grouping.
    extremes = [queues[group] for group in ((1 << len(demands)) - 1, *(1 << at for at in range(len(demands))))]
    preference = [c for c, *values in zip(preference, *extremes, strict=False) if any(values)] or [ERROR]
    queues = _Queues(demands, preference, digits=9)
    by_largest = preference[0].largest
    merged_at = preference.index(MERGED) if MERGED in preference else None
    # As the last criterion, the error decides too seldom to look ahead for it.
    error_at = preference.index(ERROR) if ERROR in preference[:-1] else None
    # What is still to be placed from each class on: together, and at most in one.
    one = [d.shares[0] for d in demands]
    left = [(sum(one[at:]), max(one[at:], default=0.0)) for at in range(len(one) + 1)]
    best, values = _joined(queues, len(demands), most)
    least, steps = queues.key(values), 0

    def at_least(key: Values, served: Sequence[Values], placed: int) -> Values:
        """What no grouping comes below that goes on from the first classes in their queues."""
        if (at := merged_at) is not None:
            # Whoever finds no free queue any more joins another class.
            joining = len(demands) - placed - (most - len(served))
            key = (*key[:at], key[at] + max(joining, 0), *key[at + 1 :])
        if (at := error_at) is not None:
            totals = [*[values[-1] for values in served], *(0.0,) * (most - len(served))]
            if (error := _least_error(totals, *left[placed])) > key[at]:
                key = (*key[:at], round(error, 9), *key[at + 1 :])
        return key

    def place(groups: tuple[int, ...], served: list[Values], values: Values, at: int) -> None:
        nonlocal least, best, steps
        if at == len(demands):
            least, best = queues.key(values), groups
            return
        ways = []
        for number, group in enumerate((*groups, 0) if len(groups) < most else groups):
            joined = group | 1 << at
            old, new = queues[group], queues[joined]
            if (new[0] if by_largest else values[0] + new[0] - old[0]) > least[0]:
                continue  # soon told, and true of most
            then = queues.exchange(values, old, new)
            key = queues.key(then)
            if key < least:
                ways.append((key, number, joined, then))
        ways.sort()  # by what they come to, then by queue: no two are alike in both
        for key, number, joined, then in ways:
            if key >= least or steps >= MOST_STEPS:
                return
            serve = [*served[:number], queues[joined], *served[number + 1 :]]
            if at_least(key, serve, at + 1) < least:
                steps += 1
                place((*groups[:number], joined, *groups[number + 1 :]), serve, then, at + 1)

    place((), [], queues[0][:-1], 0)
    return [queues.classes(group) for group in best]


def pairwise_groups(demands: Sequence[Demand], most: int, preference: Sequence[Criterion]) -> Groups:
    """The grouping into ``most`` queues by joining, again and again, the two that make the preferred queue."""
    queues = _Queues(demands, preference, digits=None)
    return [queues.classes(group) for group in _joined(queues, len(demands), most, by_pair=True)[0]]


def _joined(queues: _Queues, count: int, most: int, *, by_pair: bool = False) -> tuple[tuple[int, ...], Values]:
    """Queues of single classes join until there are ``most``.

    The next two are those with which all queues come to the least, or which come to the least alone (``by_pair``).
    """
    groups = tuple(1 << at for at in range(count))
    values = queues[0][:-1]
    for group in groups:
        values = queues.exchange(values, queues[0], queues[group])
    while len(groups) > most:
        ways = []
        for one, other in combinations(groups, 2):
            joined = queues[one | other]
            then = queues.exchange(values, tuple(map(add, queues[one], queues[other])), joined)
            ways.append((joined[:-1] if by_pair else queues.key(then), one, other, then))
        _, one, other, values = min(ways, key=lambda way: way[0])
        groups = tuple(group | other if group == one else group for group in groups if group != other)
    return groups, values


class _Sums(NamedTuple):
    """What classes come to together: at each rate the sum of their shares and the least, and as in `QueueUse`."""

    shares: tuple[float, ...]
    least: tuple[float, ...]
    classes: int
    parted: int
    alone: bool
    kinds: frozenset[Hashable]
    common: frozenset[Hashable]

    def joined_by(self, demand: Demand, parted: int) -> _Sums:
        """With one more class, which is ``parted`` from so many earlier ones."""
        return _Sums(
            tuple(map(add, self.shares, demand.shares)),
            tuple(map(min, self.least, demand.shares)),
            self.classes + 1,
            self.parted + parted,
            self.alone or demand.alone,
            self.kinds | demand.kinds,
            self.common & demand.kinds,
        )


class _Queues(dict[int, Values]):
    """The values of single queues by the classes in them: a number whose bits are the places of the demands."""

    def __init__(self, demands: Sequence[Demand], preference: Sequence[Criterion], *, digits: int | None) -> None:
        super().__init__({0: (0,) * (len(preference) + 1)})
        self._demands, self._digits = demands, digits
        self._measures = [criterion.measure for criterion in preference]
        self._largest = [criterion.largest for criterion in preference]
        self._inexact = preference[-1] is ERRORS
        self._earlier = [
            sum([1 << at for at, other in enumerate(demands[:place]) if d.labels & other.labels])
            for place, d in enumerate(demands)
        ]
        self._sums: dict[int, _Sums] = {}

    def __missing__(self, group: int) -> Values:
        sums = self._together(group)
        error = max(map(sub, sums.shares, sums.least))
        if self._digits is not None:
            error = round(error, self._digits)
        errors = (sums.classes - 1) * sum(sums.shares)
        use = QueueUse(sums.classes, error, errors, sums.parted, sums.alone, sums.kinds, sums.common)
        values = self[group] = (*[measure(use) for measure in self._measures], sums.shares[0])
        return values

    def _together(self, group: int) -> _Sums:
        """The sums of a group: those of it without its last class, and that class."""
        found = self._sums.get(group)
        if found is None:
            at = group.bit_length() - 1
            demand, before = self._demands[at], group ^ 1 << at
            parted = (self._earlier[at] & ~before).bit_count()
            if before:
                found = self._together(before).joined_by(demand, parted)
            else:
                shares = demand.shares
                found = _Sums(shares, shares, 1, parted, demand.alone, demand.kinds, demand.kinds)
            self._sums[group] = found
        return found

    def classes(self, group: int) -> tuple[Demand, ...]:
        """The demands of a queue in their order."""
        return tuple([d for at, d in enumerate(self._demands) if group >> at & 1])

    def exchange(self, values: Values, old: Values, new: Values) -> Values:
        """The values of all queues when one queue gets others, none of which is lower than before."""
        return tuple(
            [
                (after if after > whole else whole) if largest else whole + after - before
                for largest, whole, before, after in zip(self._largest, values, old, new, strict=False)
            ]
        )

    def key(self, values: Values) -> Values:
        """Values of all queues to compare, without the noise of sums."""
        return (*values[:-1], round(values[-1], 9)) if self._inexact else values


def _least_error(totals: list[float], rest: float, largest: float) -> float:
    """The least largest error of queues with these sums of shares, if what is left fills them evenly at best.

    A queue that gets another class may hold no more than the largest error and that class.
    """
    if not rest:
        return 0.0
    level = 0.0
    for count, total in enumerate(sorted(totals), 1):
        if count > 1 and total >= level:
            break
        rest += total
        level = rest / count
    return level - largest - _SAME
