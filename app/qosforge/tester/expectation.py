"""Expected throughput of every stream, by the fluid model, and the bound on its delay."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from qosforge.calculus.delay_bounds import delay_bounds
from qosforge.calculus.stages import EgressLine, Meter, Passage, Stage, TrafficStream, with_acknowledgements
from qosforge.plan.fluid import FluidClass, in_proportion, policed, throughput
from qosforge.plan.model import Discipline, Scheduler
from qosforge.plan.shares import Load, Path, leaf_paths, oversize_name, path_name, scheduler_tree
from qosforge.tester.scenario.schedulers import leaf_queues, priority_bursts
from qosforge.twin.scenario import PS

ROUNDS = 40
_SETTLED = 1e-6
"""Part of a rate that no stream changes by once the rates agree with each other."""
_SEGMENTS_ANSWERED = 2
"""Segments that one acknowledgement is for, where none is lost (RFC 1122, section 4.2.3.2)."""


PolicedQueue = tuple[str, str, int]
"""A policed priority queue: node, port and the queue's number there."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What is expected of one flow: IP bits per second offered (None: all it can) and carried, and picoseconds that
    none of its packets that arrive exceeds, if the streams are all the traffic (None: no bound is known).

    It carries ``expected_bps``, or from that to ``expected_most_bps`` where a priority class offers more than its
    cap: see `throughput_ranges`.
    """

    offered_bps: int | None
    expected_bps: int
    expected_most_bps: int | None
    delay_bound_ps: int | None


def expectations(streams: Sequence[TrafficStream]) -> dict[str, Expectation]:
    """What is expected of a flow of every stream, by the stream's name."""
    carried, bounds = throughput_ranges(streams), delay_bounds(streams)
    found = {}
    for stream in streams:
        bound = bounds[stream.name]
        least, most = carried[stream.name]
        found[stream.name] = Expectation(
            None if stream.greedy else round(stream.offered),
            round(least),
            None if round(most) == round(least) else round(most),
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


def throughput_ranges(streams: Sequence[TrafficStream]) -> dict[str, tuple[float, float]]:
    """The least and the most IP bits per second that reach the destination, of one flow of each stream, by name.

    Every line and policer divides what comes in; streams of constant load carry what the stage before let through,
    greedy ones what all their stages grant them beside the others, and one acknowledgement comes back for every two
    of their packets. Rates are found by rounds until they agree. Windows and losses of TCP are not modelled: a
    greedy stream gets all that it is left.

    They are one number but where a priority class offers more than its policer lets through under congestion. The
    policer drops what arrives while the hardware is full: the class gets its cap for sure and at most what nobody
    else takes. Whom that helps or harms on later lines is found by letting each such class exceed alone, all but
    each, and all.
    """
    every, answers = with_acknowledgements(streams)
    held = _solve(every, answers, ())
    short = _short_policers(every, answers, held)
    if not short:
        return {name: (rate, rate) for name, rate in _end_to_end(streams, held).items()}
    policers = _policers(every)
    free = _solve(every, answers, policers)
    worlds = [held, free]
    if len(policers) > 1:
        for place in dict.fromkeys((*short, *_short_policers(every, answers, free))):
            worlds.append(_solve(every, answers, (place,)))
            worlds.append(_solve(every, answers, [other for other in policers if other != place]))
    found = [_end_to_end(streams, world) for world in worlds]
    return {
        stream.name: (min(each[stream.name] for each in found), max(each[stream.name] for each in found))
        for stream in streams
    }


def _end_to_end(streams: Sequence[TrafficStream], carried: Sequence[Sequence[float]]) -> dict[str, float]:
    """By stream; what acknowledgements carry comes after theirs."""
    return {
        stream.name: min(stages, default=stream.offered) / stream.count
        for stream, stages in zip(streams, carried, strict=False)
    }


def _solve(
    every: Sequence[TrafficStream], answers: Mapping[int, int], exceeding: Collection[PolicedQueue]
) -> list[list[float]]:
    """What each stage lets through, of all flows of a stream together, in IP bits per second.

    ``answers`` has the stream of data that each stream of acknowledgements is for. Only priority queues that are
    ``exceeding`` send more than their policers let through under congestion.
    """
    places = _places(every)
    carried = [[stream.offered * stream.count] * len(stream.stages) for stream in every]
    for _ in range(ROUNDS):
        before = [list(stages) for stages in carried]
        sent = _offered(every, answers, before)
        for stage, visits in places:
            demands = [_demand(every, sent, before, visit) for visit in visits]
            granted = _grant(stage, every, visits, demands, exceeding)
            for visit, part in zip(visits, granted, strict=True):
                carried[visit.stream][visit.stage] = part
        if all(
            _agree(new, old)
            for stages, earlier in zip(carried, before, strict=True)
            for new, old in zip(stages, earlier, strict=True)
        ):
            break
    return carried


def _offered(
    every: Sequence[TrafficStream], answers: Mapping[int, int], carried: Sequence[Sequence[float]]
) -> list[float]:
    """What every stream offers: of acknowledgements by what of their data arrives."""
    sent = [stream.offered * stream.count for stream in every]
    for number, data in answers.items():
        received = min(carried[data], default=0.0)
        part = every[number].ip_bytes / every[data].ip_bytes / _SEGMENTS_ANSWERED
        sent[number] = 0.0 if math.isinf(received) else received * part
    return sent


def _agree(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_SETTLED)


def _policers(streams: Sequence[TrafficStream]) -> list[PolicedQueue]:
    """The policed priority queues that streams pass."""
    passed = (stage for stream in streams for stage in stream.stages if isinstance(stage, Passage))
    return list(dict.fromkeys(_place(s) for s in passed if s.queue in priority_bursts(s.line.discipline)))


def _place(stage: Passage) -> PolicedQueue:
    return stage.line.node, stage.line.port, stage.queue


def _short_policers(
    every: Sequence[TrafficStream], answers: Mapping[int, int], carried: Sequence[Sequence[float]]
) -> list[PolicedQueue]:
    """The policed priority queues that let less through than comes to them."""
    policers = set(_policers(every))
    found: dict[PolicedQueue, None] = {}
    sent = _offered(every, answers, carried)
    for stage, visits in _places(every):
        if isinstance(stage, Meter):
            continue
        for visit in visits:
            place = (stage.line.node, stage.line.port, visit.queue)
            let_through, comes = carried[visit.stream][visit.stage], _demand(every, sent, carried, visit)
            if place in policers and let_through < comes and not _agree(let_through, comes):
                found[place] = None
    return list(found)


def _places(streams: Sequence[TrafficStream]) -> list[tuple[Stage, list[_Visit]]]:
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
    streams: Sequence[TrafficStream], sent: Sequence[float], carried: Sequence[Sequence[float]], visit: _Visit
) -> float:
    """What a stream wants of a stage, in IP bits per second."""
    stream, stages = streams[visit.stream], carried[visit.stream]
    if not stream.greedy:
        return stages[visit.stage - 1] if visit.stage else sent[visit.stream]
    return min((rate for at, rate in enumerate(stages) if at != visit.stage), default=math.inf)


