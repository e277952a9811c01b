"""Assign classes to queues: strict queues by rank, weighted ones by what the shape of the port leaves free.

Queues of free weights are alike, and branch and bound over the groupings of classes serves any number of them.
Queues of fixed weights differ, and too many assignments to them are equally good for bounds to cut them off: a
dynamic program over sets of classes serves those.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from qosforge.memoise import memoise_by_value
from qosforge.queue_assignment.fixed_weights import nearest
from qosforge.queue_assignment.free_weights import cheapest_groups, pairwise_groups
from qosforge.queue_assignment.shape import Assignment, Demand, QueueShape
from qosforge.queue_assignment.shares import share_error


@memoise_by_value(4096)
def assign_queues(shape: QueueShape, demands: tuple[Demand, ...], bearable: float = inf) -> Assignment:
    """The assignment that the shape prefers; of equally good ones always the same.

    Where classes share queues of fixed weights, an error above ``bearable`` is as good as no assignment.
    """
    queue_of = {d.name: d.queue for d in demands if d.queue is not None}
    first = [d for d in demands if d.priority]
    queue_of |= {d.name: shape.strict[min(rank, len(shape.strict) - 1)] for rank, d in enumerate(first)}
    rest = tuple(d for d in demands if d.name not in queue_of)
    free = [number for number in shape.weighted if number not in queue_of.values()]
    if shape.weights is None:
        groups = _to_free_weights(shape, rest, len(free))
        queue_of |= {d.name: number for number, group in zip(free, groups, strict=False) for d in group}
        at_rates = (shares for group in groups for shares in zip(*(d.shares for d in group), strict=True))
        error = max(map(share_error, at_rates), default=0.0)
    else:
        units = join_labelled(rest)
        error, places = nearest(
            units,
            shape.weights,
            1 - sum(d.shares[0] for d in first),
            shape.labels - len(frozenset[int]().union(*(d.labels for d in demands))),
            bearable,
        )
        if error == inf:
            return Assignment(queue_of, (), inf)
        queue_of |= {d.name: shape.weighted[at] for unit, at in zip(units, places, strict=True) for d in unit}
    by_queue: dict[int, list[str]] = {}
    for d in rest:
        by_queue.setdefault(queue_of[d.name], []).append(d.name)
    return Assignment(queue_of, tuple(map(tuple, by_queue.values())), error)


def _to_free_weights(shape: QueueShape, demands: tuple[Demand, ...], most: int) -> Sequence[tuple[Demand, ...]]:
    """The demands of each queue in their order, each alone if there are enough queues."""
    if len(demands) <= most:
        return [(d,) for d in demands]
    if shape.pairwise:
        return pairwise_groups(demands, most, shape.preference)
    # The search ends sooner with the largest first.
    found = cheapest_groups(sorted(demands, key=lambda d: -max(d.shares)), most, shape.preference)
    return sorted((tuple(sorted(g, key=demands.index)) for g in found), key=lambda g: demands.index(g[0]))


def join_labelled(demands: Sequence[Demand]) -> list[tuple[Demand, ...]]:
    """Units of the weighted classes that must be in one queue, because they have a label in common."""
    units: list[tuple[Demand, ...]] = []
    for demand in demands:
        if demand.priority:
            continue
        joined = [u for u in units if any(demand.labels & other.labels for other in u)]
        units = [*(u for u in units if u not in joined), (*(d for u in joined for d in u), demand)]
    return units
