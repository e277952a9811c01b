"""A sample: what became of packets, what each of them stands for, and which parts of it are independent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from qosforge.deltaq.distribution import LOST

LEAST_REPLICATIONS = 8
"""From so many independent replications on, limits come from the spread between them."""


@dataclass(frozen=True, slots=True)
class FlowSamples:
    """Packets of one flow in one period: ``(sent_ps, delay_ps or -1 when lost)``, and how many it sent and lost.

    Where one packet in so many was looked at, those that arrived stand for all that did, and those lost for all
    lost.

    Raises:
        ValueError: a time is no finite number from 0 on, a delay neither one of picoseconds nor -1, a packet that
            arrived is there twice, or the counts cannot be those of the samples; names the first.
    """

    samples: Sequence[tuple[int, int]]
    sent: int
    lost: int
    rows: NDArray[np.float64] = field(init=False, repr=False, compare=False)
    """The samples as an array of shape (packets, 2): when each was sent, and its delay."""

    def __post_init__(self) -> None:
        self._check_counts()
        rows = self._read_rows()
        object.__setattr__(self, "rows", rows)
        times, delays = rows.T
        never = ~(np.isfinite(times) & (times >= 0))
        if never.any():
            raise ValueError(f"a packet cannot be sent at {times[never][0]:g} ps: times count from the beginning")
        lost = delays == LOST
        wrong = ~(lost | ((delays >= 0) & np.isfinite(delays)))
        if wrong.any():
            raise ValueError(f"a delay is a number from 0 on, or -1 for a lost packet, not {delays[wrong][0]}")
        self._check_repetition(rows[~lost])
        if lost.sum() > self.lost or (~lost).sum() > self.sent - self.lost:
            raise ValueError(
                f"{self.sent} packets sent and {self.lost} lost, but the samples have {(~lost).sum()} that "
                f"arrived and {lost.sum()} lost"
            )

    def _check_counts(self) -> None:
        for name, count in (("sent", self.sent), ("lost", self.lost)):
            if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
                raise ValueError(f"the number of packets {name} is a whole number from 0 on, not {count!r}")
        if self.lost > self.sent:
            raise ValueError(f"{self.lost} packets cannot be lost of {self.sent} sent")
        if self.sent and not self.samples:
            raise ValueError(f"a flow that sent {self.sent} packets has no sample")

    def _check_repetition(self, arrived: NDArray[np.float64]) -> None:
        if len(arrived) < 2:
            return
        ordered = arrived[np.lexsort(arrived.T)]
        twice = (ordered[1:] == ordered[:-1]).all(axis=1)
        if twice.any():
            time, delay = ordered[1:][twice][0]
            raise ValueError(f"the packet sent at {time:.0f} ps that took {delay:.0f} ps is there twice")

    def _read_rows(self) -> NDArray[np.float64]:
        if set(map(len, self.samples)) - {2}:
            raise ValueError("samples are pairs of the time of sending and the delay")
        for kind in set(map(type, chain.from_iterable(self.samples))):
            if issubclass(kind, bool) or not issubclass(kind, int | float | np.integer | np.floating):
                found = next(value for value in chain.from_iterable(self.samples) if type(value) is kind)
                raise ValueError(f"times and delays are numbers of picoseconds, not {found!r}")
        return np.array(self.samples, dtype=np.float64).reshape(-1, 2)

    @classmethod
    def of(cls, samples: Sequence[tuple[int, int]]) -> FlowSamples:
        """A flow of which every packet was looked at."""
        return cls(samples, len(samples), sum(1 for sample in samples if sample[-1] == LOST))


@dataclass(frozen=True)
class Sample:
    """Delays of packets, in order of sending within each period, with the number of packets each stands for.

    ``delays_ps`` has ``inf`` for lost packets; ``edges`` are where periods begin, and the end. ``sent`` and
    ``lost`` count all packets of each period; ``unseen_losses`` where some of the lost ones are known by their
    number only. ``independent`` where each period is a replication of its own: phases, clocks and arrivals
    drawn anew. ``repeats`` is how often the same recorded traffic stands in it: all of it tells no more than one
    such part.

    Raises:
        ValueError: a delay is negative or no number, or the parts contradict each other; names which.
    """

    delays_ps: NDArray[np.float64]
    weights: NDArray[np.float64]
    edges: NDArray[np.int64]
    sent: NDArray[np.float64]
    lost: NDArray[np.float64]
    independent: bool
    unseen_losses: bool = False
    repeats: float = 1.0

    def __post_init__(self) -> None:
        delays = self.delays_ps
        wrong = ~(delays >= 0)
        if wrong.any():
            raise ValueError(f"a delay is a number from 0 on, infinite for a lost packet, not {delays[wrong][0]}")
        if self.weights.shape != delays.shape or not ((self.weights > 0) & np.isfinite(self.weights)).all():
            raise ValueError("the weights are one finite number above 0 for each delay")
        edges = self.edges
        if not edges.size or edges[0] != 0 or edges[-1] != delays.size or (np.diff(edges) < 0).any():
            raise ValueError(f"the edges of periods ascend from 0 to the {delays.size} packets")
        for name, counts in (("sent", self.sent), ("lost", self.lost)):
            if counts.size != edges.size - 1 or not ((counts >= 0) & np.isfinite(counts)).all():
                raise ValueError(f"the packets {name} are one finite number from 0 on for each period")
        if (self.lost > self.sent).any():
            raise ValueError("more packets are lost than sent in a period")
        if not 1 <= self.repeats < math.inf:
            raise ValueError(f"traffic repeats once or more often, not {self.repeats}")

    @classmethod
    def of(cls, periods: Sequence[Sequence[FlowSamples]], *, independent: bool = False) -> Sample:
        """Put the flows of each period together."""
        delays, weights, edges = [], [], [0]
        for streams in periods:
            merged = _merge_flows(streams)
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
        return cls.of([[FlowSamples.of(samples)]])

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
    def _different(self) -> int:
        """Periods that have packets and are not the same in every delay as one before."""
        parts = (self.delays_ps[first:last] for first, last in pairwise(self.edges))
        return len({part.tobytes() for part in parts if part.size})

    @cached_property
    def copies(self) -> float:
        """How often the same stands in it: traffic that ``repeats``, or replications that are equal in every
        delay."""
        if not self.independent or not self._different:
            return self.repeats
        return max(self.repeats, int((np.diff(self.edges) > 0).sum()) / self._different)

    @cached_property
    def worth(self) -> float:
        """How many independent packets of equal weight would tell as much (Kish, Survey Sampling, 1965)."""
        squares = float((self.weights**2).sum())
        return float(self.weights.sum()) ** 2 / squares / self.copies if squares else 0.0

    @cached_property
    def sorted_delays(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The delays from the least on, and the running sum of what they stand for."""
        order = np.argsort(self.delays_ps, kind="stable")
        return self.delays_ps[order], np.cumsum(self.weights[order])

    @property
    def has_replications(self) -> bool:
        """Whether limits can come from the spread between independent replications."""
        return self.independent and self.repeats == 1 and self._different >= LEAST_REPLICATIONS

    def select_periods(self, periods: NDArray[np.bool_]) -> Sample:
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
            self.repeats,
        )

    def part(self, chosen: NDArray[np.bool_]) -> float:
        """The part of all packets that the chosen ones stand for; 0 for an empty sample."""
        total = float(self.weights.sum())
        return float(self.weights[chosen].sum()) / total if total else 0.0

    def loss(self) -> float:
        """The part of all packets sent that was lost; 0 where none was sent."""
        sent = float(self.sent.sum())
        return float(self.lost.sum()) / sent if sent else 0.0

    def without_losses(self) -> Sample:
        """The same without what was lost."""
        kept = np.isfinite(self.delays_ps)
        counts = [int(kept[a:b].sum()) for a, b in pairwise(self.edges)]
        edges = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        got = self.sent - self.lost
        return replace(
            self,
            delays_ps=self.delays_ps[kept],
            weights=self.weights[kept],
            edges=edges,
            sent=got,
            lost=np.zeros_like(got),
            unseen_losses=False,
        )


def _merge_flows(streams: Sequence[FlowSamples]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Delays and weights of flows that send at the same time, in the order of sending."""
    parts = [_weight_rows(stream) for stream in streams]
    empty = np.empty((0, 3))
    sent, delay, weight = np.concatenate([empty, *parts]).T
    order = np.lexsort((delay, sent))
    return delay[order], weight[order]


def _weight_rows(stream: FlowSamples) -> NDArray[np.float64]:
    """Rows of when a packet was sent, its delay (lost: ``inf``) and how many it stands for."""
    rows = np.ones((len(stream.samples), 3))
    rows[:, :2] = stream.rows
    lost = rows[:, 1] == LOST
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
