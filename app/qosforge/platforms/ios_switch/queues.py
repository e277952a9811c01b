"""Assign classes to the queues of a port: priority in a queue of its own, weights with the least largest error."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, permutations

from qosforge.dscp import CONTROL_DSCP
from qosforge.intent.models import RESERVED_CLASS
from qosforge.plan.request import DeviceRequest
from qosforge.plan.requested import requested_shares
from qosforge.platforms.ios_switch.marks import CONTROL_COS, SwitchClassMarks
from qosforge.platforms.ios_switch.notes import Notes
from qosforge.queue_assignment.shape import ALONE, ERROR, ERRORS, PARTED, UNRELATED, Assignment, Demand, QueueShape
from qosforge.queue_assignment.shares import whole_weights
from qosforge.queue_assignment.solver import assign_queues

CONTROL_WEIGHT = 3
"""Weight of network control, against 100 of the classes, where a queue is free for it: our choice, enough for
routing and spanning tree and too little to move a class's share by a point of the link rate at 50 % priority."""
HIGHEST_WEIGHT = 255
"""Highest weight of WRR and SRR (Catalyst 2950 and 2970 references)."""
_DEFAULT = RESERVED_CLASS
_SAME = 1e-9
_KINDS = frozenset({"routing", "rest"})
_PREFERENCE = (ALONE, PARTED, ERROR, UNRELATED, ERRORS)


@dataclass(frozen=True)
class QueueLayout:
    """Queues that a device offers: the one that may be served first, and all of them in the order to fill.

    ``cos_to_queue`` and ``dscp_to_queue`` are the maps as delivered, none where the device has no such map.
    """

    expedite: int
    weighted: tuple[int, ...]
    cos_to_queue: tuple[int, ...]
    dscp_to_queue: tuple[int, ...] = ()
    in_order: bool = False
    """Whether the device can serve all queues in the order of their numbers, the highest first."""
    control_dscp: tuple[int, ...] = CONTROL_DSCP
    """The DSCPs of network control that the device knows."""


@dataclass(frozen=True)
class QueueAssignment:
    """Which queue serves which class; ``control`` serves network control, ``first`` is the expedite one in use."""

    layout: QueueLayout
    queue_of: dict[str, int]
    groups: dict[int, tuple[str, ...]]
    control: int
    first: int | None
    in_order: bool = False
    """Whether all queues are served in order, and none by weight."""

    def weights(
        self, request: DeviceRequest, rates: Iterable[int], shaped: Collection[int] = ()
    ) -> tuple[int, ...]:
        """Whole weights of all queues that come nearest to the shares asked for on ports of these rates (b/s).

        Queues in ``shaped``, the expedite queue and those that serve nothing have weight 1.
        """
        weighted = [n for n in self.groups if n not in shaped]
        targets = []
        for rate in rates:
            requested = _ideal_weights(request, rate)
            parts = [sum(requested[name] for name in self.groups[number]) for number in weighted]
            if self.control not in self.groups:
                parts.append(sum(parts) * CONTROL_WEIGHT / 100)
            targets.append(parts)
        numbers = [*weighted, *([] if self.control in self.groups else [self.control])]
        found = dict(zip(numbers, whole_weights(targets, HIGHEST_WEIGHT), strict=True)) if numbers else {}
        return tuple(found.get(number, 1) for number in range(1, len(self.layout.weighted) + 1))

    def cos_to_queue(self, marks: dict[str, SwitchClassMarks]) -> tuple[int, ...]:
        """Queue of every CoS; what no class has goes with the default one."""
        table = [self.queue_of[_DEFAULT]] * 8
        for cos in CONTROL_COS:
            table[cos] = self.control
        for name, entry in reversed(marks.items()):
            for cos in entry.cos:
                table[cos] = self.queue_of[name] if cos else table[0]
        return tuple(table)

    def changes(self, marks: dict[str, SwitchClassMarks]) -> int:
        """Entries of the device's maps that are not as delivered."""
        cos, dscp = self.layout.cos_to_queue, self.layout.dscp_to_queue
        pairs = [
            *zip(cos, self.cos_to_queue(marks), strict=False),
            *zip(dscp, self.dscp_to_queue(marks), strict=False),
        ]
        return sum(delivered != ours for delivered, ours in pairs)

    def dscp_to_queue(self, marks: dict[str, SwitchClassMarks]) -> tuple[int, ...]:
        """Queue of every DSCP; what no class has goes with the default one."""
        table = [self.queue_of[_DEFAULT]] * 64
        for point in CONTROL_DSCP:
            table[point] = self.control
        for name, entry in reversed(marks.items()):
            for point in entry.code_points:
                table[point] = self.queue_of[name]
        return tuple(table)


