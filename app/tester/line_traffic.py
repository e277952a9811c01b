"""What comes into a queue of a line, counted in the line's own time."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from app.plan.bounds import RateLatency, TokenBucket
from app.tester.streams import PS, Carried, Line, Passage, Stream


@dataclass(frozen=True, slots=True)
class Traffic:
    """What comes into one queue, in bits of line time: its arrival curve where there is one, its packets' sizes.

    ``ratio`` is the most line time, ``lean`` the least, of a bit that shares and policers count; ``frames`` are the
    bytes of the smallest and the largest packet that they count.
    """

    arrivals: TokenBucket | None
    largest: Fraction
    smallest: Fraction
    ratio: Fraction
    lean: Fraction
    frames: tuple[Fraction, Fraction]

    @property
    def spread(self) -> Fraction:
        """How much more line time one of its bits may take than another."""
        return self.ratio / self.lean


def line_time(packet: Carried, line: Line) -> Fraction:
    """Bits of line time of a packet. A shaped port sends no faster than its bucket fills: then it is a line of the
    shaper's rate, on which a packet takes what the slower of the two needs.
    """
    wire, frame = Fraction(packet.wire_bits), 8 * Fraction(packet.frame_bytes)
    return wire if line.shaped is None else max(frame, wire * line.shaped / line.rate)


def whole_line(line: Line, smallest: Fraction) -> RateLatency:
    """The line as a server of packets of so many bits at least, whose times the twin rounds up to picoseconds."""
    rate = line.rate if line.shaped is None else line.shaped
    return RateLatency.of(smallest / (smallest / rate + Fraction(1, PS)))


def offered(passage: Passage, stream: Stream, curve: TokenBucket | None) -> Traffic:
    """What a stream brings to a queue, ``curve`` being that of one of its flows in IP bits."""
    largest, smallest = line_time(passage.largest, passage.line), line_time(passage.smallest, passage.line)
    cost = smallest / (8 * passage.smallest.ip_bytes)
    arrivals = None
    if curve is not None:
        arrivals = TokenBucket(curve.burst * cost * stream.count, curve.rate * cost * stream.count)
    frames = Fraction(passage.smallest.frame_bytes), Fraction(passage.largest.frame_bytes)
    ratio = smallest / (8 * frames[0])
    # Cells are filled unevenly: only packets of one size are known to take more than their bits.
    lean = ratio if frames[0] == frames[1] else min(Fraction(1), ratio)
    return Traffic(arrivals, largest, smallest, ratio, lean, frames)


def together(one: Traffic, other: Traffic) -> Traffic:
    """Both in one queue."""
    arrivals = one.arrivals + other.arrivals if one.arrivals is not None and other.arrivals is not None else None
    return Traffic(
        arrivals,
        max(one.largest, other.largest),
        min(one.smallest, other.smallest),
        max(one.ratio, other.ratio),
        min(one.lean, other.lean),
        (min(one.frames[0], other.frames[0]), max(one.frames[1], other.frames[1])),
    )
