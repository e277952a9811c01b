"""Service curves of queues that share a line by weight."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from qosforge.calculus.bounds import (
    NOTHING,
    RateLatency,
    deficit_round_robin,
    strict_priority,
    weighted_fair,
    weighted_round_robin,
)
from qosforge.calculus.line_traffic import QueueTraffic
from qosforge.calculus.queue_curves import Curves, behind_own_bucket, leaves_bucket
from qosforge.calculus.shaping_bounds import blocks_round_robin
from qosforge.calculus.stages import EgressLine
from qosforge.twin.scenario import PS
from qosforge.twin.schedulers import (
    CbwfqScheduler,
    DrrScheduler,
    SchedulerSpec,
    SrrScheduler,
    StrictWrrScheduler,
    Weights,
    WrrScheduler,
    queue_shapes,
    weight_of,
)

_TURN_BYTES = 1600
"""Bytes that the twin lets the heaviest queue of a round robin by bytes send in a turn, and that it makes good to a
shaped queue of shared round robin."""
_TAG_BYTES = 4


def weighted(
    line: EgressLine, queue: int, queues: Mapping[int, QueueTraffic], rest: RateLatency, apart: set[int]
) -> RateLatency | None:
    """The part of a queue of what those served first leave, ``apart`` being those; None where no curve is known."""
    discipline = line.discipline
    shares = _shaped(line, queues)
    members = [number for number in queues if number not in apart and number not in shares]
    if queue not in members:
        return None
    if shares:
        left = _behind_shaped(line, shares, queues, rest)
        if left is None:
            return None
        rest = left
    at = members.index(queue)
    packets = [queues[number].largest for number in members]
    weights = [_weight(_weights(discipline), number) for number in members]
    if any(weight <= 0 for weight in weights):
        return None
    # Weights are of frame bytes: others may take more line time for each than this queue.
    scaled = [
        weight * (queues[number].lean if number == queue else queues[number].ratio)
        for weight, number in zip(weights, members, strict=True)
    ]
    match discipline:
        case CbwfqScheduler():
            return weighted_fair(rest, scaled, packets, at)
        case DrrScheduler():
            return deficit_round_robin(rest, [8 * quantum for quantum in scaled], packets, at)
        case WrrScheduler(quantum_bytes=int(by_turn), counting="rounded_up"):
            blocks = [_Blocks.of(queues[n], by_turn, 0 if line.tagged else _TAG_BYTES) for n in members]
            gained = [b.least if n == queue else b.most for n, b in zip(members, blocks, strict=True)]
            return blocks_round_robin(rest, weights, [b.dearest for b in blocks], gained, at)
        case WrrScheduler(quantum_bytes=int(by_turn)):
            return deficit_round_robin(rest, [8 * by_turn * weight for weight in scaled], packets, at)
        case WrrScheduler() | StrictWrrScheduler(mode="packets"):
            return weighted_round_robin(rest, weights, packets, queues[queue].smallest, at)
        case StrictWrrScheduler() | SrrScheduler():
            heaviest = _heaviest(discipline)
            return deficit_round_robin(rest, [8 * _TURN_BYTES * w / heaviest for w in scaled], packets, at)
    return None


def _weights(discipline: SchedulerSpec) -> Weights | None:
    match discipline:
        case DrrScheduler():
            return discipline.quantum_bytes
        case WrrScheduler() | StrictWrrScheduler() | SrrScheduler() | CbwfqScheduler():
            return discipline.weights
    return None


def _heaviest(discipline: StrictWrrScheduler | SrrScheduler) -> Fraction:
    """Of all queues that share, silent ones too."""
    weights = discipline.weights
    if isinstance(discipline, SrrScheduler):
        apart, shape = {discipline.strict}, discipline.shape
    else:
        apart, shape = {*discipline.strict}, None
    numbers = list(weights) if isinstance(weights, dict) else range(len(weights))
    return max(_weight(weights, n) for n in numbers if n not in apart and not _weight(shape, n))


class _Blocks:
    """What begun blocks are of a queue's packets: ``dearest`` the most of a packet, ``least`` and ``most`` the bits
    of line time that one stands for.
    """

    def __init__(self, fewest: int, dearest: int, least: Fraction, most: Fraction) -> None:
        self.fewest, self.dearest, self.least, self.most = fewest, dearest, least, most

    @classmethod
    def of(cls, traffic: QueueTraffic, quantum: int, tag: int) -> _Blocks:
        small, large = traffic.frames
        fewest, dearest = math.ceil((small + tag) / quantum), math.ceil((large + tag) / quantum)
        least = traffic.smallest / fewest
        if dearest > fewest:
            # The smallest frame that begins one more block fills them worst.
            least = min(least, 8 * traffic.lean * max(Fraction(fewest * quantum - tag), small) / (fewest + 1))
        most = min(traffic.largest / fewest, 8 * quantum * traffic.ratio)
        return cls(fewest, dearest, least, most)


def shaped_share(
    line: EgressLine, queue: int, queues: Mapping[int, QueueTraffic], rest: RateLatency
) -> Curves | None:
    """The curves of a queue of shared round robin that is shaped to 1/W of the line; None if it is not.

    One that is due goes before those that share; of several the one due first, so that each may wait for what the
    others are due.
    """
    shares = _shaped(line, queues)
    discipline = line.discipline
    if not isinstance(discipline, SrrScheduler) or queue not in shares or queue_shapes(discipline):
        return None
    others = {number: rate for number, rate in shares.items() if number != queue}
    inner = _behind_shaped(line, others, queues, rest)
    if inner is None:
        return None
    own = queues[queue]
    # W times the time of a frame on the line, which is a whole number of picoseconds.
    bits = 8 * own.frames[0]
    rate = bits / (bits / shares[queue] + _weight(discipline.shape, queue) / PS)
    return Curves(*behind_own_bucket(inner, rate, _TURN_BYTES, own), own.arrivals)


def _behind_shaped(
    line: EgressLine, shares: Mapping[int, Fraction], queues: Mapping[int, QueueTraffic], rest: RateLatency
) -> RateLatency | None:
    """What shaped queues leave, after a packet that is on the wire."""
    sent = sum((leaves_bucket(rate, _TURN_BYTES, queues[n]) for n, rate in shares.items()), NOTHING)
    return strict_priority(rest, sent, max(traffic.largest for traffic in queues.values()))


def _shaped(line: EgressLine, queues: Mapping[int, QueueTraffic]) -> dict[int, Fraction]:
    """Rates in frame bits per second of the shaped queues of shared round robin: parts of the line, not of what its
    port is shaped to."""
    discipline = line.discipline
    if not isinstance(discipline, SrrScheduler) or not discipline.shape:
        return {}
    divisors = {number: _weight(discipline.shape, number) for number in queues if number != discipline.strict}
    return {number: line.rate / divisor for number, divisor in divisors.items() if divisor}


def _weight(weights: Weights | None, number: int) -> Fraction:
    return Fraction(weight_of(weights, number))
