"""The virtual queues of an interface's queues with ``gred``: one number for packets that all of them treat alike.

A packet has one number at an output, by its DSCP, whichever queue it waits in. So where two classes have packets of
one DSCP, these are in the virtual queue of that number in both.
"""

from __future__ import annotations

from collections.abc import Sequence

from napalm_linux_tc.gred import MOST_QUEUES

from qosforge.plan.early_drop import RedProfile
from qosforge.plan.model import Queue

Marks = tuple[int, ...]


def numbers(queues: Sequence[Queue]) -> dict[Marks, int]:
    """The number of each set of DSCPs that a virtual queue is for, from 1 in the order of the queues."""
    found: dict[Marks, int] = {}
    for profile in (profile for queue in queues for profile in profiles_by_dscp(queue)):
        found.setdefault(profile.dscp, len(found) + 1)
    return found


def profiles_by_dscp(queue: Queue) -> tuple[RedProfile, ...]:
    """The profiles of a queue that tells packets by DSCP; none of another."""
    return queue.red.profiles if queue.red is not None and queue.red.by_dscp else ()


def numbered(queues: Sequence[Queue]) -> tuple[Queue, ...]:
    """The queues with a profile for each number that their packets may have."""
    told = [{dscp: at for at, p in enumerate(profiles_by_dscp(queue)) for dscp in p.dscp} for queue in queues]
    alike: dict[tuple[int | None, ...], list[int]] = {}
    for dscp in sorted({dscp for each in told for dscp in each}):
        alike.setdefault(tuple(each.get(dscp) for each in told), []).append(dscp)
    order: dict[Marks, None] = {}
    for queue in range(len(queues)):
        order.update(dict.fromkeys(tuple(marks) for at, marks in alike.items() if at[queue] is not None))
    return tuple(
        _of_marks(queue, [marks for marks in order if marks[0] in each]) if each else queue
        for queue, each in zip(queues, told, strict=True)
    )


def fit(queues: Sequence[Queue]) -> bool:
    """Whether the kernel has a number for each."""
    return bool(len(numbers(queues)) <= MOST_QUEUES)


def _of_marks(queue: Queue, sets: Sequence[Marks]) -> Queue:
    red = queue.red
    assert red is not None
    profiles = tuple(
        next(p for p in red.profiles if marks[0] in p.dscp).model_copy(update={"dscp": marks}) for marks in sets
    )
    return queue.model_copy(update={"red": red.model_copy(update={"profiles": profiles})})
