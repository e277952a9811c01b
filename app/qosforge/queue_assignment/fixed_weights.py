"""Assign classes to queues of fixed weights with the least largest error: a dynamic program over sets of classes.

Units are classes that must be in one queue.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, permutations
from math import inf

import numpy as np
from numpy.typing import NDArray

from qosforge.queue_assignment.shape import Demand

MOST_UNITS = 12
"""Units beyond which merging is not tried: the ways to merge them grow with the third power."""
_SAME = 1e-9

Unit = tuple[float, ...]
Floats = NDArray[np.float64]


def nearest(
    units: Sequence[Sequence[Demand]], weights: Sequence[int], left: float, spare: int, bearable: float = inf
) -> tuple[float, tuple[int, ...]]:
    """The least largest error, and the position in ``weights`` of the queue of each unit.

    Each unit has a queue of its own where there are enough: the others serve nothing. Else all queues serve. Of
    assignments as good, those with the smallest sum of errors are taken, and of these the largest weights. ``left``
    is what the queues share. ``spare`` labels are free: at most as many queues hold units alone that have none. The
    error is infinite without queues, and where units share queues if every way has an error above ``bearable`` or
    there are more than `MOST_UNITS`.
    """
    shares = [tuple(d.shares[0] for d in unit) for unit in units]
    if weights and len(units) <= len(weights):
        return _apart(shares, np.array(weights), left)
    if not weights or len(units) > MOST_UNITS:
        return inf, (0,) * len(units)
    bound = [bool(unit[0].labels) for unit in units]
    return _merged(shares, tuple(left * w / sum(weights) for w in weights), bound, spare, bearable)


def _apart(units: Sequence[Unit], weights: NDArray[np.int64], left: float) -> tuple[float, tuple[int, ...]]:
    """One queue for each unit: every choice of queues with every order of the units in them."""
    count = len(units)
    queues = np.array([*combinations(range(len(weights)), count)], dtype=int)
    # Of orders alike the first one is taken: the last queue has the last of the units.
    orders = np.array([*permutations(range(count - 1, -1, -1))], dtype=int)[:, ::-1]
    chosen = weights[queues]
    total = np.array([sum(unit) for unit in units])
    shares = left * chosen / chosen.sum(axis=1, keepdims=True)
    errors = np.abs(shares[:, None] - total[orders]) + (total - np.array([min(unit) for unit in units]))[orders]
    worst = errors.max(axis=2, initial=0.0)
    heaviest = np.broadcast_to(-chosen.sum(axis=1, keepdims=True), worst.shape)
    keys = (heaviest.ravel(), errors.sum(axis=2).round(9).ravel(), worst.round(9).ravel())
    choice, order = divmod(int(np.lexsort(keys)[0]), len(orders))
    places = dict(zip(orders[order].tolist(), queues[choice].tolist(), strict=True))
    return float(worst[choice, order]), tuple(places[at] for at in range(count))


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
    units: Sequence[Unit], shares: Sequence[float], bound: Sequence[bool], spare: int, bearable: float
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
