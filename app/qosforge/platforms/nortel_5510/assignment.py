"""Assign shares to the weighted queues of a queue set with the least largest error.

Units are what must be in one queue; every unit has the shares (parts of the link) that its classes ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


def unit_error(requested: Unit, share: float) -> float:
    """The largest error of a class in a queue that these classes have together.

    Nothing keeps the classes of one queue apart: what a class has of it may be wrong by all that the others ask
    for.
    """
    total = sum(requested)
    return abs(share - total) + total - min(requested)


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
def _others(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For every part of so many units the sets of others, part by part; and where those of each part begin."""
    parts = others = np.zeros(1, dtype=np.int64)
    for at in range(count):
        parts, others = (
            np.concatenate((parts, parts, parts | 1 << at)),
            np.concatenate((others, others | 1 << at, others)),
        )
    order = np.argsort(parts, kind="stable")
    return others[order], np.searchsorted(parts[order], np.arange((1 << count) + 1))


def _merged(
    units: tuple[Unit, ...], shares: tuple[float, ...], bound: tuple[bool, ...], spare: int, bearable: float
) -> tuple[float, tuple[int, ...]]:
    """All queues serve: the best way to serve a set of units with the first queues, queue by queue."""
    if len(shares) > spare + sum(bound):
        return inf, (0,) * len(units)  # each queue beyond the spare ones needs a bound unit
    members = (np.arange(1 << len(units))[:, None] >> np.arange(len(units))) & 1
    total = members @ np.array([sum(unit) for unit in units])
    least = np.where(members, np.array([min(unit) for unit in units]), inf).min(axis=1)
    fixed = (members @ np.array(bound, dtype=int)) > 0
    costs: Floats = np.abs(np.array(shares)[:, None] - total) + total - least
    costs[:, 0] = inf  # no queue is without units
    spare = min(spare, len(shares))
    # Every queue serves some set, and every unit is in one.
    of_unit = np.where(members, costs.min(axis=0)[:, None], inf).min(axis=0)
    least_error = max(float(costs.min(axis=1).max()), float(of_unit.max()))
    for most in _rising(least_error, min(bearable + _SAME, float(costs[:, 1:].max()))):
        error = float(_steps(costs, fixed, spare, np.maximum, most)[-1][:, -1].min())
        if error < inf:
            steps = _steps(costs, fixed, spare, np.add, error + _SAME)
            return error, _traced(costs, fixed, steps, error + _SAME)
    return inf, (0,) * len(units)


def _rising(least: float, most: float) -> Iterator[float]:
    """Bounds to try one after the other: a low one leaves few sets to look at, and is soon found too low."""
    if least > most:
        return
    while least < most:
        yield least
        least = 1.25 * least + 0.005
    yield most


def _steps(costs: Floats, fixed: NDArray[np.bool_], spare: int, combine: np.ufunc, most: float) -> list[Floats]:
    """The least combined errors, each of at most ``most``, after each queue: by the number of queues that hold
    unbound units alone, and by the set of units that are served.

    After the last queue only that of all units together is made: no other is asked for.
    """
    size = len(fixed)
    start: Floats = np.full((spare + 1, size), inf)
    start[0, 0] = 0.0
    steps = [start]
    others, begins = _others(size.bit_length() - 1)
    for number, cost in enumerate(costs, 1):
        parts = np.flatnonzero(cost <= most)
        if number == len(costs):
            rest = size - 1 ^ parts
        else:
            counts = begins[parts + 1] - begins[parts]
            first = begins[parts] - counts.cumsum() + counts
            parts, rest = np.repeat(parts, counts), others[np.arange(counts.sum()) + np.repeat(first, counts)]
        before, found = steps[-1], np.full_like(start, inf)
        reached = before.min(axis=0)[rest] < inf
        parts, rest = parts[reached], rest[reached]
        for taken, kind in enumerate((fixed[parts], ~fixed[parts])):
            part, left = parts[kind], rest[kind]
            for used in range(taken, spare + 1):
                np.minimum.at(found[used], part | left, combine(before[used - taken, left], cost[part]))
        steps.append(found)
    return steps


def _traced(costs: Floats, fixed: NDArray[np.bool_], steps: list[Floats], most: float) -> tuple[int, ...]:
    """The queue of each unit where the errors, each of at most ``most``, sum up to the least."""
    whole = len(fixed) - 1
    queue_of = [0] * whole.bit_length()
    used = int(np.argmin(steps[-1][:, whole]))
    for queue in range(len(costs) - 1, -1, -1):
        target = steps[queue + 1][used, whole] + _SAME
        parts = np.flatnonzero(costs[queue] <= most)
        for part in map(int, parts[parts & ~whole == 0][::-1]):
            previous = used - (not fixed[part])
            if previous >= 0 and steps[queue][previous, whole ^ part] + costs[queue, part] <= target:
                for at in range(len(queue_of)):
                    if part >> at & 1:
                        queue_of[at] = queue
                whole, used = whole ^ part, previous
                break
    return tuple(queue_of)
