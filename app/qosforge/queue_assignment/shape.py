"""The input of the queue assignment and its result: hardware queues, what classes demand, and the queue of each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
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


class QueueUse(NamedTuple):
    """What the classes of one queue come to together, for the criteria.

    ``classes`` is how many they are, ``error`` the largest error of their shares (part of the link), ``errors`` the
    sum of all errors. ``parted`` are pairs with an earlier class in another queue that has a label in common.
    ``alone`` says whether one of them should be alone; ``kinds`` are those of all, ``common`` those of each.
    """

    classes: int
    error: float
    errors: float
    parted: int
    alone: bool
    kinds: frozenset[Hashable]
    common: frozenset[Hashable]

    @property
    def crowded(self) -> bool:
        """Whether a class shares the queue that should be alone."""
        return self.alone and self.classes > 1

    @property
    def unrelated(self) -> bool:
        """Whether the classes that share the queue have no kind in common."""
        return not self.common and self.classes > 1


class Criterion(NamedTuple):
    """What should be small: the sum of a measure of all queues, or the ``largest``.

    The measure of a queue does not fall when another class joins.
    """

    measure: Callable[[QueueUse], float]
    largest: bool = False


ALONE = Criterion(lambda use: use.crowded)  # queues that a class shares which should be alone
UNRELATED = Criterion(lambda use: use.unrelated)  # queues of classes without a kind in common
MISPLACED = Criterion(lambda use: use.classes if use.crowded or use.unrelated else 0)  # classes in such queues
PARTED = Criterion(lambda use: use.parted)  # pairs with a label in common that are in different queues
KINDS = Criterion(lambda use: len(use.kinds))  # kinds in each queue
MERGED = Criterion(lambda use: use.classes if use.classes > 1 else 0)  # classes that share a queue
ERROR = Criterion(lambda use: use.error, largest=True)  # the largest error of a share
ERRORS = Criterion(lambda use: use.errors)  # the sum of the errors of all shares; it is the last criterion


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