def scheduled_rates(request: DeviceRequest) -> tuple[int, ...]:
    """The different rates (b/s) of the ports that are scheduled, the lowest first."""
    return tuple(sorted({i.usable for i in request.interfaces if i.schedule}))


def assign(
    request: DeviceRequest,
    layout: QueueLayout,
    marks: dict[str, SwitchClassMarks],
    notes: Notes,
    apart: frozenset[str] = frozenset(),
) -> QueueAssignment:
    """Queues for the classes of a request; classes in ``apart`` share theirs with no other. What cannot be had is
    noted."""
    first = [c for c in request.classes if c.treatment.priority]
    ideal = _ideal_weights(request, scheduled_rates(request)[0])
    demands = _demands(request, layout, marks, apart)
    if layout.in_order and 1 < len(first) == len(request.classes) - 1 < len(layout.weighted):
        return _in_order(demands, layout, marks, notes)
    shape = QueueShape(weighted=layout.weighted, strict=(layout.expedite,), preference=_PREFERENCE)
    found = assign_queues(shape, demands)
    groups, at_once = found.groups, {c.name: found.queue_of[c.name] for c in first}
    free = [n for n in layout.weighted if n not in at_once.values()]
    if found.merged:
        note_merged(request, found, apart, len(free), notes)

    def placed(numbers: tuple[int, ...]) -> QueueAssignment:
        """Groups in these queues; a number beyond them is the queue of network control alone."""
        by_queue = dict(zip(numbers, groups, strict=False))
        queue_of = at_once | {name: number for number, group in by_queue.items() for name in group}
        if len(numbers) > len(groups):
            control = numbers[-1]
        else:
            control = max(by_queue, key=lambda n: _suits_control(by_queue[n], marks, apart, ideal))
        return QueueAssignment(layout, queue_of, by_queue, control, layout.expedite if first else None)

    # Queues by weight are alike, so those are taken that the device chooses by itself for most marks.
    ways = permutations(free, min(len(groups) + 1, len(free)))
    assignment = min(map(placed, ways), key=lambda made: made.changes(marks))
    _note_control(assignment, marks, notes)
    return assignment


def _suits_control(
    group: Collection[str], marks: dict[str, SwitchClassMarks], apart: frozenset[str], ideal: dict[str, float]
) -> tuple[bool, bool, bool, float]:
    """How well network control goes with classes: best with routing, not with the default class or a shaped one."""
    free = apart.isdisjoint(group)
    routing = any(name in marks and _is_routing(marks[name]) for name in group)
    return routing and free, _DEFAULT not in group, free, sum(ideal[name] for name in group)


def _is_routing(marks: SwitchClassMarks) -> bool:
    """Whether a class has the marks of routing protocols."""
    return CONTROL_DSCP[0] in marks.code_points or CONTROL_COS[0] in marks.cos


def _demands(
    request: DeviceRequest, layout: QueueLayout, marks: dict[str, SwitchClassMarks], apart: frozenset[str]
) -> tuple[Demand, ...]:
    """What the classes demand, the default class first.

    Where the CoS alone chooses the queue, it is their label; CoS 0 is the default class's. Routing is not of the
    default class's kind, all other classes are of both.
    """
    requested = [requested_shares(request.classes, rate) for rate in scheduled_rates(request)]
    demands = []
    for c in sorted(request.classes, key=lambda c: not c.is_default):
        cos, routing = (marks[c.name].cos, _is_routing(marks[c.name])) if c.name in marks else ((0,), False)
        demands.append(
            Demand(
                c.name,
                tuple(at[c.name] for at in requested),
                priority=c.treatment.priority is not None,
                alone=c.name in apart,
                kinds=_KINDS if routing == c.is_default else frozenset({"routing" if routing else "rest"}),
                labels=frozenset() if layout.dscp_to_queue else frozenset(cos),
            )
        )
    return tuple(demands)


