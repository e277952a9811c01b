"""What a session comes to: loss by direction, order, delays, and how far both clocks may lie apart."""

from __future__ import annotations

import math
from dataclasses import dataclass

from qosforge.stamp.sender import Exchange, SessionResult

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


@dataclass(frozen=True, slots=True)
class Delays:
    """Delays of one direction in nanoseconds; ``quantiles`` are of all packets, ``None`` where they lie at infinity
    for those that are lost.
    """

    least: int
    mean: float
    most: int
    quantiles: dict[str, int | None]


@dataclass(frozen=True, slots=True)
class Offset:
    """How far the reflector's clock is ahead of the sender's, by the quickest exchange.

    ``error_ns`` is half of what that took: the offset lies within, whatever each direction took.
    """

    ahead_ns: int
    error_ns: int


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session in figures.

    ``lost_forward`` and ``lost_backward`` are ``None`` where the reflector does not number its answers by itself,
    so that nobody can tell. ``unknown`` packets are lost before the first answer or behind the last one, where
    nothing says in which direction. ``reordered`` is of the answers (RFC 4737: a lower number than one before).
    ``answer_dscps`` are the marks that they came with: a reflector need not give back the sender's (RFC 8762 says
    nothing of it), and the delay back is that of another class then.
    """

    sent: int
    answered: int
    lost: int
    lost_forward: int | None
    lost_backward: int | None
    unknown: int
    reordered: int
    copies: int
    forward: Delays
    backward: Delays
    round_trip: Delays
    offset: Offset
    answer_dscps: tuple[int, ...]


def summarize(result: SessionResult) -> SessionSummary:
    """The figures of a session of which something was answered."""
    answered = [each for each in result.exchanges if each.number is not None]
    lost = len(result.exchanges) - len(answered)
    forward, backward, unknown = _lost_by_direction(answered, lost)
    highest, reordered = -1, 0
    for sequence in result.arrival_order:
        reordered += sequence < highest
        highest = max(highest, sequence)
    sent = len(result.exchanges)
    return SessionSummary(
        sent=sent,
        answered=len(answered),
        lost=lost,
        lost_forward=forward,
        lost_backward=backward,
        unknown=unknown,
        reordered=reordered,
        copies=result.copies,
        forward=_delays([each.forward_ns for each in answered if each.forward_ns is not None], sent),
        backward=_delays([each.backward_ns for each in answered if each.backward_ns is not None], sent),
        round_trip=_delays([each.round_trip_ns for each in answered if each.round_trip_ns is not None], sent),
        offset=clock_offset(answered),
        answer_dscps=tuple(sorted({each.answer_dscp for each in answered if each.answer_dscp is not None})),
    )


def clock_offset(answered: list[Exchange]) -> Offset:
    """The offset of both clocks by the quickest of these exchanges (RFC 5905, section 8)."""
    best = min(answered, key=lambda each: each.round_trip_ns or 0)
    forward, backward, both = best.forward_ns or 0, best.backward_ns or 0, best.round_trip_ns or 0
    return Offset((forward - backward) // 2, -(-max(0, both) // 2))


def _lost_by_direction(answered: list[Exchange], lost: int) -> tuple[int | None, int | None, int]:
    """Lost forward, lost backward, and lost before the first answer or behind the last one.

    Between two answers the numbers of a reflector that counts by itself rise by what reached it.
    """
    first = min(answered, key=lambda each: each.sequence)
    last = max(answered, key=lambda each: each.sequence)
    inside = last.sequence - first.sequence + 1 - len(answered)
    unknown = lost - inside
    if not inside:
        return 0, 0, unknown
    # Where all numbers are the sender's own, they are copied, or all was lost backward: nobody can tell.
    if all(each.number == each.sequence for each in answered):
        return None, None, unknown
    reached = (last.number or 0) - (first.number or 0)
    there = min(inside, max(0, last.sequence - first.sequence - reached))
    return there, inside - there, unknown


def _delays(values: list[int], sent: int) -> Delays:
    ordered = sorted(values)
    quantiles = {}
    for label, probability in QUANTILES.items():
        rank = math.ceil(probability * sent)
        quantiles[label] = ordered[rank - 1] if rank <= len(ordered) else None
    return Delays(ordered[0], sum(ordered) / len(ordered), ordered[-1], quantiles)
