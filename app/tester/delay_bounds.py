"""The largest delay that a packet of a stream can have and still arrive, by network calculus, line after line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from app.plan.bounds import (
    NOTHING,
    RateLatency,
    TokenBucket,
    deficit_round_robin,
    delay_bound,
    full_queue_delay,
    held_back,
    policed,
    strict_priority,
    weighted_fair,
    weighted_round_robin,
)
from app.tester.streams import PS, Line, Meter, Passage, Stream

Json = dict[str, Any]

_ROUNDS = 12
"""More than any path has lines: every round carries bounds one line further."""
_TURN_BYTES = 1600
"""Bytes that the twin lets the heaviest queue of a round robin by bytes send in a turn."""


@dataclass(frozen=True, slots=True)
class _Traffic:
    """What comes into one queue, in bits of line time: its arrival curve where there is one, its packets' sizes.

    ``ratio`` is the line time of a bit that shares and policers count.
    """

    arrivals: TokenBucket | None
    largest: Fraction
    smallest: Fraction
    ratio: Fraction


def delay_bounds(streams: Sequence[Stream]) -> dict[str, Fraction | None]:
    """Largest delay of every stream's packets in seconds, by its name; None where no bound is known.

    Steady and policed streams are bounded by what they send, and every queue whose class has a guarantee by what it
    holds when it is full; the lesser counts. Flow-based fair queueing, shaped lines and link-sharing trees bound
    nobody, nor does a priority queue that takes whatever comes those behind it.
    """
    # What a stream sends into each of its stages, in IP bits, and how long it stays at most in each line.
    curves: list[list[TokenBucket | None]] = [[_source(stream), *[None] * len(stream.stages)] for stream in streams]
    delays: list[list[Fraction | None]] = [[None] * len(stream.stages) for stream in streams]
    for _ in range(_ROUNDS):
        before = [list(stages) for stages in curves]
        arriving = _arriving(streams, before)
        for number, stream in enumerate(streams):
            for at, stage in enumerate(stream.stages):
                entering = before[number][at]
                if isinstance(stage, Meter):
                    curves[number][at + 1] = _metered(stage, stream, entering)
                    delays[number][at] = Fraction(0)
                    continue
                delay = _delay(stage.line, stage.queue, arriving[stage.line.node, stage.line.port])
                delays[number][at] = delay
                # What leaves in any time came in that time or the delay before it.
                curves[number][at + 1] = (
                    _within(entering, delay + _jitter(stage.line))
                    if entering is not None and delay is not None
                    else None
                )
        if curves == before:
            break
    return {stream.name: _total(stream, found) for stream, found in zip(streams, delays, strict=True)}


def _total(stream: Stream, delays: Sequence[Fraction | None]) -> Fraction | None:
    lines = [stage.line for stage in stream.stages if not isinstance(stage, Meter)]
    fixed = sum(line.delay_ps for line in lines) + sum(line.latency_ps + line.jitter_ps for line in lines[1:])
    known = [delay for delay in delays if delay is not None]
    return sum(known, Fraction(fixed, PS)) if len(known) == len(delays) else None


def _source(stream: Stream) -> TokenBucket | None:
    """Packets in equal distances of whole picoseconds; any number of flows may begin together."""
    if not stream.steady:
        return None
    bits = 8 * stream.ip_bytes
    period = int(bits * PS / stream.offered)
    return TokenBucket.of(bits, Fraction(bits * PS, max(period - 1, 1)))


def _within(entering: TokenBucket, delay: Fraction) -> TokenBucket:
    """What leaves after a delay of up to so many seconds."""
    return TokenBucket(entering.burst + entering.rate * delay, entering.rate)


def _jitter(line: Line) -> Fraction:
    """The longest random time before a line's queue, seconds."""
    return Fraction(line.jitter_ps, PS)


