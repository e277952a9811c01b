"""Classes below a class, as classes of ``hfsc`` inside another one.

HFSC divides what a class has among those inside it by their link-sharing curves, whatever others have (tc-hfsc(7),
"LINKSHARING CRITERION"). Packets wait in the innermost ones alone, and only these have real-time curves: what is
served in time is so beside all other classes of the port, wherever they are ("REALTIME CRITERION").

HTB has classes in classes, too. But what classes send beyond their rates it hands out by the quanta of the
innermost ones (``htb_dequeue_tree`` in net/sched/sch_htb.c): a class would have the less of it the more of those
inside it are idle. So without HFSC no class is divided.

The queues of a tree are numbered level by level, those of one class one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from qosforge.findings import Finding
from qosforge.note import note
from qosforge.plan.fluid import throughput
from qosforge.plan.model import Discipline, Egress, Queue, Scheduler
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.plan.shares import Load, Path, leaf_paths, path_name, scheduler_tree
from qosforge.platforms.class_trees import every_class
from qosforge.platforms.linux_tc.capabilities import CAPABILITIES
from qosforge.platforms.linux_tc.kinds import is_uncapped
from qosforge.platforms.linux_tc.sharing import HFSC
from qosforge.platforms.recognition import points_of

Parents = Mapping[int, int | None]
"""The number of the queue that each queue is in; None of one that divides the port itself."""


def divisible(
    request: DeviceRequest, *, rate: int, sharing: bool, findings: list[Finding]
) -> tuple[ClassRequest, ...]:
    """The classes of a port without those below a class that cannot be divided, which is told.

    ``sharing`` says whether HFSC divides the port of ``rate`` b/s.
    """

    def refused(c: ClassRequest, level: int) -> Finding | None:
        place, most = class_place(request, c, direction="output"), CAPABILITIES.levels.value
        if c.treatment.priority is not None:
            return note("children-unsupported", place)
        if not sharing:
            variant = _why_not(request, rate)
            highest = CAPABILITIES.hfsc_rate.maximum
            return note("children-unsupported", place, variant=variant, scheduler=HFSC, most=highest)
        if any(map(is_uncapped, c.children)):
            return note("children-unsupported", place, variant="uncapped", scheduler=HFSC)
        if level >= most:
            return note("children-unsupported", place, variant="too-deep", most=most)
        if (child := _told_by_a_lost_mark(c)) is not None:
            return note("children-unsupported", place, variant="marked", child=child.name)
        return None

    def kept(classes: Sequence[ClassRequest], level: int) -> Iterator[ClassRequest]:
        for c in classes:
            found = refused(c, level) if c.children else None
            findings.extend([found] if found else [])
            yield c.model_copy(update={"children": () if found else tuple(kept(c.children, level + 1))})

    return tuple(kept(request.classes, 1)) if any(c.children for c in request.classes) else request.classes


def _told_by_a_lost_mark(c: ClassRequest) -> ClassRequest | None:
    """A class below one that is marked, which is told by the marks that packets had before."""
    if c.recognised_by is None:
        return None
    unmarked = (child for child in every_class(c.children) if child.recognised_by is None)
    return next((child for child in unmarked if any(points_of(t) is not None for t in child.terms)), None)


def _why_not(request: DeviceRequest, rate: int) -> str:
    """Why HFSC does not divide a port."""
    if HFSC not in request.features:
        return "kernel-unknown"
    return "rate-too-high" if rate > CAPABILITIES.hfsc_rate.maximum else "uncapped"


def nested(queues: Sequence[Queue], parents: Parents, *, decoupled: bool = True) -> Scheduler:
    """The queues of a port as a tree, in which no rule chooses any yet."""

    def inside(queue: Queue) -> Queue:
        if queue.number not in parents.values():
            return queue
        return queue.model_copy(update={"child": Egress(scheduler=level(queue.number))})

    def level(above: int | None) -> Scheduler:
        mine = sorted((q for q in queues if parents[q.number] == above), key=lambda q: q.number)
        return Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=tuple(map(inside, mine)), decoupled=decoupled)

    return level(None)


def every_queue(scheduler: Scheduler) -> tuple[Queue, ...]:
    """The queues of a tree, level by level."""
    found, level = list[Queue](), list(scheduler.queues)
    while level:
        found += level
        level = [below for queue in level for below in queues_in(queue)]
    return tuple(found)


def queues_in(queue: Queue) -> tuple[Queue, ...]:
    """The queues that divide a queue; none of an innermost one."""
    inside = queue.child.scheduler if queue.child else None
    return inside.queues if inside else ()


def rest_of(queue: Queue) -> int:
    """The number of the innermost queue for what no class inside a queue takes."""
    while below := queues_in(queue):
        assert queue.child is not None
        queue = next((q for q in below if q.number == queue.child.default_queue), below[-1])
    return queue.number


def greatest_part(scheduler: Scheduler, path: Path, link: int) -> float:
    """The part of a link of ``link`` b/s (0 to 1) that an innermost queue gets at most while another one waits."""
    others = [other for other in leaf_paths(scheduler) if other != path]
    found = []
    for other in others or [path]:
        load: dict[Path, Load] = {path: math.inf, other: math.inf}
        found.append(throughput(scheduler_tree(scheduler, link, load), link)[path_name(path)] / link)
    return max(found)
