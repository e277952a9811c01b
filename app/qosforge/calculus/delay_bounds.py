"""Largest delay of a stream's packets along its path, by network calculus."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from qosforge.calculus.bounds import NOTHING, TokenBucket
from qosforge.calculus.line_delay import largest_delay
from qosforge.calculus.line_traffic import QueueTraffic, offered, together
from qosforge.calculus.stages import EgressLine, Meter, Passage, TrafficStream
from qosforge.twin.scenario import PS

_LEAST_ROUNDS = 12
_GRAIN = 2**10
"""Bursts are rounded up to this part of a bit: exact fractions would grow with every round."""

_Port = tuple[str, str]
_Queues = dict[int, QueueTraffic]


def delay_bounds(streams: Sequence[TrafficStream]) -> dict[str, Fraction | None]:
    """Largest delay of every stream's packets in seconds, by its name; None where no bound is known.

    It holds if the streams and their acknowledgements are all that the lines carry. Steady and policed streams are
    bounded by what they send, others by the lines behind them, acknowledgements by what they answer; and every
    queue in order of arrival whose class has a guarantee by what it holds when it is full; the lesser counts.
    Class-based queuing bounds nobody, nor does a priority queue that takes whatever comes those behind it.
    """
    every, ways, answers = _traffic(streams)
    # What a stream sends into each of its stages, in IP bits, and how long it stays at most in each line.
    curves: list[list[TokenBucket | None]] = [[_source(stream), *[None] * len(stream.stages)] for stream in every]
    delays: list[list[Fraction | None]] = [[None] * len(stream.stages) for stream in every]
    lines = _Lines()
    # A round carries bounds one stage further, and along a row of lines that is all. Where lines depend on each
    # other in a circle every round makes them lower; what stands at the end holds in any case.
    for _ in range(max(_LEAST_ROUNDS, 1 + _places(every))):
        before = [list(stages) for stages in curves]
        lines.load(_arriving(every, before))
        for number, stream in enumerate(every):
            if number in answers:
                received = [before[data][-1] for data in answers[number]]
                curves[number][0] = _answering(every[answers[number][0]], stream, received)
            for at, stage in enumerate(stream.stages):
                entering = before[number][at]
                if isinstance(stage, Meter):
                    curves[number][at + 1] = _metered(stage, stream, entering)
                    delays[number][at] = Fraction(0)
                    continue
                delay = lines.delay(stage.line, stage.queue)
                delays[number][at] = delay
                curves[number][at + 1] = _leaving(stage, stream, entering, delay)
        if curves == before:
            break
    found: dict[str, Fraction | None] = {}
    for stream, own in zip(streams, ways, strict=True):
        totals = [total for number in own if (total := _total(every[number], delays[number])) is not None]
        found[stream.name] = max(totals) if len(totals) == len(own) else None
    return found


def _traffic(streams: Sequence[TrafficStream]) -> tuple[list[TrafficStream], list[list[int]], dict[int, list[int]]]:
    """All that loads lines, a stream for every way that packets may take: any of them may carry all.

    Then the places of each stream's ways, and by the place of acknowledgements those of the ways of their data.
    """
    every: list[TrafficStream] = []

    def add(stream: TrafficStream) -> list[int]:
        first = len(every)
        every.extend(replace(stream, stages=stages) for stages in (stream.stages, *stream.otherwise))
        return list(range(first, len(every)))

    ways = [add(stream) for stream in streams]
    answers: dict[int, list[int]] = {}
    for stream, own in zip(streams, ways, strict=True):
        if stream.acknowledgements is not None:
            answers |= dict.fromkeys(add(stream.acknowledgements), own)
    return every, ways, answers


class _Lines:
    """The largest stays in the queues of all lines, each computed anew only when what comes to its line changes."""

    def __init__(self) -> None:
        self._arriving: dict[_Port, _Queues] = {}
        self._delays: dict[_Port, dict[int, Fraction | None]] = {}

    def load(self, arriving: dict[_Port, _Queues]) -> None:
        """Take over what comes to every line now."""
        for port, queues in arriving.items():
            if queues != self._arriving.get(port):
                self._delays[port] = {}
        self._arriving = arriving

    def delay(self, line: EgressLine, queue: int) -> Fraction | None:
        """The largest stay in a queue of a line, seconds; None where no bound is known."""
        port = (line.node, line.port)
        known = self._delays[port]
        if queue not in known:
            known[queue] = largest_delay(line, queue, self._arriving[port])
        return known[queue]


def _places(streams: Sequence[TrafficStream]) -> int:
    """Lines and policers, which no chain of bounds is longer than, and the receivers that acknowledge."""
    found = {
        stage.place if isinstance(stage, Meter) else (stage.line.node, stage.line.port)
        for stream in streams
        for stage in stream.stages
    }
    return len(found) + len(streams)


def _total(stream: TrafficStream, delays: Sequence[Fraction | None]) -> Fraction | None:
    lines = [stage.line for stage in stream.stages if not isinstance(stage, Meter)]
    fixed = sum(line.delay_ps for line in lines) + sum(line.latency_ps + line.jitter_ps for line in lines[1:])
    known = [delay for delay in delays if delay is not None]
    return sum(known, Fraction(fixed, PS)) if len(known) == len(delays) else None


def _source(stream: TrafficStream) -> TokenBucket | None:
    """Packets in equal distances of whole picoseconds; any number of flows may begin together."""
    if not stream.steady:
        return None
    bits = 8 * stream.ip_bytes
    rate = Fraction(stream.offered)
    if stream.fast_ppm:
        # A clock gives whole bits per second.
        rate = rate * (1 + Fraction(stream.fast_ppm, 10**6)) + 1
    period = int(bits * PS / rate)
    return TokenBucket.of(bits, Fraction(bits * PS, max(period - 1, 1)))


def _answering(
    data: TrafficStream, answers: TrafficStream, received: Sequence[TokenBucket | None]
) -> TokenBucket | None:
    """The acknowledgements of a flow, ``received`` being the curves of its data at the receiver, by every way.

    One for each segment at most (RFC 5681, section 4.2): at once, or for the last one only when the timer of the
    delayed acknowledgement ends. So there are no more in any time than segments in it and one from before. Of
    another one the first fragments may have come before; fragments of one flow stay in order.
    """
    known = [curve for curve in received if curve is not None]
    if len(known) < len(received):
        return None
    total = sum(known, NOTHING)
    bits = Fraction(answers.ip_bytes, data.ip_bytes)
    return TokenBucket(total.burst * bits + 2 * 8 * answers.ip_bytes, total.rate * bits)


def _within(entering: TokenBucket, delay: Fraction) -> TokenBucket:
    """What leaves after a delay of up to so many seconds: it came in that time or the delay before it."""
    burst = entering.burst + entering.rate * delay
    return TokenBucket(Fraction(math.ceil(burst * _GRAIN), _GRAIN), entering.rate)


def _jitter(line: EgressLine) -> Fraction:
    """The longest random time before a line's queue, seconds."""
    return Fraction(line.jitter_ps, PS)


def _leaving(
    passage: Passage, stream: TrafficStream, entering: TokenBucket | None, delay: Fraction | None
) -> TokenBucket:
    """What one of a stream's flows sends behind a line: what it brought, or as much as the line carries.

    In any time a line ends frames of that time and one that began before.
    """
    line, extremes = passage.line, passage.extremes
    each = (1 / extremes.cheapest if passage.ip_bits is None else passage.ip_bits) / stream.count
    full = TokenBucket(extremes.longest * each, line.rate * each)
    if entering is None or delay is None or entering.rate > full.rate:
        return full
    return _within(entering, delay + _jitter(line))


def _metered(meter: Meter, stream: TrafficStream, entering: TokenBucket | None) -> TokenBucket:
    limit = TokenBucket(8 * meter.burst * meter.ip_bits, meter.rate * meter.ip_bits)
    return limit if entering is None or entering.rate * stream.count > limit.rate else entering


def _arriving(
    streams: Sequence[TrafficStream], curves: Sequence[Sequence[TokenBucket | None]]
) -> dict[_Port, _Queues]:
    """What comes into every queue of every line."""
    found: dict[_Port, _Queues] = {}
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
