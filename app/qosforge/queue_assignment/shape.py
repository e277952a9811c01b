"""The input of the queue assignment and its result: hardware queues, what classes demand, and the queue of each."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import inf
from typing import NamedTuple


class Demand(NamedTuple):
    """What a class demands of its queue.

    ``shares`` are the parts of the link that it requests, at each rate of a port that matters. The device tells
    classes apart by ``labels``, such as CoS values; a class without one can be given any that is free. ``queue`` is
    one that is reserved for the class.
    """

    name: str
    shares: tuple[float, ...] = ()
    priority: bool = False
    queue: int | None = None
    alone: bool = False
    kinds: frozenset[Hashable] = frozenset()
    labels: frozenset[int] = frozenset()


class Criterion(NamedTuple):
    """What should be small: the sum of a measure of all queues, or its largest.

    The measure of a queue does not fall when another class joins. The search knows measures by name and computes
    them (``twin/src/queue_search/criterion.rs``). An error is that of a class's share, as a part of the link;
    ``bound`` is of `error_above` alone.
    """

    measure: str
    bound: float = 0.0


ALONE = Criterion("alone")  # queues that a class shares which should be alone
UNRELATED = Criterion("unrelated")  # queues of classes without a kind in common
MISPLACED = Criterion("misplaced")  # classes in such queues
PARTED = Criterion("parted")  # pairs with a label in common that are in different queues
KINDS = Criterion("kinds")  # kinds in each queue
MERGED = Criterion("merged")  # classes that share a queue
ERROR = Criterion("error")  # the largest error
ERRORS = Criterion("errors")  # the sum of the errors of all shares; it is the last criterion


def error_above(bound: float) -> Criterion:
    """By how much the largest error is above a bound."""
    return Criterion("error-above", bound)


@dataclass(frozen=True)
class QueueShape:
    """The queues of a port and what is free about them.

    The first class with priority has the first of the ``strict`` queues; those for which none is left share the
    last. The others have the ``weighted`` queues that are not in use as strict ones. ``weights`` are fixed, None
    where they are free. ``labels`` is how many there are, where classes that have one in common must share a queue.
    What is compared between assignments stands in ``preference``, the most important first; ``pairwise`` joins the
    two queues that are preferred, again and again, instead of a search of all ways.
    """

    weighted: tuple[int, ...]
    strict: tuple[int, ...] = ()
    preference: tuple[Criterion, ...] = (ERROR, ERRORS)
    weights: tuple[int, ...] | None = None
    labels: int = 0
    pairwise: bool = False


@dataclass(frozen=True)
class Assignment:
    """The queue of every class, and the weighted classes by queue in the order of the demands.

    ``error`` is the largest error of a share; it is infinite where the weighted classes have no queue.
    """

    queue_of: Mapping[str, int]
    groups: tuple[tuple[str, ...], ...]
    error: float

    @property
    def fits(self) -> bool:
        """Whether every class has a queue."""
        return self.error < inf

    @property
    def merged(self) -> tuple[tuple[str, ...], ...]:
        """The classes of every weighted queue that serves more than one."""
        return tuple(group for group in self.groups if len(group) > 1)
