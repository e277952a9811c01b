"""The memory of policers: packets dropped in one go, and the time until a bucket that was full at the start no
longer matters. Delay shows neither, as packets do not wait in a policer.

The tokens of a bucket are taken as a Brownian motion between two reflecting barriers, empty and full, with the
drift and the variance of what comes. It forgets where it was at the rate μ²/(2σ²) + π²σ²/(2B²), the gap of its
spectrum (Linetsky, "On the transition densities for reflected diffusions", Advances in Applied Probability
37(2), 2005). Packets that are lost within that time are lost in one go. What sends more than the policer's rate
has to drain the bucket first.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from qosforge.calculus.stages import Meter, Place, TrafficStream
from qosforge.deltaq.objective import UNSEEN_EPISODE
from qosforge.inventory.models import TrafficFlow
from qosforge.tester.scenario.traffic import packets_of_frame

TIMES_TO_FORGET = 3
"""Relaxation times after which less than a twentieth is left of how it began."""
NEGLIGIBLE = 1e-4
"""Part of the rate by which senders may be too fast before it counts: as clocks are."""


@dataclass(frozen=True, slots=True)
class Memory:
    """How long a policer remembers: ``relaxation`` and ``settling`` from a full bucket, in seconds."""

    relaxation: float
    settling: float


@dataclass(frozen=True, slots=True)
class _Load:
    """What a stream brings to a policer: frame bits per second, and the variance of these in bits² per second."""

    rate: float
    variance: float


class PolicerMemory:
    """The policers on the ways of streams, whose flows ``described`` has by their names."""

    def __init__(self, streams: Sequence[TrafficStream], described: Mapping[str, TrafficFlow]) -> None:
        self._streams, self._described = streams, described
        loads: dict[Place, list[_Load | None]] = {}
        meters: dict[Place, Meter] = {}
        for stream in streams:
            for meter in _meters(stream):
                meters[meter.place] = meter
                loads.setdefault(meter.place, []).append(self._load(stream, meter))
        self._memories = {place: _memory(meters[place], loads[place]) for place in meters}

    @property
    def settling(self) -> float:
        """Seconds until every policer has forgotten that its bucket was full."""
        return max((memory.settling for memory in self._memories.values() if memory), default=0.0)

    def of(self, flows: Collection[str]) -> tuple[int, float]:
        """What policers drop of flows in one go, in packets, and the seconds until they have settled.

        One packet where the flows meet none; what is assumed where nobody knows, if it cannot be told.
        """
        burst, settling = 1, 0.0
        for stream in self._streams:
            if not set(flows) & set(stream.flows):
                continue
            for meter in _meters(stream):
                memory = self._memories[meter.place]
                if memory is None:
                    burst = max(burst, UNSEEN_EPISODE)
                    continue
                packets = stream.offered * stream.count / (8 * stream.ip_bytes)
                burst = max(burst, math.ceil(memory.relaxation * packets), self._at_once(stream))
                settling = max(settling, memory.settling)
        return burst, settling

    def _at_once(self, stream: TrafficStream) -> int:
        source = self._described[stream.flows[0]].source
        return packets_of_frame(source) if source.kind == "video" else 1

    def _load(self, stream: TrafficStream, meter: Meter) -> _Load | None:
        source = self._described[stream.flows[0]].source
        framed = meter.frame_bytes / stream.ip_bytes
        rate = stream.offered * stream.count * framed
        match source.kind:
            case "cbr":
                return _Load(rate, 0.0)
            case "poisson":
                return _Load(rate, rate * 8 * meter.frame_bytes)
            case "video":
                spread = 8 * (source.frame_bytes_sd or 0) * framed
                return _Load(rate, (source.frames_per_second or 0) * stream.count * spread**2)
        return None


def _meters(stream: TrafficStream) -> Iterator[Meter]:
    for stages in (stream.stages, *stream.otherwise):
        yield from (stage for stage in stages if isinstance(stage, Meter))


def _memory(meter: Meter, loads: Sequence[_Load | None]) -> Memory | None:
    """Of one policer; ``None`` where what comes depends on it (TCP), or nobody knows how it varies (recordings)."""
    known = [load for load in loads if load is not None]
    if len(known) < len(loads):
        return None
    drift = sum(load.rate for load in known) - meter.rate
    variance = sum(load.variance for load in known)
    depth = 8 * max(1.0, meter.burst - meter.largest_frame)
    if abs(drift) <= NEGLIGIBLE * meter.rate:
        drift = 0.0
    relaxation = 0.0
    if variance:
        relaxation = 1 / (drift**2 / (2 * variance) + math.pi**2 * variance / (2 * depth**2))
    drain = min(depth / drift, depth**2 / variance if variance else math.inf) if drift > 0 else 0.0
    return Memory(relaxation, TIMES_TO_FORGET * relaxation + drain)
