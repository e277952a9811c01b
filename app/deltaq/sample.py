"""A sample: what became of packets, what each of them stands for, and which parts of it are independent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from app.deltaq.distribution import LOST

LEAST_REPLICATIONS = 8
"""From so many independent replications on, limits come from the spread between them."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Packets of one flow in one period: ``(sent_ps, delay_ps or -1 when lost)``, and how many it sent and lost.

    Where one packet in so many was looked at, those that arrived stand for all that did, and those lost for all
    lost.
    """

    samples: Sequence[tuple[int, int]]
    sent: int
    lost: int

    @classmethod
    def of(cls, samples: Sequence[tuple[int, int]]) -> Stream:
        """A flow of which every packet was looked at."""
        return cls(samples, len(samples), sum(1 for _, delay in samples if delay == LOST))


@dataclass(frozen=True)
class Sample:
    """Delays of packets, in order of sending within each period, with the number of packets each stands for.

    ``delays_ps`` has ``inf`` for lost packets; ``edges`` are where periods begin, and the end. ``sent`` and
    ``lost`` count all packets of each period; ``unseen_losses`` where some of the lost ones are known by their
    number only. ``independent`` where each period is a replication of its own: phases, clocks and arrivals
    drawn anew.
    """

    delays_ps: NDArray[np.float64]
    weights: NDArray[np.float64]
    edges: NDArray[np.int64]
    sent: NDArray[np.float64]
    lost: NDArray[np.float64]
    independent: bool
    unseen_losses: bool = False

    @classmethod
    def of(cls, periods: Sequence[Sequence[Stream]], *, independent: bool = False) -> Sample:
        """Put the flows of each period together.

        Raises:
            ValueError: a delay is neither a number of picoseconds from 0 on nor -1, or a flow that sent packets has
                no sample.
        """
        delays, weights, edges = [], [], [0]
        for streams in periods:
            merged = _merged(streams)
            delays.append(merged[0])
            weights.append(merged[1])
            edges.append(edges[-1] + merged[0].size)
        return cls(
            np.concatenate([np.empty(0), *delays]),
            np.concatenate([np.empty(0), *weights]),
            np.array(edges, dtype=np.int64),
            np.array([sum(stream.sent for stream in streams) for streams in periods], dtype=np.float64),
            np.array([sum(stream.lost for stream in streams) for streams in periods], dtype=np.float64),
            independent,
            any(stream.lost and all(d != LOST for _, d in stream.samples) for each in periods for stream in each),
        )

    @classmethod
    def single(cls, samples: Sequence[tuple[int, int]]) -> Sample:
        """One realisation of which every packet was looked at."""
        return cls.of([[Stream.of(samples)]])

    @classmethod
    def of_delays(cls, *periods: NDArray[np.float64], independent: bool = False) -> Sample:
        """Delays in ps of every packet of each period, in the order of sending, lost packets as ``inf``."""
        delays = np.concatenate([np.empty(0), *periods])
        sizes = np.array([period.size for period in periods], dtype=np.float64)
        lost = np.array([np.isinf(period).sum() for period in periods], dtype=np.float64)
        edges = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        return cls(delays, np.ones(delays.size), edges, sizes, lost, independent)

    @property
    def size(self) -> int:
        """Packets that were looked at."""
        return int(self.delays_ps.size)

    @cached_property
    def worth(self) -> float:
        """How many independent packets of equal weight would tell as much (Kish, Survey Sampling, 1965)."""
        squares = float((self.weights**2).sum())
        return float(self.weights.sum()) ** 2 / squares if squares else 0.0

    @property
    def replicated(self) -> bool:
        """Whether limits can come from the spread between independent replications."""
        return self.independent and self.sent.size >= LEAST_REPLICATIONS

    def only(self, periods: NDArray[np.bool_]) -> Sample:
        """The chosen periods of it, in their order."""
        sizes = np.diff(self.edges)
        packets = np.repeat(periods, sizes)
        return Sample(
            self.delays_ps[packets],
            self.weights[packets],
            np.concatenate(([0], np.cumsum(sizes[periods]))).astype(np.int64),
            self.sent[periods],
            self.lost[periods],
            self.independent,
            self.unseen_losses,
        )

    def part(self, chosen: NDArray[np.bool_]) -> float:
        """The part of all packets that the chosen ones stand for; 0 for an empty sample."""
        total = float(self.weights.sum())
        return float(self.weights[chosen].sum()) / total if total else 0.0

    def loss(self) -> float:
        """The part of all packets sent that was lost; 0 where none was sent."""
        sent = float(self.sent.sum())
        return float(self.lost.sum()) / sent if sent else 0.0

    def arrived(self) -> Sample:
        """The same without what was lost."""
        kept = np.isfinite(self.delays_ps)
        counts = [int(kept[a:b].sum()) for a, b in pairwise(self.edges)]
        edges = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        got = self.sent - self.lost
        return Sample(self.delays_ps[kept], self.weights[kept], edges, got, np.zeros_like(got), self.independent)


def _merged(streams: Sequence[Stream]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Delays and weights of flows that send at the same time, in the order of sending."""
    parts = [_weighted(stream) for stream in streams]
    empty = np.empty((0, 3))
    sent, delay, weight = np.concatenate([empty, *parts]).T
    order = np.lexsort((delay, sent))
    return delay[order], weight[order]


def _weighted(stream: Stream) -> NDArray[np.float64]:
    """Rows of when a packet was sent, its delay (lost: ``inf``) and how many it stands for."""
    if stream.sent and not stream.samples:
        raise ValueError(f"a flow that sent {stream.sent} packets has no sample")
    rows = np.ones((len(stream.samples), 3))
    rows[:, :2] = np.array(stream.samples, dtype=np.float64).reshape(-1, 2)
    delays = rows[:, 1]
    lost = delays == LOST
    wrong = ~(lost | ((delays >= 0) & np.isfinite(delays)))
    if wrong.any():
        raise ValueError(f"a delay is a number from 0 on, or -1 for a lost packet, not {delays[wrong][0]}")
    if stream.lost and not lost.any():
        # Nobody looked at one that was lost: all of them are known by their number only.
        rows = np.vstack((rows, [rows[-1, 0] if len(rows) else 0.0, math.inf, float(stream.lost)]))
        lost = np.append(lost, [True])
    elif lost.any():
        rows[lost, 2] = stream.lost / lost.sum()
    arrived = int((~lost).sum())
    if arrived:
        rows[~lost, 2] = (stream.sent - stream.lost) / arrived
    rows[lost, 1] = math.inf
    return rows
