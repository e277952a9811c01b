"""The largest delay that a packet of a stream can have and still arrive, by network calculus, line after line."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from app.plan.bounds import TokenBucket
from app.tester.line_delay import largest_delay
from app.tester.line_traffic import Traffic, offered, together
from app.tester.streams import PS, Line, Meter, Stream

_ROUNDS = 12
"""More than any path has lines: every round carries bounds one line further."""


def delay_bounds(streams: Sequence[Stream]) -> dict[str, Fraction | None]:
    """Largest delay of every stream's packets in seconds, by its name; None where no bound is known.

    Steady and policed streams are bounded by what they send, and every queue in order of arrival whose class has a
    guarantee by what it holds when it is full; the lesser counts. Class-based queuing bounds nobody, nor does a
    priority queue that takes whatever comes those behind it.
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
                delay = largest_delay(stage.line, stage.queue, arriving[stage.line.node, stage.line.port])
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
) -> dict[tuple[str, str], dict[int, Traffic]]:
    """What comes into every queue of every line."""
    found: dict[tuple[str, str], dict[int, Traffic]] = {}
    for stream, entering in zip(streams, curves, strict=True):
        for stage, curve in zip(stream.stages, entering, strict=False):
            if isinstance(stage, Meter):
                continue
            line = stage.line
            queues = found.setdefault((line.node, line.port), {})
            own = offered(stage, stream, None if curve is None else _within(curve, _jitter(line)))
            met = queues.get(stage.queue)
            queues[stage.queue] = own if met is None else together(met, own)
    return found