def _metered(meter: Meter, stream: Stream, entering: TokenBucket | None) -> TokenBucket:
    """IP bits are never more than the frame bits that a policer counts."""
    limit = TokenBucket.of(8 * meter.burst, meter.rate)
    return limit if entering is None or entering.rate * stream.count > meter.rate else entering


def _arriving(
    streams: Sequence[Stream], curves: Sequence[Sequence[TokenBucket | None]]
) -> dict[tuple[str, str], dict[int, _Traffic]]:
    """What comes into every queue of every line."""
    found: dict[tuple[str, str], dict[int, _Traffic]] = {}
    for stream, entering in zip(streams, curves, strict=True):
        for stage, curve in zip(stream.stages, entering, strict=False):
            if isinstance(stage, Meter):
                continue
            line = stage.line
            queues = found.setdefault((line.node, line.port), {})
            own = _traffic(stage, stream, None if curve is None else _within(curve, _jitter(line)))
            met = queues.get(stage.queue)
            queues[stage.queue] = own if met is None else _together(met, own)
    return found


def _traffic(passage: Passage, stream: Stream, curve: TokenBucket | None) -> _Traffic:
    largest, smallest = Fraction(passage.largest.wire_bits), Fraction(passage.smallest.wire_bits)
    cost = smallest / (8 * passage.smallest.ip_bytes)
    arrivals = None
    if curve is not None:
        arrivals = TokenBucket(curve.burst * cost * stream.count, curve.rate * cost * stream.count)
    return _Traffic(arrivals, largest, smallest, smallest / (8 * Fraction(passage.smallest.frame_bytes)))


def _together(one: _Traffic, other: _Traffic) -> _Traffic:
    arrivals = one.arrivals + other.arrivals if one.arrivals is not None and other.arrivals is not None else None
    largest, smallest = max(one.largest, other.largest), min(one.smallest, other.smallest)
    return _Traffic(arrivals, largest, smallest, max(one.ratio, other.ratio))


def _delay(line: Line, queue: int, queues: Mapping[int, _Traffic]) -> Fraction | None:
    """Largest stay in a queue, its own transmission included."""
    smallest = min(traffic.smallest for traffic in queues.values())
    # The twin rounds the time of every frame up to whole picoseconds.
    whole = RateLatency.of(smallest / (smallest / line.rate + Fraction(1, PS)))
    served = _service(line, queue, queues, whole)
    if served is None:
        return None
    service, arrivals = served
    bounds = [delay_bound(arrivals, service)] if arrivals is not None else []
    limit = line.limits[queue] if queue < len(line.limits) else None
    if limit is not None:
        held = (limit + line.ring) * queues[queue].largest
        bounds.append(full_queue_delay(held, service))
    return min((bound for bound in bounds if bound is not None), default=None)


def _service(
    line: Line, queue: int, queues: Mapping[int, _Traffic], whole: RateLatency
) -> tuple[RateLatency, TokenBucket | None] | None:
    """The service curve that bounds a queue, and the arrivals that it holds for."""
    if not _has_curves(line):
        return None
    first = _first(line, queues)
    kind = line.discipline["kind"]
    if kind == "fifo":
        return whole, queues[queue].arrivals
    ahead: TokenBucket | None = NOTHING
    for members, arrivals in first:
        if queue in members:
            below = [t.largest for n, t in queues.items() if n not in members or line.ring > 1]
            service = _behind(
                held_back(whole, (line.ring - 1) * max(below, default=0)), ahead, max(below, default=0)
            )
            return None if service is None else (service, arrivals)
        ahead = ahead + arrivals if ahead is not None and arrivals is not None else None
    apart = {number for members, _ in first for number in members}
    largest = max(traffic.largest for traffic in queues.values())
    rest = _behind(held_back(whole, (line.ring - 1) * largest), ahead, 0)
    service = None if rest is None else _weighted(line, queue, queues, rest, apart)
    return None if service is None else (service, queues[queue].arrivals)