def _grant(
    stage: Stage,
    streams: Sequence[TrafficStream],
    visits: Sequence[_Visit],
    demands: Sequence[float],
    exceeding: Collection[PolicedQueue],
) -> list[float]:
    granted = _divide(stage, streams, visits, demands, exceeding)
    for position, visit in enumerate(visits):
        if streams[visit.stream].greedy and not math.isinf(demands[position]):
            # What it could have here: what holds it elsewhere may hold it less in the next round.
            wishes = [*demands[:position], math.inf, *demands[position + 1 :]]
            granted[position] = _divide(stage, streams, visits, wishes, exceeding)[position]
    return granted


def _divide(
    stage: Stage,
    streams: Sequence[TrafficStream],
    visits: Sequence[_Visit],
    demands: Sequence[float],
    exceeding: Collection[PolicedQueue],
) -> list[float]:
    costs = [visit.cost for visit in visits]
    wanted = [demand * cost for demand, cost in zip(demands, costs, strict=True)]
    if isinstance(stage, Meter):
        wanted = [bits if _passes(streams, visit) else 0.0 for bits, visit in zip(wanted, visits, strict=True)]
        given = in_proportion(stage.rate, wanted)
    else:
        found = _share(stage.line, streams, visits, wanted, exceeding)
        given = [found[_name(visit)] for visit in visits]
    return [part / cost for part, cost in zip(given, costs, strict=True)]


def _passes(streams: Sequence[TrafficStream], visit: _Visit) -> bool:
    stage = _stage(streams, visit)
    return not isinstance(stage, Meter) or stage.passes


