"""Group classes into too few queues of free weights: branch and bound over all groupings, or pair by pair.

The search is native code beside the twin's (`twin/src/queue_search`): it would take a sixth of a preview otherwise.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from qosforge.queue_assignment.shape import Criterion, Demand

Groups = list[tuple[Demand, ...]]

MOST_STEPS = 20_000
"""Steps after which the best grouping so far is taken: some hundredths of a second. A dozen classes need some
hundreds."""

_Demanded = tuple[tuple[float, ...], bool, list[int], list[int]]


def cheapest_groups(
    demands: Sequence[Demand], most: int, preference: Sequence[Criterion], steps: int = MOST_STEPS
) -> Groups:
    """The preferred grouping into at most ``most`` queues: the best of all, unless ``steps`` end the search.

    Large demands should come first: the search ends sooner. Of equally good groupings it is always the same.
    """
    import qosforge_twin  # noqa: PLC0415 (the doctor runs where it cannot be loaded)

    found = qosforge_twin.cheapest_groups(_demanded(demands), most, list(preference), steps)
    return [tuple([demands[at] for at in group]) for group in found]


def pairwise_groups(demands: Sequence[Demand], most: int, preference: Sequence[Criterion]) -> Groups:
    """The grouping into ``most`` queues by joining, again and again, the two that make the preferred queue."""
    import qosforge_twin  # noqa: PLC0415 (as above)

    found = qosforge_twin.pairwise_groups(_demanded(demands), most, list(preference))
    return [tuple([demands[at] for at in group]) for group in found]


def _demanded(demands: Sequence[Demand]) -> list[_Demanded]:
    """Demands as the search takes them, their kinds as numbers."""
    numbers: dict[Hashable, int] = {}
    return [
        (d.shares, d.alone, [numbers.setdefault(kind, len(numbers)) for kind in d.kinds], list(d.labels))
        for d in demands
    ]
