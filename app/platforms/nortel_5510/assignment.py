"""Shares onto the weighted queues of a queue set, so that the largest error of a share is smallest.

Units are what must be in one queue; every unit has the shares (parts of the link) that its classes ask for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import inf
from operator import add

import numpy as np
from numpy.typing import NDArray

MOST_UNITS = 12
"""Units beyond which merging is not tried: the ways to merge them grow with the third power."""
_SAME = 1e-9

Unit = tuple[float, ...]
Floats = NDArray[np.float64]
Found = tuple[float, float, tuple[int, ...]]
"""The largest error, the sum of the errors, and the position of the queue of each unit."""


def unit_error(asked: Unit, share: float) -> float:
    """The largest error of a class in a queue that these classes have together.

    Nothing keeps the classes of one queue apart: what a class has of it may be wrong by all that the others ask
    for.
    """
    total = sum(asked)
    return abs(share - total) + total - min(asked)


@lru_cache(maxsize=4096)
def nearest(
    units: tuple[Unit, ...],
    weights: tuple[int, ...],
    left: float,
    bound: tuple[bool, ...],
    spare: int,
    *,
    bearable: float = inf,
) -> tuple[float, tuple[int, ...]]:
    """The least largest error, and the position in ``weights`` of the queue of each unit.

    Each unit has a queue of its own where there are enough: the others serve nothing. Else all queues serve. Of
    assignments as good, those with the smallest sum of errors are taken, and of these the largest weights. ``left``
    is what the queues share. Units that are not ``bound`` have no 802.1p priority yet, and ``spare`` are free: at
    most as many queues hold such alone. Where units share queues and every way has an error above ``bearable``, the
    error is infinite.

    Raises:
        ValueError: more units than `MOST_UNITS`, and more than queues.
    """
    if len(units) <= len(weights):
        found = [
            _apart(units, tuple((n, left * weights[n] / sum(weights[m] for m in chosen)) for n in chosen))
            for chosen in combinations(range(len(weights)), len(units))
        ]
        error, _, held = min(found, key=lambda f: (round(f[0], 9), round(f[1], 9), -sum(weights[n] for n in f[2])))
        return error, held
    if len(units) > MOST_UNITS:
        raise ValueError(f"{len(units)} units for {len(weights)} queues")
    return _merged(units, tuple(left * w / sum(weights) for w in weights), bound, spare, bearable)


def _apart(units: tuple[Unit, ...], queues: tuple[tuple[int, float], ...]) -> Found:
    """One queue for each unit, by the units that have one already."""
    error, _, _ = _served(units, queues, inf, max)
    return error, *_served(units, queues, error + _SAME, add)[1:]


def _served(
    units: tuple[Unit, ...],
    queues: tuple[tuple[int, float], ...],
    bearable: float,
    combine: Callable[[float, float], float],
) -> Found:
    """The assignment with the least combined errors, each of which is bearable."""
    best: dict[int, Found] = {0: (0.0, 0.0, (-1,) * len(units))}
    for number, share in queues:
        costs = [unit_error(unit, share) for unit in units]
        following: dict[int, Found] = {}
        for served, (_, error, held) in best.items():
            for at, cost in enumerate(costs):
                if served >> at & 1 or cost > bearable:
                    continue
                worse, key = combine(error, cost), served | 1 << at
                if key not in following or worse < following[key][1] - _SAME:
                    following[key] = (worse, worse, (*held[:at], number, *held[at + 1 :]))
        best = following
    return next(iter(best.values()))


@lru_cache(maxsize=16)
def _pairs(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Every set of units with each of its parts, sorted by set; and where each set begins (from set 1 on)."""
    sets: list[int] = []
    parts: list[int] = []
    starts: list[int] = []
    for whole in range(1, 1 << count):
        starts.append(len(sets))
        part = whole
        while part:
            sets.append(whole)
            parts.append(part)
            part = (part - 1) & whole
    return np.array(sets), np.array(parts), np.array(starts)


