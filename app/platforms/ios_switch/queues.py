"""Classes onto the queues of a port: priority alone in its queue, weights with the smallest largest error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.findings import Severity
from app.intent.models import RESERVED_CLASS
from app.plan.asked import asked_shares
from app.plan.model import Discipline, Queue, Scheduler, Share, ShareUnit
from app.plan.request import DeviceRequest
from app.platforms.ios_switch.marks import CONTROL_COS, CONTROL_DSCP, ClassMarks
from app.platforms.ios_switch.notes import Notes

CONTROL_WEIGHT = 3
"""Weight of network control, against 100 of the classes, where a queue is free for it: our choice, enough for
routing and spanning tree and too little to move a class's share by a point of the link rate at 50 % priority."""
HIGHEST_WEIGHT = 255
"""Highest weight of WRR and SRR (Catalyst 2950 and 2970 references)."""
MOST_CLASSES = 10
"""Classes beyond which merging is not tried: the ways to merge them grow too fast."""
_DEFAULT = RESERVED_CLASS


@dataclass(frozen=True)
class Layout:
    """Queues that a box offers: the one that may be served first, and all of them in the order to fill."""

    expedite: int
    weighted: tuple[int, ...]
    discipline: Discipline
    limits: tuple[int, ...]


@dataclass(frozen=True)
class Assignment:
    """Which queue serves which class, and the scheduler this makes; ``control`` serves network control."""

    queue_of: dict[str, int]
    control: int
    scheduler: Scheduler

    def cos_to_queue(self, marks: dict[str, ClassMarks]) -> tuple[int, ...]:
        """Queue of every CoS; what no class has goes with the default one."""
        table = [self.queue_of[_DEFAULT]] * 8
        for cos in CONTROL_COS:
            table[cos] = self.control
        for name, entry in reversed(marks.items()):
            for cos in entry.cos:
                table[cos] = self.queue_of[name] if cos else table[0]
        return tuple(table)

    def dscp_to_queue(self, marks: dict[str, ClassMarks]) -> tuple[int, ...]:
        """Queue of every DSCP; what no class has goes with the default one."""
        table = [self.queue_of[_DEFAULT]] * 64
        for point in CONTROL_DSCP:
            table[point] = self.control
        for name, entry in reversed(marks.items()):
            for point in entry.code_points:
                table[point] = self.queue_of[name]
        return tuple(table)


def assign(request: DeviceRequest, layout: Layout, notes: Notes) -> Assignment:
    """Queues for the classes of a request; what cannot be had is noted."""
    first = [c for c in request.classes if c.treatment.priority]
    ideal = _ideal_weights(request)
    free = [n for n in layout.weighted if not (first and n == layout.expedite)]
    groups = _groups(request, ideal, len(free), notes)
    queue_of = {c.name: layout.expedite for c in first}
    wanted = [sum(ideal[name] for name in group) for group in groups]
    for number, group in zip(free, groups, strict=False):
        queue_of.update(dict.fromkeys(group, number))
    if len(groups) < len(free):
        control = free[len(groups)]
        wanted.append(sum(wanted) * CONTROL_WEIGHT / 100)
    else:
        heaviest = max(range(len(groups)), key=lambda i: (_DEFAULT not in groups[i], wanted[i]))
        control = free[heaviest]
    weights = dict(zip(free, whole_weights(wanted), strict=False))
    queues = tuple(
        Queue(
            number=number,
            priority=bool(first) and number == layout.expedite,
            share=None
            if first and number == layout.expedite
            else Share(unit=ShareUnit.WEIGHT, value=weights.get(number, 1)),
            limit_packets=limit,
        )
        for number, limit in enumerate(layout.limits, start=1)
    )
    assignment = Assignment(queue_of, control, Scheduler(discipline=layout.discipline, queues=queues))
    _note_control(assignment, groups, wanted, notes)
    return assignment


def _ideal_weights(request: DeviceRequest) -> dict[str, float]:
    """Weights of the classes without priority as asked, in per cent, the default class first."""
    asked = asked_shares(request.classes, _slowest(request))
    weighted = sorted((c for c in request.classes if not c.treatment.priority), key=lambda c: not c.is_default)
    total = sum(asked[c.name] for c in weighted) or 1.0
    return {c.name: 100 * asked[c.name] / total for c in weighted}


def _slowest(request: DeviceRequest) -> int:
    return min((i.usable for i in request.interfaces if i.schedule), default=1)


def _groups(request: DeviceRequest, ideal: dict[str, float], queues: int, notes: Notes) -> list[list[str]]:
    """Classes by queue: one each if there are enough, else merged so that the largest share error is smallest."""
    names = list(ideal)
    if len(names) <= queues:
        return [[name] for name in names]
    asked = asked_shares(request.classes, _slowest(request))

    def largest_error(groups: list[list[str]]) -> float:
        return max(100 * (sum(asked[n] for n in g) - asked[name]) for g in groups for name in g)

    if len(names) > MOST_CLASSES:
        best = [names[:1], *([n] for n in names[1 : queues - 1]), names[queues - 1 :]]
    else:
        best = min(_partitions(names, queues), key=largest_error)
    error = largest_error(best)
    bearable = error <= 100 * request.tolerance
    notes.add(
        Severity.WARNING if bearable else Severity.ERROR,
        "classes-merged" if bearable else "queues-exceeded",
        "classes share a queue: " + "; ".join(" + ".join(g) for g in best if len(g) > 1),
        asked=f"{len(names)} queues",
        will_be=f"{queues} queues, a share may be wrong by {error:.3g} points of the link",
        mend=f"ask for {queues} classes without priority at most",
    )
    return best


def _partitions(names: Sequence[str], most: int) -> Iterator[list[list[str]]]:
    """Every way to put names into at most ``most`` groups."""
    if not names:
        yield []
        return
    for groups in _partitions(names[:-1], most):
        for position in range(len(groups)):
            yield [[*g, names[-1]] if i == position else list(g) for i, g in enumerate(groups)]
        if len(groups) < most:
            yield [*groups, [names[-1]]]


def whole_weights(wanted: Sequence[float]) -> list[int]:
    """Whole weights from 1 to 255 whose ratio is nearest to what is wanted; the smallest such ones."""
    total = sum(wanted)
    if not total:
        return [1 for _ in wanted]

    def scaled(factor: float) -> list[int]:
        return [min(max(round(w * factor), 1), HIGHEST_WEIGHT) for w in wanted]

    def error(factor: float) -> float:
        weights = scaled(factor)
        return max(abs(g / sum(weights) - w / total) for g, w in zip(weights, wanted, strict=True))

    top = int(HIGHEST_WEIGHT / max(wanted))
    factors = [float(f) for f in range(1, top + 1)] or [HIGHEST_WEIGHT / max(wanted)]
    return scaled(min(factors, key=lambda f: (round(error(f), 9), f)))


def _note_control(assignment: Assignment, groups: list[list[str]], wanted: list[float], notes: Notes) -> None:
    queue = assignment.control
    with_it = [name for name, number in assignment.queue_of.items() if number == queue]
    if with_it:
        message = f"network control (CoS 6 and 7, DSCP 48 to 63) shares queue {queue} with {', '.join(with_it)}"
        notes.add(Severity.INFO, "network-control-queue", message)
        return
    part = 100 * wanted[len(groups)] / sum(wanted)
    notes.add(
        Severity.INFO,
        "network-control-queue",
        f"network control (CoS 6 and 7, DSCP 48 to 63) has queue {queue} to itself",
        will_be=f"{part:.3g} % of what priority leaves, when all queues are full",
    )
