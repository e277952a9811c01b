"""Delay by hop: what each hop of a path adds to the delay of a class, as part of the measurement document.

Delay is G + S + V (Broadband Forum TR-452.1): G, fixed, is propagation and the fixed latency of devices; S the time
that a packet's own bits take on the line; V what it waited. A hop lasts from the arrival at an egress port to the
arrival at the next one, or at the destination, so that hops add up to the whole way.

Delays are those of the packets that were delivered in the end, at every hop of the same ones: means add up exactly.
Losses are of all that were sent: what came to a hop is what those before it left, and ratios multiply exactly.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, model_validator

from qosforge.deltaq.composition import along
from qosforge.deltaq.distribution import DeltaQ
from qosforge.deltaq.gsv import Decomposition, decompose, g_interval_ps, least_without_waiting
from qosforge.deltaq.objective import DEFAULT_CONFIDENCE

ATOMS = 128
"""The most delays by which a distribution is kept."""

MOST_SIZES = 32
"""The most packet sizes whose least delays are kept."""

MOST_HOPS = 64
"""The longest way of the twin."""

_CUTS = sorted(
    {number / 32 for number in range(1, 17)}
    | {1 - 0.5 * 2 ** (-number / 8) for number in range(97)}
    | {0.95, 0.99, 0.999}
)
"""Shares of the packets at which a distribution is cut where it has too many delays: finer and finer towards its
tail, and at the quantiles that are shown."""

Bins = tuple[tuple[NonNegativeInt, PositiveInt], ...]
"""``(picoseconds, packets)``, ascending; packets that took no more than this, and more than the one before."""

_DOCUMENT = ConfigDict(frozen=True, extra="forbid")
_Bins = Annotated[Bins, Field(max_length=ATOMS)]


class HopDelay(BaseModel):
    """What one hop of a path adds: the egress port ``port`` of ``node``, its line, and the way into ``to``.

    Means are of the packets delivered in the end, ``None`` where there are none; so are ``fixed_ps`` (G),
    ``serialisation_ps`` (S) with its largest, and ``waiting_ps`` (V) with ``waiting``, its distribution. ``lost``
    were dropped at the port, ``lost_input`` behind the line, where ``to`` took them in.
    """

    model_config = _DOCUMENT

    node: str
    port: str
    to: str
    lost: NonNegativeInt = 0
    lost_input: NonNegativeInt = 0
    fixed_ps: NonNegativeInt | None = None
    serialisation_ps: NonNegativeInt | None = None
    longest_serialisation_ps: NonNegativeInt | None = None
    waiting_ps: NonNegativeInt | None = None
    waiting: _Bins = ()

    @property
    def mean_ps(self) -> int | None:
        """Mean delay that the hop adds: G + S + V."""
        if self.fixed_ps is None or self.serialisation_ps is None or self.waiting_ps is None:
            return None
        return self.fixed_ps + self.serialisation_ps + self.waiting_ps


class PathDelay(BaseModel):
    """Where the delay of a class on a path arises, and how its hops, composed, agree with what was measured.

    ``traffic_class`` is the class that is judged, with all that divide it. ``unloaded`` is the distribution of what
    the packets would have taken had none waited (G + S of all hops, packet by packet); ``least_by_size`` the least
    delays, end to end, by IP bytes, of those sizes that lie on the lower convex hull of all, and ``second_by_size``
    the second least of those that replications have of them. ``composed_ps`` and ``measured_ps`` have quantiles of
    all packets, ``None`` for one that lies at infinity. ``burst_packets`` is how many packets are dropped in one go
    where delay does not show it, 1 where only queues drop, ``None`` where that was not recorded;
    ``settling_seconds`` how long policers on the way feel that their buckets were full.
    """

    model_config = _DOCUMENT

    traffic_class: str
    path: str
    sent: NonNegativeInt
    delivered: NonNegativeInt
    mean_ps: NonNegativeInt | None = None
    hops: Annotated[tuple[HopDelay, ...], Field(min_length=1, max_length=MOST_HOPS)]
    unloaded: _Bins = ()
    least_by_size: Annotated[tuple[tuple[PositiveInt, NonNegativeInt], ...], Field(max_length=MOST_SIZES)] = ()
    second_by_size: Annotated[tuple[tuple[PositiveInt, NonNegativeInt], ...], Field(max_length=MOST_SIZES)] = ()
    composed_ps: dict[str, NonNegativeInt | None] = Field(default_factory=dict, max_length=16)
    measured_ps: dict[str, NonNegativeInt | None] = Field(default_factory=dict, max_length=16)
    burst_packets: PositiveInt | None = None
    settling_seconds: float = Field(default=0.0, ge=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _conserve_packets(self) -> Self:
        lost = sum(hop.lost + hop.lost_input for hop in self.hops)
        if self.sent != self.delivered + lost:
            raise ValueError(
                f"class {self.traffic_class} on {self.path}: {self.sent} packets sent, {self.delivered} delivered "
                f"and {lost} lost at its hops do not add up"
            )
        return self

    def arriving(self) -> tuple[int, ...]:
        """How many packets came to each hop."""
        losses = [hop.lost + hop.lost_input for hop in self.hops[:-1]]
        return tuple(accumulate(losses, lambda left, lost: left - lost, initial=self.sent))

    def loss_at(self) -> tuple[float | None, ...]:
        """Ratio that each hop lost of what came to it; ``None`` where nothing came."""
        return tuple(
            (hop.lost + hop.lost_input) / came if came else None
            for hop, came in zip(self.hops, self.arriving(), strict=True)
        )

    def waiting(self) -> tuple[DeltaQ, ...]:
        """V and loss of each hop as a distribution, of what came to it."""
        return tuple(
            hop_deltaq(hop.waiting, came, hop.lost + hop.lost_input)
            for hop, came in zip(self.hops, self.arriving(), strict=True)
        )

    def end_to_end(self) -> Decomposition | None:
        """G and S by what the ends alone see; ``None`` where packets of fewer than two sizes arrived."""
        if len(self.least_by_size) < 2:
            return None
        return decompose({size: DeltaQ.from_delays([least]) for size, least in self.least_by_size})

    def g_interval_ps(self) -> tuple[float, float] | None:
        """Limits of G by what the ends alone see, at the confidence of checks that say none, over all sizes.

        ``None`` where fewer than two sizes arrived in two replications, or no line fits them all.
        """
        second = dict(self.second_by_size)
        pairs = [(size, least, second[size]) for size, least in self.least_by_size if size in second]
        if len(pairs) < 2:
            return None
        error = (1 - DEFAULT_CONFIDENCE) / len(pairs)
        hops = len(self.hops)
        return g_interval_ps(
            {size: (least_without_waiting(least, after, hops, error), least) for size, least, after in pairs}
        )


def hop_deltaq(bins: Sequence[tuple[int, int]], arriving: int, lost: int) -> DeltaQ:
    """Delay and loss at a hop to which so many packets came, by the delays of those that were delivered in the end.

    What is lost at later hops is taken to have waited as the rest did.
    """
    counted = sum(count for _, count in bins)
    if not counted:
        return DeltaQ.identity() if not lost else DeltaQ.lost()
    return DeltaQ.from_histogram([(delay, count * (arriving - lost) / counted) for delay, count in bins], lost)


def compose(unloaded: Sequence[tuple[int, int]], waiting: Sequence[DeltaQ]) -> DeltaQ:
    """ΔQ of the path from the delay without waiting and V of every hop, taken as independent of each other.

    A packet's size is the same at all hops, so the parts that depend on it are not composed but taken together.
    """
    if not unloaded:
        return DeltaQ.lost()
    return along([DeltaQ.from_histogram(unloaded, 0), *waiting]).deltaq


def condense(bins: Sequence[tuple[int, int]]) -> Bins:
    """The same in at most :data:`ATOMS` delays: neighbours count at the largest of them, which never flatters.

    Quantiles at the cuts stay what they are.
    """
    if len(bins) <= ATOMS:
        return tuple(bins)
    below = list(accumulate(count for _, count in bins))
    total = below[-1]
    ends = sorted(
        {min(bisect_left(below, cut * total - 1e-9 * total), len(bins) - 1) for cut in _CUTS} | {len(bins) - 1}
    )
    found, counted = [], 0
    for end in ends:
        found.append((bins[end][0], below[end] - counted))
        counted = below[end]
    return tuple(found)
