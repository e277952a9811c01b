"""The fluid model: what share of a link each queue of a scheduler gets when all of them are backlogged."""

from __future__ import annotations

from collections.abc import Collection

from app.plan.model import Discipline, Queue, Scheduler, ShareUnit


def expected_shares(
    scheduler: Scheduler, rate: int, *, priority_load: float = 1.0, backlogged: Collection[int] | None = None
) -> tuple[float, ...]:
    """Shares of the link rate (0–1) by queue, in the scheduler's order.

    ``backlogged`` are the numbers of the queues that have traffic (all unless given); ``priority_load`` is what
    is offered to an uncapped priority queue, as a part of the link. Capped priority queues get their cap, an
    uncapped one what is offered; what they leave is divided by weight, with
    guarantees in kb/s or per cent taken of the link and remaining per cents of what is left (IOS QoS guide,
    CBWFQ; weighted fairness: Demers, Keshav and Shenker 1989). Shaped SRR
    queues get their part of the port's rate and no share (Catalyst 2970 guide, SRR).
    """
    if backlogged is not None:
        kept = tuple(q for q in scheduler.queues if q.number in backlogged)
        part = expected_shares(scheduler.model_copy(update={"queues": kept}), rate, priority_load=priority_load)
        by_number = {q.number: share for q, share in zip(kept, part, strict=True)}
        return tuple(by_number.get(q.number, 0.0) for q in scheduler.queues)
    shares = [0.0] * len(scheduler.queues)
    left = 1.0 if scheduler.limit_percent is None else scheduler.limit_percent / 100
    for position, queue in enumerate(scheduler.queues):
        if queue.priority:
            shares[position] = min(left, _absolute(queue, rate) if queue.capped else priority_load)
            left -= shares[position]
    for position, queue in enumerate(scheduler.queues):
        if queue.shape_weight and not queue.priority:
            shares[position] = min(left, 1 / queue.shape_weight)
            left -= shares[position]
    weights = [0.0 if q.priority or q.shape_weight else _weight(q, rate, left) for q in scheduler.queues]
    if scheduler.discipline in (Discipline.FIFO, Discipline.FLOW_WFQ):
        weights = [1.0 for _ in scheduler.queues]
    elif scheduler.discipline is Discipline.LLQ_CBWFQ:
        weights = _with_default(scheduler, weights, left)
    total = sum(weights)
    for position, weight in enumerate(weights):
        if weight and total:
            shares[position] = left * weight / total
    return tuple(shares)


def _absolute(queue: Queue, rate: int) -> float:
    if queue.share is None:
        return 1.0
    if queue.share.unit is ShareUnit.KBPS:
        return queue.share.value * 1000 / rate
    return queue.share.value / 100


def _weight(queue: Queue, rate: int, left: float) -> float:
    if queue.share is None:
        return 0.0
    if queue.share.unit is ShareUnit.REMAINING_PERCENT:
        return left * queue.share.value / 100
    if queue.share.unit is ShareUnit.WEIGHT:
        return float(queue.share.value)
    return _absolute(queue, rate)


def _with_default(scheduler: Scheduler, weights: list[float], left: float) -> list[float]:
    """A class without a guarantee (class-default) takes what the others leave; among weights it has weight 1."""
    unset = [i for i, q in enumerate(scheduler.queues) if not q.priority and q.share is None]
    if any(q.share and q.share.unit is ShareUnit.WEIGHT for q in scheduler.queues if not q.priority):
        return [1.0 if i in unset else w for i, w in enumerate(weights)]
    free = max(left - sum(weights), 0.0)
    return [free / len(unset) if i in unset else w for i, w in enumerate(weights)]
