"""Traffic that arrives in a queue, in units of the line's time."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from qosforge.calculus.bounds import RateLatency, TokenBucket
from qosforge.calculus.stages import EgressLine, Passage, TrafficStream
from qosforge.twin.scenario import PS


@dataclass(frozen=True, slots=True)
class QueueTraffic:
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


def whole_line(line: EgressLine, smallest: Fraction) -> RateLatency:
    """The line as a server of packets of so many bits at least, whose times the twin rounds up to picoseconds."""
    rate = line.rate if line.shaped is None else line.shaped
    return RateLatency.of(smallest / (smallest / rate + Fraction(1, PS)))


def offered(passage: Passage, stream: TrafficStream, curve: TokenBucket | None) -> QueueTraffic:
    """What a stream brings to a queue, ``curve`` being that of one of its flows in IP bits."""
    extremes = passage.extremes
    arrivals = None
    if curve is not None:
        cost = extremes.dearest * stream.count
        arrivals = TokenBucket(curve.burst * cost, curve.rate * cost)
    return QueueTraffic(
        arrivals, extremes.largest, extremes.smallest, extremes.ratio, extremes.lean, extremes.frames
    )


def together(one: QueueTraffic, other: QueueTraffic) -> QueueTraffic:
    """Both in one queue."""
    arrivals = one.arrivals + other.arrivals if one.arrivals is not None and other.arrivals is not None else None
    return QueueTraffic(
        arrivals,
        max(one.largest, other.largest),
        min(one.smallest, other.smallest),
        max(one.ratio, other.ratio),
        min(one.lean, other.lean),
        (min(one.frames[0], other.frames[0]), max(one.frames[1], other.frames[1])),
    )