def _merged(
    units: tuple[Unit, ...], shares: tuple[float, ...], bound: tuple[bool, ...], spare: int, bearable: float
) -> tuple[float, tuple[int, ...]]:
    """All queues serve: the best way to serve a set of units with the first queues, queue by queue."""
    size = 1 << len(units)
    members = (np.arange(size)[:, None] >> np.arange(len(units))) & 1
    total = members @ np.array([sum(unit) for unit in units])
    least = np.where(members, np.array([min(unit) for unit in units]), inf).min(axis=1)
    fixed = (members @ np.array(bound, dtype=int)) > 0
    costs: list[Floats] = [np.abs(share - total) + total - least for share in shares]
    spare = min(spare, len(shares))
    if bearable < inf:
        costs = [np.where(cost <= bearable + _SAME, cost, inf) for cost in costs]
        used = np.bitwise_or.reduce([np.bitwise_or.reduce(np.flatnonzero(cost < inf)) for cost in costs])
        if used != size - 1 or not all((cost < inf).any() for cost in costs):
            return inf, (0,) * len(units)  # a unit that no queue may serve, or a queue that may serve none
    error = min(float(last[-1]) for last in _steps(costs, fixed, spare, np.maximum)[-1])
    if error == inf:
        return inf, (0,) * len(units)
    costs = [np.where(cost <= error + _SAME, cost, inf) for cost in costs]
    return error, _traced(costs, fixed, _steps(costs, fixed, spare, np.add), len(units))


@dataclass(frozen=True)
class _Indices:
    """Pairs of sets of units and a part of each for the next queue: ``targets`` are the sets, whose pairs begin at
    ``starts``; ``rest`` is what of the set the queues before serve."""

    targets: NDArray[np.int64]
    starts: NDArray[np.int64]
    parts: NDArray[np.int64]
    rest: NDArray[np.int64]

    @classmethod
    def of(cls, wholes: NDArray[np.int64], parts: NDArray[np.int64]) -> _Indices:
        """Those of pairs that are sorted by set."""
        starts = np.flatnonzero(np.diff(wholes, prepend=-1))
        return cls(wholes[starts], starts, parts, wholes ^ parts)


@dataclass(frozen=True)
class _Ways:
    """Pairs, and what the next queue costs with the part of each."""

    indices: _Indices
    costs: Floats

    def into(self, found: Floats, before: Floats, combine: np.ufunc) -> None:
        """Lower what is found for each set to the best of these ways, from what was found for the rest."""
        indices = self.indices
        if len(indices.starts):
            best = np.minimum.reduceat(combine(before[indices.rest], self.costs), indices.starts)
            found[indices.targets] = np.minimum(found[indices.targets], best)


def _steps(costs: list[Floats], fixed: NDArray[np.bool_], spare: int, combine: np.ufunc) -> list[list[Floats]]:
    """The least combined errors of every set of units after each queue, by the queues that hold unbound units.

    After the last queue only that of all units together is made: no other is asked for.
    """
    size = len(fixed)
    wholes, parts, _ = _pairs(size.bit_length() - 1)
    bound = fixed[parts]
    every = [_Indices.of(wholes[kept], parts[kept]) for kept in (bound, ~bound)]
    nothing: Floats = np.full(size, inf)
    start = nothing.copy()
    start[0] = 0.0
    steps: list[list[Floats]] = [[start, *(nothing for _ in range(spare))]]
    for number, cost in enumerate(costs):
        first, last = number == 0, number == len(costs) - 1
        if first or last or np.isinf(cost[1:]).any():
            useful = (cost < inf)[parts]
            if first:
                useful &= wholes == parts
            if last:
                useful &= wholes == size - 1
            chosen = [_Indices.of(wholes[kept], parts[kept]) for kept in (useful & bound, useful & ~bound)]
        else:
            chosen = every
        ways = [(taken, _Ways(indices, cost[indices.parts])) for taken, indices in enumerate(chosen)]
        made = []
        for used in range(spare + 1):
            found = nothing
            for taken, way in ways:
                if used >= taken and steps[-1][used - taken] is not nothing:
                    found = nothing.copy() if found is nothing else found
                    way.into(found, steps[-1][used - taken], combine)
            made.append(found)
        steps.append(made)
    return steps


def _traced(
    costs: list[Floats], fixed: NDArray[np.bool_], steps: list[list[Floats]], count: int
) -> tuple[int, ...]:
    """The queue of each unit where the errors sum up to the least."""
    _, parts, starts = _pairs(count)
    whole = (1 << count) - 1
    used = int(np.argmin([last[whole] for last in steps[-1]]))
    queue_of = [0] * count
    for queue in range(len(costs) - 1, -1, -1):
        target = steps[queue + 1][used][whole] + _SAME
        end = starts[whole] if whole < len(starts) else len(parts)
        for part in map(int, parts[starts[whole - 1] : end]):
            previous = used - (not fixed[part])
            if previous >= 0 and steps[queue][previous][whole ^ part] + costs[queue][part] <= target:
                for at in range(count):
                    if part >> at & 1:
                        queue_of[at] = queue
                whole, used = whole ^ part, previous
                break
    return tuple(queue_of)
