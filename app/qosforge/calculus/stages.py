"""The streams of a scenario, and the lines and policers that they pass."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from qosforge.calculus.encapsulation import Carried
from qosforge.plan.model import Scheduler
from qosforge.twin.schedulers import FIFO, SchedulerSpec

_Number = float | Fraction
_NEAR = 1 - 1e-9
"""Quotients of floats that are not as near as this to the largest are not it."""

Place = tuple[str, str, str, int]
"""Where a policer is: node, port, what it belongs to there, and which of those."""


@dataclass(frozen=True, slots=True)
class EgressLine:
    """An egress port and its link.

    ``assumed_rate`` is the rate (b/s) that the device takes its shares of, ``ring`` the frames its hardware holds,
    ``limits`` the packets that each queue takes; ``delay_ps`` is the link's and ``latency_ps`` that of the node
    before it, with up to ``jitter_ps`` at random besides. Without a scheduler it is one queue in order of arrival;
    ``discipline`` is what the twin makes of it; ``fair`` are the queues that packets do not leave in order of
    arrival, ``tagged`` frames have an 802.1Q tag. ``shaped`` are the frame bits per second that the port sends at
    most.
    """

    node: str
    port: str
    rate: int
    assumed_rate: int
    ring: int
    limits: tuple[int | None, ...]
    delay_ps: int
    latency_ps: int
    scheduler: Scheduler | None = None
    discipline: SchedulerSpec = FIFO
    fair: frozenset[int] = frozenset()
    tagged: bool = False
    shaped: int | None = None
    jitter_ps: int = 0

    def time_of(self, packet: Carried) -> Fraction:
        """Bits of line time of a packet. A shaped port sends no faster than its bucket fills: then it is a line of
        the shaper's rate, on which each frame takes what the slower of the two needs.
        """
        if self.shaped is None:
            wire = packet.wire_bits
            return wire if isinstance(wire, Fraction) else Fraction(wire)
        ratio = Fraction(self.shaped, self.rate)
        return sum(
            (max(8 * Fraction(part.frame_bytes), ratio * Fraction(part.wire_bits)) for part in packet.parts),
            Fraction(0),
        )


def largest_ratio(above: Sequence[_Number], below: Sequence[_Number]) -> Fraction:
    """The largest quotient of pairs, exactly; floats choose which are reckoned, as fractions are slow."""
    rough = [float(a) / float(b) for a, b in zip(above, below, strict=True)]
    least = max(rough) * _NEAR
    return max(Fraction(a) / Fraction(b) for a, b, r in zip(above, below, rough, strict=True) if r >= least)


@dataclass(frozen=True, slots=True)
class Extremes:
    """What the packets of a stream are on a line at the most and at the least.

    ``dearest`` is the line time (bits) of an IP bit of the packet that needs most for each, all its IP fragments
    together, ``cheapest`` the bits on the wire of that which needs least. The rest is of what waits in queues, an
    IP fragment counting for itself: bits on the wire of the ``longest``, line times of the ``largest`` and
    ``smallest``, bytes of the smallest and largest ``frames``, most (``ratio``) and least (``lean``) line time of a
    frame bit.
    """

    dearest: Fraction
    cheapest: Fraction
    longest: Fraction
    largest: Fraction
    smallest: Fraction
    ratio: Fraction
    lean: Fraction
    frames: tuple[Fraction, Fraction]

    @classmethod
    def of(cls, line: EgressLine, packets: Sequence[Carried]) -> Extremes:
        """Of all packets that may come, none of which stands for another: cells and fragments make cost jump."""
        # Packets share most of their fragments.
        parts = list({id(part): part for packet in packets for part in packet.parts}.values())
        times = [line.time_of(part) for part in parts]
        bits = [8 * packet.ip_bytes for packet in packets]
        frames = [8 * part.frame_bytes for part in parts]
        alone = [1] * len(parts)
        return cls(
            dearest=largest_ratio([line.time_of(packet) for packet in packets], bits),
            cheapest=1 / largest_ratio(bits, [packet.wire_bits for packet in packets]),
            longest=largest_ratio([part.wire_bits for part in parts], alone),
            largest=largest_ratio(times, alone),
            smallest=1 / largest_ratio(alone, times),
            ratio=largest_ratio(times, frames),
            lean=1 / largest_ratio(frames, times),
            frames=(Fraction(min(frames)) / 8, Fraction(max(frames)) / 8),
        )


@dataclass(frozen=True)
class Passage:
    """A queue of a line that a stream passes, and what its packets are there: the usual one first, and every other
    that may come.

    ``ip_bits`` are the most IP bits of the stream that a bit on the wire stands for on the lines that follow, None
    where that is so of whole packets alone.
    """

    line: EgressLine
    queue: int
    packets: tuple[Carried, ...]
    ip_bits: Fraction | None = None

    @property
    def usual(self) -> Carried:
        """The packet that rates are reckoned with."""
        return self.packets[0]

    @cached_property
    def extremes(self) -> Extremes:
        """Of all packets that may come."""
        return Extremes.of(self.line, self.packets)


@dataclass(frozen=True, slots=True)
class Meter:
    """A policer that drops: ``rate`` in bits per second and ``burst`` in bytes of frames, which a stream's usual
    packet makes ``frame_bytes`` of, the ``largest_frame`` of its IP fragments being one at a time. Streams that
    share it have the same ``place``.

    ``ip_bits`` are the most IP bits of the stream that a frame bit here stands for on the lines that follow.
    """

    place: Place
    rate: int
    burst: int
    frame_bytes: float
    largest_frame: int = 0
    ip_bits: Fraction = Fraction(1)

    @property
    def passes(self) -> bool:
        """Whether the bucket ever holds a usual packet."""
        return self.largest_frame <= self.burst


Stage = Meter | Passage


@dataclass(frozen=True, slots=True)
class TrafficStream:
    """``count`` flows that are described as one; each offers ``offered`` IP bits per second.

    Greedy ones (TCP) offer infinitely much and take what they are left. ``steady``: packets of one size in equal
    distances, by a clock that is up to ``fast_ppm`` millionths fast. ``weight`` is each flow's in flow-based fair
    queueing: its IP precedence and one. ``stages`` are what it passes, in order, and ``otherwise`` what those of
    its packets pass instead that policers give other marks. ``flows`` are the names of its flows in the twin's
    scenario, ``acknowledgements`` what comes back for its packets, which offers as much as those make it.
    """

    name: str
    count: int
    offered: float
    ip_bytes: int
    steady: bool
    weight: int
    stages: tuple[Stage, ...]
    fast_ppm: int = 0
    flows: tuple[str, ...] = ()
    acknowledgements: TrafficStream | None = None
    otherwise: tuple[tuple[Stage, ...], ...] = ()

    @property
    def greedy(self) -> bool:
        """Whether it sends whatever it is left."""
        return math.isinf(self.offered)


def with_acknowledgements(streams: Iterable[TrafficStream]) -> tuple[list[TrafficStream], dict[int, int]]:
    """All that loads lines: the streams, then their acknowledgements; and by the place of these that of the stream
    they answer.
    """
    found = list(streams)
    answers: dict[int, int] = {}
    for number, stream in enumerate(tuple(found)):
        if stream.acknowledgements is not None:
            answers[len(found)] = number
            found.append(stream.acknowledgements)
    return found, answers
