"""Assign classes to queues of fixed weights with the least largest error.

Units are classes that must be in one queue. The search is native code beside the twin's (`twin/src/queue_search`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from qosforge.queue_assignment.shape import Demand

MOST_UNITS = 12
"""Units beyond which merging is not tried: the ways to merge them grow with the third power."""


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
    import qosforge_twin  # noqa: PLC0415 (the doctor runs where it cannot be loaded)

    shares = [[d.shares[0] for d in unit] for unit in units]
    if weights and len(units) <= len(weights):
        error, places = qosforge_twin.nearest_apart(shares, list(weights), left)
    elif not weights or len(units) > MOST_UNITS:
        return inf, (0,) * len(units)
    else:
        bound = [bool(unit[0].labels) for unit in units]
        parts = [left * weight / sum(weights) for weight in weights]
        demanded = list(zip(shares, bound, strict=True))
        error, places = qosforge_twin.nearest_merged(demanded, parts, spare, bearable)
    return error, tuple(places)
