"""Service curves of a queue, with its own shaper where it has one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from qosforge.calculus.bounds import Number, RateLatency, TokenBucket, held_back
from qosforge.calculus.line_traffic import QueueTraffic
from qosforge.calculus.shaping_bounds import behind_bucket, bucket_departures, bucket_server
from qosforge.calculus.stages import EgressLine
from qosforge.twin.scenario import PS
from qosforge.twin.schedulers import queue_shapes


@dataclass(frozen=True, slots=True)
class Curves:
    """What a queue is served: ``in_order`` if its packets leave as they came, ``strict`` in any part of a busy
    period; and the arrivals that this holds for, None where nothing bounds them. The queues that are served
    ``together`` are one in order of arrival.
    """

    in_order: RateLatency
    strict: RateLatency
    arrivals: TokenBucket | None
    together: frozenset[int] = frozenset()


def bucket_of(rate_bps: Number, burst_bytes: int, traffic: QueueTraffic) -> tuple[Fraction, Fraction]:
    """Rate and burst of a shaper in line time at least, by which it serves."""
    return rate_bps * traffic.lean, 8 * burst_bytes * traffic.lean


def leaves_bucket(rate_bps: Number, burst_bytes: int, traffic: QueueTraffic) -> TokenBucket:
    """What leaves a shaper in line time at most, by which it keeps others waiting."""
    frame = 8 * traffic.frames[1]
    frames = bucket_departures(rate_bps, 8 * burst_bytes, frame)
    return TokenBucket(frames.burst * traffic.ratio, frames.rate * traffic.ratio)


def behind_own_bucket(
    inner: RateLatency, rate: Number, burst: int, traffic: QueueTraffic
) -> tuple[RateLatency, RateLatency]:
    """What a queue is served behind a shaper of frame bits per second and bytes: in order, and strictly.

    ``inner`` is its strict service while the shaper lets it compete.
    """
    # A bucket is out of debt at a whole picosecond.
    late = held_back(inner, inner.rate / PS)
    sizes = (traffic.smallest, traffic.largest)
    fill, depth = bucket_of(rate, burst, traffic)
    return (
        behind_bucket(late, fill, depth, sizes, traffic.spread),
        bucket_server(late, fill, depth, sizes, traffic.spread),
    )


def shaped_queue(
    curves: Curves | None, line: EgressLine, queue: int, queues: Mapping[int, QueueTraffic]
) -> Curves | None:
    """The curves of a queue that the scheduler's ``shapes`` may hold back."""
    shape = queue_shapes(line.discipline).get(queue)
    if curves is None or shape is None:
        return curves
    if shape.whole_frames:
        return None  # not modelled
    found = behind_own_bucket(curves.strict, shape.rate_bps, shape.burst_bytes, queues[queue])
    return Curves(*found, curves.arrivals)
