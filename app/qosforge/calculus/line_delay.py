"""Largest delay of a packet in one queue of a line, from the queue's service curve."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from qosforge.calculus.bounds import NOTHING, RateLatency, delay_bound, full_queue_delay, held_back
from qosforge.calculus.hierarchy_curves import htb_curves, tree_curves
from qosforge.calculus.line_traffic import QueueTraffic, whole_line
from qosforge.calculus.priority_curves import behind_first, first_served, rest_of
from qosforge.calculus.queue_curves import Curves, shaped_queue
from qosforge.calculus.shaping_bounds import busy_period
from qosforge.calculus.share_curves import shaped_share, weighted
from qosforge.calculus.stages import EgressLine
from qosforge.twin.schedulers import (
    CbqScheduler,
    DcbqeScheduler,
    DcbqScheduler,
    FairScheduler,
    FifoScheduler,
    HtbScheduler,
    SrrScheduler,
    TreeScheduler,
    queue_shapes,
)

_SUSPENDING = (CbqScheduler, DcbqScheduler, DcbqeScheduler)


def largest_delay(line: EgressLine, queue: int, queues: Mapping[int, QueueTraffic]) -> Fraction | None:
    """Largest stay in a queue in seconds, the packet's own transmission included; None where no bound is known."""
    bounds = [_of_any_order(line, queues)]
    curves = None if isinstance(line.discipline, FairScheduler) else _curves(line, queue, queues)
    if curves is not None:
        arrivals = curves.arrivals
        if queue in line.fair:
            bounds.append(None if arrivals is None else busy_period(arrivals, curves.strict))
        else:
            bounds.append(None if arrivals is None else delay_bound(arrivals, curves.in_order))
            bounds.append(_when_full(line, curves.together | {queue}, queues, curves.strict))
    return min((bound for bound in bounds if bound is not None), default=None)


def _when_full(
    line: EgressLine, together: Iterable[int], queues: Mapping[int, QueueTraffic], service: RateLatency
) -> Fraction | None:
    held = Fraction(0)
    for number in together:
        limit = line.limits[number] if number < len(line.limits) else None
        if limit is None:
            return None
        held += (limit + line.ring) * queues[number].largest
    return full_queue_delay(held, service)


def _of_any_order(line: EgressLine, queues: Mapping[int, QueueTraffic]) -> Fraction | None:
    """Whoever goes first, all is sent by the end of a busy period.

    Not so where a class is held back while the line is free.
    """
    discipline = line.discipline
    idles = (
        isinstance(discipline, (HtbScheduler, TreeScheduler, *_SUSPENDING))
        or queue_shapes(discipline)
        or (isinstance(discipline, SrrScheduler) and discipline.shape)
    )
    total = NOTHING
    for traffic in queues.values():
        if idles or traffic.arrivals is None:
            return None
        total += traffic.arrivals
    return busy_period(total, _whole(line, queues))


def _whole(line: EgressLine, queues: Mapping[int, QueueTraffic]) -> RateLatency:
    return whole_line(line, min(traffic.smallest for traffic in queues.values()))


def _curves(line: EgressLine, queue: int, queues: Mapping[int, QueueTraffic]) -> Curves | None:
    """The service curves of a queue, and the arrivals that they hold for."""
    discipline = line.discipline
    whole = _whole(line, queues)
    largest = max(traffic.largest for traffic in queues.values())
    rest = held_back(whole, (line.ring - 1) * largest)
    match discipline:
        case FifoScheduler():
            return shaped_queue(Curves(whole, whole, queues[queue].arrivals), line, queue, queues)
        case TreeScheduler() if not discipline.shapes:
            return tree_curves(line, queue, queues, rest)
        case HtbScheduler() if not discipline.shapes:
            return htb_curves(line, queue, queues, rest)
        case TreeScheduler() | HtbScheduler() | CbqScheduler() | DcbqScheduler() | DcbqeScheduler():
            return None
    first = first_served(line, queues)
    if any(queue in level.members for level in first):
        return shaped_queue(behind_first(line, queue, queues, first, whole), line, queue, queues)
    left = rest_of(line, queues, first, rest)
    if left is None:
        return None
    if (found := shaped_share(line, queue, queues, left)) is not None:
        return found
    apart = {number for level in first for number in level.members}
    service = weighted(line, queue, queues, left, apart)
    curves = None if service is None else Curves(service, service, queues[queue].arrivals)
    return shaped_queue(curves, line, queue, queues)
