"""Service curves of strict priority queues, and of what they leave to others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from qosforge.calculus.bounds import (
    NOTHING,
    RateLatency,
    TokenBucket,
    departures,
    held_back,
    leaking_priority,
    policed,
    strict_priority,
    weighted_round_robin,
)
from qosforge.calculus.line_traffic import QueueTraffic
from qosforge.calculus.queue_curves import Curves, leaves_bucket
from qosforge.calculus.stages import EgressLine
from qosforge.twin.schedulers import (
    CbwfqScheduler,
    DrrScheduler,
    LeakSpec,
    LevelSpec,
    PrioritySpec,
    SchedulerSpec,
    ShapeSpec,
    SrrScheduler,
    StrictScheduler,
    StrictWrrScheduler,
    queue_shapes,
)


@dataclass(frozen=True, slots=True)
class PriorityLevel:
    """Queues of one place in a strict order: by arrival, or by ``turns`` in packets.

    ``arrivals`` is what comes into them, behind policers, None if nothing bounds it; ``leaving`` what those send
    that have a shaper, whose arrivals do not count.
    """

    members: frozenset[int]
    arrivals: TokenBucket | None
    leaving: TokenBucket = NOTHING
    turns: Mapping[int, int] | None = None
    leak: LeakSpec | None = None


def first_served(line: EgressLine, queues: Mapping[int, QueueTraffic]) -> list[PriorityLevel]:
    """Levels of queues that are served before the others, first served first.

    Of a strict order with leaks those from the first that leaks on have no strict place: only that one is given.
    """
    discipline = line.discipline
    if isinstance(discipline, CbwfqScheduler):
        levels: dict[int, list[PrioritySpec]] = {}
        for entry in discipline.priority:
            if entry.queue in queues:
                levels.setdefault(entry.level, []).append(entry)
        return [_level(line, {e.queue: e for e in entries}, queues) for _, entries in sorted(levels.items())]
    order = _order(discipline)
    found = []
    for place, described in enumerate(order):
        present = {n: weight for n, weight in _turns(described).items() if n in queues and weight}
        leak = _leak(discipline, place) if place + 1 < len(order) else None
        if present:
            found.append(_level(line, dict.fromkeys(present), queues, present if len(present) > 1 else None, leak))
            if leak:
                break
    return found


def _order(discipline: SchedulerSpec) -> Sequence[LevelSpec]:
    match discipline:
        case StrictScheduler():
            return discipline.order
        case StrictWrrScheduler() | DrrScheduler():
            return discipline.strict
        case SrrScheduler():
            return () if discipline.strict is None else (discipline.strict,)
    return ()


def _turns(level: LevelSpec) -> dict[int, int]:
    if isinstance(level, int):
        return {level: 1}
    return level if isinstance(level, dict) else {number: turns or 0 for number, turns in enumerate(level)}


def _leak(discipline: SchedulerSpec, place: int) -> LeakSpec | None:
    leaks = discipline.leak if isinstance(discipline, StrictScheduler) else None
    if isinstance(leaks, tuple):
        return leaks[place] if leaks else None
    return leaks


def _level(
    line: EgressLine,
    members: Mapping[int, PrioritySpec | None],
    queues: Mapping[int, QueueTraffic],
    turns: Mapping[int, int] | None = None,
    leak: LeakSpec | None = None,
) -> PriorityLevel:
    shapes = queue_shapes(line.discipline)
    arrivals: TokenBucket | None = NOTHING
    leaving = NOTHING
    for number, police in members.items():
        traffic = queues[number]
        shape = shapes.get(number)
        if shape is not None:
            leaving += leaves_bucket(shape.rate_bps, shape.burst_bytes, traffic)
            continue
        own = traffic.arrivals if police is None else admitted(police, traffic, line)
        arrivals = None if arrivals is None or own is None else arrivals + own
    return PriorityLevel(frozenset(members), arrivals, leaving, turns, leak)


def admitted(police: PrioritySpec | ShapeSpec, traffic: QueueTraffic, line: EgressLine) -> TokenBucket:
    """What a priority class comes to behind its policer, which sees what finds the hardware full or held."""
    unmetered = line.ring + (line.shaped is not None)
    limit = policed(
        8 * police.burst_bytes * traffic.ratio, police.rate_bps * traffic.ratio, traffic.largest, unmetered
    )
    own = traffic.arrivals
    return limit if own is None or own.rate > limit.rate or own.burst > limit.burst else own


def behind_first(
    line: EgressLine,
    queue: int,
    queues: Mapping[int, QueueTraffic],
    first: Sequence[PriorityLevel],
    whole: RateLatency,
) -> Curves | None:
    """The curves of a queue that is itself one of those served first."""
    at = next(place for place, level in enumerate(first) if queue in level.members)
    level, before = first[at], first[:at]
    upper = frozenset[int]().union(*(each.members for each in before))
    below = [t.largest for n, t in queues.items() if n not in upper | level.members or line.ring > 1]
    largest = max(traffic.largest for traffic in queues.values())
    waiting = held_back(whole, (line.ring - 1) * max(below, default=Fraction(0)))
    strict = rest_of(line, queues, before, held_back(waiting, max(below, default=0)))
    if strict is None:
        return None
    own = level.arrivals
    if queue in queue_shapes(line.discipline):
        # Whoever shares its place may go first, whatever the order in it.
        own = queues[queue].arrivals
        if len(level.members) > 1:
            return None
    in_order = strict
    if not queue_shapes(line.discipline) and queue not in line.fair:
        ahead = _sum([each.arrivals for each in before])
        tight = None if ahead is None else strict_priority(waiting, ahead, max(below, default=0))
        in_order = strict if tight is None else tight
    if level.leak:
        leaked = [t.largest for n, t in queues.items() if n not in upper | level.members]
        if leaked:
            strict = leaking_priority(
                strict, level.leak.packets, level.leak.out_of, _smallest(level, queues), max(leaked)
            )
            in_order = strict
    if level.turns:
        members = sorted(level.members)
        turns = [level.turns[n] for n in members]
        packets = [queues[n].largest for n in members]
        own = queues[queue].arrivals
        strict = in_order = weighted_round_robin(
            held_back(strict, largest), turns, packets, queues[queue].smallest, members.index(queue)
        )
    elif len(level.members) > 1 and queue in line.fair:
        return None
    shared = frozenset() if level.turns else level.members
    return Curves(in_order, strict, own, shared)


def _smallest(level: PriorityLevel, queues: Mapping[int, QueueTraffic]) -> Fraction:
    return min(queues[number].smallest for number in level.members)


def _sum(curves: Sequence[TokenBucket | None]) -> TokenBucket | None:
    total = NOTHING
    for curve in curves:
        if curve is None:
            return None
        total += curve
    return total


def rest_of(
    line: EgressLine, queues: Mapping[int, QueueTraffic], first: Sequence[PriorityLevel], service: RateLatency
) -> RateLatency | None:
    """What those served first leave while something after them waits; None where that may be nothing.

    They begin such a time with what waited of them already: their departures bound it, not their arrivals
    (Bouillard, Boyer and Le Corronc 2018, chapter 7).
    """
    if not first:
        return service
    if any(level.leak for level in first):
        return None
    arrivals = _sum([level.arrivals for level in first])
    leaving = sum((level.leaving for level in first), NOTHING)
    largest = max(traffic.largest for traffic in queues.values())
    left = strict_priority(service, leaving, largest)
    sent = None if left is None or arrivals is None else departures(arrivals, left)
    if sent is None:
        return None
    blocking = largest if leaving.burst else 0
    return strict_priority(service, sent + leaving, blocking)