def _has_curves(line: Line) -> bool:
    """Whether the line and its scheduler are without what no curve here is for."""
    discipline = line.discipline
    shared_level = any(not isinstance(level, int) for level in discipline.get("order", ()))
    return line.plain and not (shared_level or discipline.get("leak") or discipline.get("shapes"))


def _behind(service: RateLatency, ahead: TokenBucket | None, below: Fraction | int) -> RateLatency | None:
    return None if ahead is None else strict_priority(service, ahead, below)


def _first(line: Line, queues: Mapping[int, _Traffic]) -> list[tuple[set[int], TokenBucket | None]]:
    """Queues served before others, first served first: those that share a place, and what comes into them."""
    discipline = line.discipline
    if discipline["kind"] == "cbwfq":
        levels: dict[int, list[Json]] = {}
        for entry in discipline["priority"]:
            if entry["queue"] in queues:
                levels.setdefault(entry.get("level", 1), []).append(entry)
        return [
            ({e["queue"] for e in entries}, _admitted(line, entries, queues))
            for _, entries in sorted(levels.items())
        ]
    order = {
        "strict": discipline.get("order", ()),
        "strict_wrr": discipline.get("strict", ()),
        "srr": [discipline["strict"]] if discipline.get("strict") is not None else [],
    }.get(discipline["kind"], [])
    return [({n}, queues[n].arrivals) for n in order if n in queues]


def _admitted(line: Line, entries: Sequence[Json], queues: Mapping[int, _Traffic]) -> TokenBucket | None:
    """What the priority classes of one level come to behind their policers."""
    total = NOTHING
    for entry in entries:
        traffic = queues[entry["queue"]]
        limit = policed(
            8 * entry["burst_bytes"] * traffic.ratio, entry["rate_bps"] * traffic.ratio, traffic.largest, line.ring
        )
        own = traffic.arrivals
        total += limit if own is None or own.rate > limit.rate or own.burst > limit.burst else own
    return total


def _weighted(
    line: Line, queue: int, queues: Mapping[int, _Traffic], rest: RateLatency, apart: set[int]
) -> RateLatency | None:
    """The part of a queue of what those served first leave; None where no curve is known."""
    discipline = line.discipline
    members = [number for number in queues if number not in apart]
    at = members.index(queue)
    packets = [queues[number].largest for number in members]
    by_turn = discipline.get("quantum_bytes")
    weights = [
        _weight(by_turn if discipline["kind"] == "drr" else discipline.get("weights"), number) for number in members
    ]
    if any(weight <= 0 for weight in weights):
        return None
    # Weights are of frame bytes: others may take more line time for each than this queue.
    scaled = [
        weight if number == queue else weight * queues[number].ratio
        for weight, number in zip(weights, members, strict=True)
    ]
    match discipline["kind"]:
        case "cbwfq":
            return weighted_fair(rest, scaled, packets, at)
        case "drr":
            return deficit_round_robin(rest, [8 * quantum for quantum in scaled], packets, at)
        case "wrr" if by_turn and discipline.get("counting") == "rounded_up":
            return None
        case "wrr" if by_turn:
            return deficit_round_robin(rest, [8 * by_turn * weight for weight in scaled], packets, at)
        case "wrr":
            return weighted_round_robin(rest, weights, packets, queues[queue].smallest, at)
        case "strict_wrr" if discipline["mode"] == "packets":
            return weighted_round_robin(rest, weights, packets, queues[queue].smallest, at)
        case "strict_wrr" | "srr" if not discipline.get("shape"):
            every = discipline["weights"]
            numbers = every if isinstance(every, dict) else range(len(every))
            heaviest = max(_weight(every, int(number)) for number in numbers)
            return deficit_round_robin(rest, [8 * _TURN_BYTES * w / heaviest for w in scaled], packets, at)
    return None


def _weight(weights: Mapping[str, int] | Sequence[int | None] | None, number: int) -> Fraction:
    if weights is None:
        return Fraction(0)
    found = weights.get(str(number)) if isinstance(weights, Mapping) else weights[number]
    return Fraction(found or 0)
