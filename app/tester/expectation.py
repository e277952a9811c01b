"""What is to be expected of every stream of a network: throughput by the fluid model, and the largest delay."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.plan.fluid import FluidClass, in_proportion, throughput
from app.plan.model import Discipline, Scheduler
from app.plan.shares import Load, Path, leaf_paths, scheduler_tree
from app.tester.delay_bounds import delay_bounds
from app.tester.encapsulation import PS
from app.tester.schedulers import leaves
from app.tester.stages import Line, Meter, Passage, Stage, Stream, with_acknowledgements

ROUNDS = 40
_SETTLED = 1e-6
"""Part of a rate that no stream changes by once the rates agree with each other."""
_SEGMENTS_ANSWERED = 2
"""Segments that one acknowledgement is for, where none is lost (RFC 1122, section 4.2.3.2)."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What is expected of one flow: IP bits per second offered (None: all it can) and carried, and picoseconds that
    none of its packets that arrive exceeds, if the streams are all the traffic (None: no bound is known)."""

    offered_bps: int | None
    expected_bps: int
    delay_bound_ps: int | None


def expectations(streams: Sequence[Stream]) -> dict[str, Expectation]:
    """What is expected of a flow of every stream, by the stream's name."""
    carried, bounds = expected_throughput(streams), delay_bounds(streams)
    found = {}
    for stream in streams:
        bound = bounds[stream.name]
        found[stream.name] = Expectation(
            None if stream.greedy else round(stream.offered),
            round(carried[stream.name]),
            None if bound is None else math.ceil(bound * PS),
        )
    return found


@dataclass(frozen=True, slots=True)
class _Visit:
    """A stream at one of its stages; ``cost`` is the bits that one IP bit of it takes there."""

    stream: int
    stage: int
    queue: int
    cost: float


def expected_throughput(streams: Sequence[Stream]) -> dict[str, float]:
    """IP bits per second that reach the destination, of one flow of each stream, by the stream's name.

    Every line and policer divides what comes in; streams of constant load carry what the stage before let through,
    greedy ones what all their stages grant them beside the others, and one acknowledgement comes back for every two
    of their packets. Rates are found by rounds until they agree. Windows and losses of TCP are not modelled: a
    greedy stream gets all that it is left.
    """
    every, answers = with_acknowledgements(streams)
    places = _places(every)
    # What each stage lets through, of all flows of a stream together, in IP bits per second.
    carried = [[stream.offered * stream.count] * len(stream.stages) for stream in every]
    for _ in range(ROUNDS):
        before = [list(stages) for stages in carried]
        sent = [stream.offered * stream.count for stream in every]
        for number, data in answers.items():
            received = min(before[data], default=0.0)
            part = every[number].ip_bytes / every[data].ip_bytes / _SEGMENTS_ANSWERED
            sent[number] = 0.0 if math.isinf(received) else received * part
        for stage, visits in places:
            demands = [_demand(every, sent, before, visit) for visit in visits]
            for visit, granted in zip(visits, _granted(stage, every, visits, demands), strict=True):
                carried[visit.stream][visit.stage] = granted
        if all(
            math.isclose(new, old, rel_tol=_SETTLED)
            for stages, earlier in zip(carried, before, strict=True)
            for new, old in zip(stages, earlier, strict=True)
        ):
            break
    return {
        stream.name: min(stages, default=stream.offered) / stream.count
        for stream, stages in zip(streams, carried, strict=False)
    }


def _places(streams: Sequence[Stream]) -> list[tuple[Stage, list[_Visit]]]:
    """Every line and policer with the streams that meet in it."""
    found: dict[object, tuple[Stage, list[_Visit]]] = {}
    for number, stream in enumerate(streams):
        for position, stage in enumerate(stream.stages):
            if isinstance(stage, Meter):
                key: object = stage.place
                bits, queue = 8 * stage.frame_bytes, 0
            else:
                key = (stage.line.node, stage.line.port)
                bits, queue = float(stage.usual.wire_bits), stage.queue
            visit = _Visit(number, position, queue, bits / (8 * stream.ip_bytes))
            found.setdefault(key, (stage, []))[1].append(visit)
    return list(found.values())


def _demand(
    streams: Sequence[Stream], sent: Sequence[float], carried: Sequence[Sequence[float]], visit: _Visit
) -> float:
    """What a stream wants of a stage, in IP bits per second."""
    stream, stages = streams[visit.stream], carried[visit.stream]
    if not stream.greedy:
        return stages[visit.stage - 1] if visit.stage else sent[visit.stream]
    return min((rate for at, rate in enumerate(stages) if at != visit.stage), default=math.inf)