def _share(
    line: EgressLine,
    streams: Sequence[TrafficStream],
    visits: Sequence[_Visit],
    wanted: Sequence[float],
    exceeding: Collection[PolicedQueue],
) -> dict[str, float]:
    # What a port sends at most of its rate is in the line's shaper.
    scheduler = (line.scheduler or _ONE_QUEUE).model_copy(update={"limit_percent": None})
    paths = leaf_paths(scheduler) or ((0,),)
    fair = {path for path, queue in zip(paths, leaf_queues(scheduler), strict=False) if queue.fair}
    free = {number for node, port, number in exceeding if (node, port) == (line.node, line.port)}
    bursts = priority_bursts(line.discipline)
    load: dict[Path, Load] = {}
    oversize: dict[Path, tuple[FluidClass, ...]] = {}
    sizes: dict[Path, float] = {}
    inside: dict[Path, list[int]] = {}
    held: set[str] = set()
    for path, members in _by_queue(paths, visits).items():
        number = paths.index(path)
        burst, exceeds = bursts.get(number, math.inf), number in free
        if number in bursts and not exceeds:
            held |= {path_name(path), oversize_name(path)}
        conforming: list[FluidClass] = []
        apart: list[FluidClass] = []
        for i in members:
            stream = streams[visits[i].stream]
            conforms = _needed_burst(_stage(streams, visits[i]), least=exceeds) <= burst
            entry = _class(stream, visits[i], wanted[i], alike=path in fair)
            (conforming if conforms else apart).append(entry)
        load[path], oversize[path] = tuple(conforming), tuple(apart)
        sizes[path] = _mean_packet([(streams[visits[i].stream], _stage(streams, visits[i])) for i in members])
        for depth in range(len(path) + 1):
            inside.setdefault(path[:depth], []).extend(members)
    lengths = {
        path: _line_time([(_stage(streams, visits[i]), wanted[i]) for i in members])
        for path, members in inside.items()
    }
    tree = scheduler_tree(
        scheduler, line.assumed_rate, load, packet_bytes=sizes, lengths=lengths, oversize=oversize
    )
    capacity = line.rate if line.shaped is None else min(line.rate, line.shaped * lengths[()])
    return throughput(policed(replace(tree, name="line"), held), capacity)


def _needed_burst(stage: Stage, *, least: bool) -> float:
    """Frame bytes that a policer's bucket must hold for any packet of a stream to conform; for all of them unless
    the ``least`` is asked for."""
    if not isinstance(stage, Passage):
        return 0.0
    smallest, largest = stage.extremes.frames
    return float(smallest if least else largest)


def _stage(streams: Sequence[TrafficStream], visit: _Visit) -> Stage:
    return streams[visit.stream].stages[visit.stage]


def _line_time(members: Sequence[tuple[Stage, float]]) -> float:
    """Bits of line time that a frame bit of these streams takes; greedy ones ask for as much as anybody."""
    most = max((rate for _, rate in members if not math.isinf(rate)), default=1.0) or 1.0
    times = frames = 0.0
    for stage, rate in members:
        if isinstance(stage, Passage):
            requested = most if math.isinf(rate) else rate
            times += requested
            frames += requested * 8 * float(stage.usual.frame_bytes) / float(stage.usual.wire_bits)
    return times / frames if frames else 1.0


_ONE_QUEUE = Scheduler.model_validate({"discipline": Discipline.FIFO, "queues": [{"number": 0}]})


def _by_queue(paths: Sequence[Path], visits: Sequence[_Visit]) -> dict[Path, list[int]]:
    found: dict[Path, list[int]] = {}
    for position, visit in enumerate(visits):
        found.setdefault(paths[min(visit.queue, len(paths) - 1)], []).append(position)
    return found


def _class(stream: TrafficStream, visit: _Visit, wanted: float, *, alike: bool) -> FluidClass:
    """A stream in its queue: constant load as it arrives, greedy flows alike of what that leaves.

    Where flows are ``alike``, their precedence is no weight.
    """
    priority = None if stream.greedy else 1
    weight = 1 if alike else stream.weight
    return FluidClass(_name(visit), offered=wanted, weight=weight * stream.count, priority=priority)


def _name(visit: _Visit) -> str:
    return f"stream {visit.stream} stage {visit.stage}"


def _mean_packet(members: Sequence[tuple[TrafficStream, Stage]]) -> float:
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