def _in_order(
    demands: tuple[Demand, ...], layout: QueueLayout, marks: dict[str, SwitchClassMarks], notes: Notes
) -> QueueAssignment:
    """Every class in a queue of its own, the first in the highest; network control goes with no class if it can."""
    highest = layout.weighted[::-1]
    queue_of = dict(assign_queues(QueueShape(weighted=highest[-1:], strict=highest), demands).queue_of)
    free = [n for n in highest if n not in queue_of.values()]
    control = free[0] if free else highest[0]
    assignment = QueueAssignment(layout, queue_of, {}, control, layout.expedite, in_order=True)
    _note_control(assignment, marks, notes)
    return assignment


def _ideal_weights(request: DeviceRequest, rate: int) -> dict[str, float]:
    """Weights of the classes without priority as asked on a port of this rate, in per cent, the default class
    first."""
    requested = requested_shares(request.classes, rate)
    weighted = sorted((c for c in request.classes if not c.treatment.priority), key=lambda c: not c.is_default)
    total = sum(requested[c.name] for c in weighted) or 1.0
    return {c.name: 100 * requested[c.name] / total for c in weighted}


def note_merged(
    request: DeviceRequest,
    found: Assignment,
    apart: frozenset[str],
    queues: int,
    notes: Notes,
    *,
    variant: str = "queues",
    direction: str | None = None,
) -> None:
    """Note that classes share ``queues``, and what that does to their shares; ``variant`` says which queues."""
    bearable = found.error <= request.tolerance + _SAME and all(apart.isdisjoint(group) for group in found.merged)
    error, kind = round(100 * found.error, 9), variant.replace("-", " ")
    notes.note(
        "classes-merged" if bearable else "queues-exceeded",
        direction=direction,
        requested=f"{sum(map(len, found.groups))} {kind}",
        applied=f"{queues} {kind}, a share may be wrong by {error:.3g} points of the link",
        variant=variant,
        groups="; ".join(" + ".join(group) for group in found.merged),
        queues=queues,
    )


def _note_control(assignment: QueueAssignment, marks: dict[str, SwitchClassMarks], notes: Notes) -> None:
    """Where those marks of network control go that no class has."""
    cos = sorted(set(CONTROL_COS) - {c for m in marks.values() for c in m.cos})
    points = sorted(set(assignment.layout.control_dscp) - {d for m in marks.values() for d in m.code_points})
    if not (cos if not assignment.layout.dscp_to_queue else cos or points):
        return
    named = [f"{what} {runs(values)}" for what, values in (("CoS", cos), ("DSCP", points)) if values]
    control, queue = ", ".join(named), assignment.control
    with_it = [name for name, number in assignment.queue_of.items() if number == queue]
    if with_it:
        notes.note(
            "network-control-queue",
            control=control,
            queue=queue,
            classes=", ".join(with_it),
        )
        return
    part = 100 * CONTROL_WEIGHT / (100 + CONTROL_WEIGHT)
    applied = f"{part:.3g} % of what priority leaves, when all queues are full"
    notes.note(
        "network-control-queue",
        applied="served before the default class" if assignment.in_order else applied,
        variant="alone",
        control=control,
        queue=queue,
    )


def runs(values: Sequence[int]) -> str:
    """Ascending numbers in words: ``48 to 63``, ``6 and 7``, ``7, 49 to 55``."""
    runs = [[v for _, v in run] for _, run in groupby(enumerate(values), key=lambda pair: pair[1] - pair[0])]
    parts = [
        str(run[0]) if len(run) == 1 else f"{run[0]} {'and' if len(run) == 2 else 'to'} {run[-1]}" for run in runs
    ]
    return ", ".join(parts)