def _granted(
    stage: Stage, streams: Sequence[Stream], visits: Sequence[_Visit], demands: Sequence[float]
) -> list[float]:
    granted = _divided(stage, streams, visits, demands)
    for position, visit in enumerate(visits):
        if streams[visit.stream].greedy and not math.isinf(demands[position]):
            # What it could have here: what holds it elsewhere may hold it less in the next round.
            wishes = [*demands[:position], math.inf, *demands[position + 1 :]]
            granted[position] = _divided(stage, streams, visits, wishes)[position]
    return granted


def _divided(
    stage: Stage, streams: Sequence[Stream], visits: Sequence[_Visit], demands: Sequence[float]
) -> list[float]:
    costs = [visit.cost for visit in visits]
    wanted = [demand * cost for demand, cost in zip(demands, costs, strict=True)]
    if isinstance(stage, Meter):
        wanted = [bits if _passes(streams, visit) else 0.0 for bits, visit in zip(wanted, visits, strict=True)]
        given = in_proportion(stage.rate, wanted)
    else:
        found = _shared(stage.line, streams, visits, wanted)
        given = [found[_name(visit)] for visit in visits]
    return [part / cost for part, cost in zip(given, costs, strict=True)]


def _passes(streams: Sequence[Stream], visit: _Visit) -> bool:
    stage = _stage(streams, visit)
    return not isinstance(stage, Meter) or stage.passes


def _shared(
    line: Line, streams: Sequence[Stream], visits: Sequence[_Visit], wanted: Sequence[float]
) -> dict[str, float]:
    # What a port sends at most of its rate is in the line's shaper.
    scheduler = (line.scheduler or _ONE_QUEUE).model_copy(update={"limit_percent": None})
    paths = leaf_paths(scheduler) or ((0,),)
    fair = {path for path, queue in zip(paths, leaves(scheduler), strict=False) if queue.fair}
    load: dict[Path, Load] = {}
    sizes: dict[Path, float] = {}
    inside: dict[Path, list[int]] = {}
    for path, members in _by_queue(paths, visits).items():
        load[path] = tuple(
            _class(streams[visits[i].stream], visits[i], wanted[i], alike=path in fair) for i in members
        )
        sizes[path] = _mean_packet([(streams[visits[i].stream], _stage(streams, visits[i])) for i in members])
        for depth in range(len(path) + 1):
            inside.setdefault(path[:depth], []).extend(members)
    lengths = {
        path: _line_time([(_stage(streams, visits[i]), wanted[i]) for i in members])
        for path, members in inside.items()
    }
    tree = scheduler_tree(scheduler, line.believed, load, packet_bytes=sizes, lengths=lengths)
    capacity = line.rate if line.shaped is None else min(line.rate, line.shaped * lengths[()])
    return throughput(replace(tree, name="line"), capacity)


def _stage(streams: Sequence[Stream], visit: _Visit) -> Stage:
    return streams[visit.stream].stages[visit.stage]


def _line_time(members: Sequence[tuple[Stage, float]]) -> float:
    """Bits of line time that a frame bit of these streams takes; greedy ones ask for as much as anybody."""
    most = max((rate for _, rate in members if not math.isinf(rate)), default=1.0) or 1.0
    times = frames = 0.0
    for stage, rate in members:
        if isinstance(stage, Passage):
            asked = most if math.isinf(rate) else rate
            times += asked
            frames += asked * 8 * float(stage.usual.frame_bytes) / float(stage.usual.wire_bits)
    return times / frames if frames else 1.0


_ONE_QUEUE = Scheduler.model_validate({"discipline": Discipline.FIFO, "queues": [{"number": 0}]})


def _by_queue(paths: Sequence[Path], visits: Sequence[_Visit]) -> dict[Path, list[int]]:
    found: dict[Path, list[int]] = {}
    for position, visit in enumerate(visits):
        found.setdefault(paths[min(visit.queue, len(paths) - 1)], []).append(position)
    return found


def _class(stream: Stream, visit: _Visit, wanted: float, *, alike: bool) -> FluidClass:
    """A stream in its queue: constant load as it arrives, greedy flows alike of what that leaves.

    Where flows are ``alike``, their precedence is no weight.
    """
    priority = None if stream.greedy else 1
    weight = 1 if alike else stream.weight
    return FluidClass(_name(visit), offered=wanted, weight=weight * stream.count, priority=priority)


def _name(visit: _Visit) -> str:
    return f"stream {visit.stream} stage {visit.stage}"


def _mean_packet(members: Sequence[tuple[Stream, Stage]]) -> float:
    """Mean frame bytes of what waits in a queue; a greedy stream counts as much as the largest load of the
    others.
    """
    known = [stream.offered * stream.count / stream.ip_bytes for stream, _ in members if not stream.greedy]
    most = max(known, default=1.0) or 1.0
    packets = frames = 0.0
    for stream, stage in members:
        rate = most if stream.greedy else stream.offered * stream.count / stream.ip_bytes
        if isinstance(stage, Passage):
            packets += rate * len(stage.usual.parts)
            frames += rate * float(stage.usual.frame_bytes)
    return frames / packets if packets else 1.0
