"""Classes onto the queues of a port: priority alone in its queue, weights with the smallest largest error."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.findings import Severity
from app.intent.models import RESERVED_CLASS
from app.plan.asked import asked_shares
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


_SAME = 1e-9
"""Shares that differ by less are alike."""


@dataclass(frozen=True)
class Layout:
    """Queues that a box offers: the one that may be served first, and all of them in the order to fill."""

    expedite: int
    weighted: tuple[int, ...]
    in_order: bool = False
    """Whether the box can serve all queues in the order of their numbers, the highest first."""


@dataclass(frozen=True)
class Assignment:
    """Which queue serves which class; ``control`` serves network control, ``first`` is the expedite one in use."""

    layout: Layout
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
            asked = _ideal_weights(request, rate)
            parts = [sum(asked[name] for name in self.groups[number]) for number in weighted]
            if self.control not in self.groups:
                parts.append(sum(parts) * CONTROL_WEIGHT / 100)
            targets.append(parts)
        numbers = [*weighted, *([] if self.control in self.groups else [self.control])]
        found = dict(zip(numbers, whole_weights(targets), strict=True)) if numbers else {}
        return tuple(found.get(number, 1) for number in range(1, len(self.layout.weighted) + 1))

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


def scheduled_rates(request: DeviceRequest) -> tuple[int, ...]:
    """The different rates (b/s) of the ports that are scheduled, the lowest first."""
    return tuple(sorted({i.usable for i in request.interfaces if i.schedule}))


def assign(request: DeviceRequest, layout: Layout, notes: Notes, apart: frozenset[str] = frozenset()) -> Assignment:
    """Queues for the classes of a request; classes in ``apart`` share theirs with no other. What cannot be had is
    noted."""
    first = [c for c in request.classes if c.treatment.priority]
    if layout.in_order and 1 < len(first) == len(request.classes) - 1 < len(layout.weighted):
        return _in_order(request, layout, notes)
    names = list(_ideal_weights(request, scheduled_rates(request)[0]))
    free = [n for n in layout.weighted if not (first and n == layout.expedite)]
    groups = _groups(request, names, len(free), apart, notes)
    queue_of = {c.name: layout.expedite for c in first}
    for number, group in zip(free, groups, strict=False):
        queue_of.update(dict.fromkeys(group, number))
    by_queue = dict(zip(free, map(tuple, groups), strict=False))
    if len(groups) < len(free):
        control = free[len(groups)]
    else:
        ideal = _ideal_weights(request, scheduled_rates(request)[0])
        weight = {n: sum(ideal[name] for name in group) for n, group in by_queue.items()}
        control = max(
            by_queue, key=lambda n: (_DEFAULT not in by_queue[n], apart.isdisjoint(by_queue[n]), weight[n])
        )
    assignment = Assignment(layout, queue_of, by_queue, control, layout.expedite if first else None)
    _note_control(assignment, notes)
    return assignment


def _in_order(request: DeviceRequest, layout: Layout, notes: Notes) -> Assignment:
    """Every class in a queue of its own, the first in the highest; network control goes with no class if it can."""
    highest = sorted(layout.weighted, reverse=True)
    queue_of = {c.name: number for c, number in zip(request.classes[:-1], highest, strict=False)}
    queue_of[_DEFAULT] = layout.weighted[0]
    free = [n for n in highest if n not in queue_of.values()]
    control = free[0] if free else highest[0]
    assignment = Assignment(layout, queue_of, {}, control, layout.expedite, in_order=True)
    _note_control(assignment, notes)
    return assignment


def _ideal_weights(request: DeviceRequest, rate: int) -> dict[str, float]:
    """Weights of the classes without priority as asked on a port of this rate, in per cent, the default class
    first."""
    asked = asked_shares(request.classes, rate)
    weighted = sorted((c for c in request.classes if not c.treatment.priority), key=lambda c: not c.is_default)
    total = sum(asked[c.name] for c in weighted) or 1.0
    return {c.name: 100 * asked[c.name] / total for c in weighted}


def _groups(
    request: DeviceRequest, names: list[str], queues: int, apart: frozenset[str], notes: Notes
) -> list[list[str]]:
    """Classes by queue: one each if there are enough, else merged so that the largest share error is smallest."""
    if len(names) <= queues:
        return [[name] for name in names]
    asked = [asked_shares(request.classes, rate) for rate in scheduled_rates(request)]

    def mixed(groups: list[list[str]]) -> int:
        return sum(len(g) > 1 and not set(g).isdisjoint(apart) for g in groups)

    def largest_error(groups: list[list[str]]) -> float:
        return max(100 * (sum(at[n] for n in g) - at[name]) for at in asked for g in groups for name in g)

    if len(names) > MOST_CLASSES:
        best = [names[:1], *([n] for n in names[1 : queues - 1]), names[queues - 1 :]]
    else:
        best = min(partitions(names, queues), key=lambda groups: (mixed(groups), largest_error(groups)))
    error = largest_error(best)
    bearable = error <= 100 * request.tolerance and not mixed(best)
    notes.add(
        Severity.WARNING if bearable else Severity.ERROR,
        "classes-merged" if bearable else "queues-exceeded",
        "classes share a queue: " + "; ".join(" + ".join(g) for g in best if len(g) > 1),
        asked=f"{len(names)} queues",
        will_be=f"{queues} queues, a share may be wrong by {error:.3g} points of the link",
        mend=f"ask for {queues} classes without priority at most",
    )
    return best


def partitions(names: Sequence[str], most: int) -> Iterator[list[list[str]]]:
    """Every way to put names into at most ``most`` groups."""
    if not names:
        yield []
        return
    for groups in partitions(names[:-1], most):
        for position in range(len(groups)):
            yield [[*g, names[-1]] if i == position else list(g) for i, g in enumerate(groups)]
        if len(groups) < most:
            yield [*groups, [names[-1]]]


def whole_weights(targets: Sequence[Sequence[float]]) -> list[int]:
    """Whole weights from 1 to 255 with the smallest largest error of a share, over all targets; the smallest such.

    Every target holds what is wanted of each queue on some ports, in any unit. The optimum is exact for one target
    whose parts are all above a 255th.
    """
    parts = []
    for wanted in targets:
        total = sum(wanted)
        parts.append(tuple(round(w / total, 12) for w in wanted) if total else (1 / len(wanted),) * len(wanted))
    return list(_nearest(tuple(dict.fromkeys(parts))))


@lru_cache(maxsize=4096)
def _nearest(parts: tuple[tuple[float, ...], ...]) -> tuple[int, ...]:
    middle = _middle(parts)
    best, least = tuple(1 for _ in middle), float("inf")
    for total in range(len(middle), HIGHEST_WEIGHT * len(middle) + 1):
        weights = divided(middle, total)
        if max(weights) > HIGHEST_WEIGHT:
            break
        size = sum(weights)
        error = max(abs(w / size - p) for part in parts for w, p in zip(weights, part, strict=True))
        if error < least - _SAME:
            best, least = weights, error
        if least < _SAME:
            break
    return best


def divided(parts: Sequence[float], total: int) -> tuple[int, ...]:
    """A total in whole parts, at least 1 each: what is left goes to the largest remainders."""
    weights = [max(int(p * total), 1) for p in parts]
    by_remainder = sorted(range(len(parts)), key=lambda i: (weights[i] - parts[i] * total, i))
    for i in by_remainder[: max(total - sum(weights), 0)]:
        weights[i] += 1
    return tuple(weights)


def _middle(parts: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """The shares whose largest distance to any of the targets is smallest."""
    if len(parts) == 1:
        return tuple(parts[0])
    columns = list(zip(*parts, strict=True))

    def bounds(distance: float) -> list[tuple[float, float]]:
        return [(max(max(c) - distance, 0.0), min(c) + distance) for c in columns]

    low, high = 0.0, 1.0
    for _ in range(50):
        distance = (low + high) / 2
        held = bounds(distance)
        fits = all(a <= b for a, b in held) and sum(a for a, _ in held) <= 1 <= sum(b for _, b in held)
        low, high = (low, distance) if fits else (distance, high)
    held = bounds(high)
    room = sum(b - a for a, b in held)
    part = (1 - sum(a for a, _ in held)) / room if room else 0.0
    return tuple(a + part * (b - a) for a, b in held)


def _note_control(assignment: Assignment, notes: Notes) -> None:
    queue = assignment.control
    with_it = [name for name, number in assignment.queue_of.items() if number == queue]
    if with_it:
        message = f"network control (CoS 6 and 7, DSCP 48 to 63) shares queue {queue} with {', '.join(with_it)}"
        notes.add(Severity.INFO, "network-control-queue", message)
        return
    part = 100 * CONTROL_WEIGHT / (100 + CONTROL_WEIGHT)
    will_be = f"{part:.3g} % of what priority leaves, when all queues are full"
    notes.add(
        Severity.INFO,
        "network-control-queue",
        f"network control (CoS 6 and 7, DSCP 48 to 63) has queue {queue} to itself",
        will_be="served before the default class" if assignment.in_order else will_be,
    )
