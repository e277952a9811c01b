"""Assign classes to the queues of a port: two priority levels, and the weighted queues beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qosforge.memoise import memoise_by_value
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.plan.requested import requested_shares
from qosforge.platforms.catalyst_9000.capabilities import CAPABILITIES
from qosforge.platforms.catalyst_9000.marks import ClassMarks
from qosforge.platforms.ios_switch.notes import Notes
from qosforge.platforms.ios_switch.queues import note_merged, scheduled_rates
from qosforge.queue_assignment.shape import ERROR, MERGED, MISPLACED, Demand, QueueShape, error_above
from qosforge.queue_assignment.solver import assign_queues


@dataclass(frozen=True)
class QueueGroup:
    """The classes of one queue; ``level`` is that of a priority queue."""

    classes: tuple[ClassRequest, ...]
    level: int | None = None

    @property
    def is_default(self) -> bool:
        """Whether it serves what no class takes."""
        return any(c.is_default for c in self.classes)


@memoise_by_value(64)
def _shape(tolerance: float) -> QueueShape:
    """The queues of a port: within the tolerance, classes beside another kind matter more than the error."""
    return QueueShape(
        weighted=tuple(range(1, CAPABILITIES.queues.value + 1)),
        strict=tuple(range(1, CAPABILITIES.queues.priority_levels + 1)),
        preference=(error_above(tolerance), MISPLACED, MERGED, ERROR),
    )


def group_classes(request: DeviceRequest, marks: Mapping[str, ClassMarks], notes: Notes) -> tuple[QueueGroup, ...]:
    """The queues of every scheduled port: priority levels first, that of everything else last."""
    found = assign_queues(_shape(request.tolerance), _demands(request, marks))
    by_queue: dict[int, list[ClassRequest]] = {}
    for c in request.classes:
        by_queue.setdefault(found.queue_of[c.name], []).append(c)
    groups = []
    for number, entries in by_queue.items():
        level = number if entries[0].treatment.priority else None
        groups.append(QueueGroup(tuple(entries), level))
        if level and len(entries) > 1:
            _note_level(request, entries, notes)
    if found.merged:
        apart = frozenset(c.name for c in request.classes if _is_apart(c))
        note_merged(request, found, apart, len(found.groups), notes, variant="weighted-queues", direction="output")
    return tuple(sorted(groups, key=lambda group: (group.level is None, group.is_default)))


def _note_level(request: DeviceRequest, entries: Sequence[ClassRequest], notes: Notes) -> None:
    """That classes share a priority level."""
    uncapped = [c.name for c in entries if c.treatment.priority and not c.treatment.priority.capped]
    notes.note(
        "queues-exceeded" if uncapped else "classes-merged",
        direction="output",
        requested=f"{sum(c.treatment.priority is not None for c in request.classes)} priority levels",
        applied=f"{CAPABILITIES.queues.priority_levels} priority levels"
        + (f"; {', '.join(uncapped)} may take the cap of the others" if uncapped else ", one cap for both"),
        variant="priority-levels",
        groups=" + ".join(c.name for c in entries),
    )


def _demands(request: DeviceRequest, marks: Mapping[str, ClassMarks]) -> tuple[Demand, ...]:
    """What the classes demand, at each rate at which that differs."""
    weighted = [c for c in request.classes if not c.treatment.priority]
    at_rates = [requested_shares(request.classes, rate) for rate in scheduled_rates(request)]
    shares = zip(*sorted({tuple(at[c.name] for c in weighted) for at in at_rates}), strict=True)
    return (
        *(Demand(c.name, priority=True) for c in request.classes if c.treatment.priority),
        *(
            Demand(c.name, parts, alone=_is_apart(c), kinds=_kinds(marks[c.name]))
            for c, parts in zip(weighted, shares, strict=True)
        ),
    )


def _kinds(marks: ClassMarks) -> frozenset[str]:
    """The kinds that a class may be of."""
    table = {kind: listed.dscp for kind, listed in CAPABILITIES.kinds.items()}
    points = frozenset(marks.points)
    if points and points <= table["scavenger"]:
        return frozenset({"scavenger"})
    if points and points <= table["signalling"]:
        return frozenset({"control", "data"})
    if points and points <= table["control"] | table["signalling"]:
        return frozenset({"control"})
    return frozenset({"data"})


def _is_apart(entry: ClassRequest) -> bool:
    """Whether what is asked of a class would hold for the others of its queue too."""
    return bool(entry.treatment.shape or entry.treatment.bounded)
