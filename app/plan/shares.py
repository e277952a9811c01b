"""The fluid model: what share of a link each queue of a scheduler gets when all of them are backlogged."""

from __future__ import annotations

from app.plan.model import Discipline, Queue, Scheduler, ShareUnit


def expected_shares(scheduler: Scheduler, rate: int) -> tuple[float, ...]:
    """Shares of the link rate (0–1) by queue, every queue backlogged.

    Capped priority queues get their cap, an uncapped one everything; what they leave is divided by weight, with
    guarantees in kb/s or per cent taken of the link and remaining per cents of what is left (IOS QoS guide,
    CBWFQ; weighted fairness: Demers, Keshav and Shenker 1989).
    """
    shares = [0.0] * len(scheduler.queues)
    left = 1.0
    for position, queue in enumerate(scheduler.queues):
        if queue.priority:
            shares[position] = min(left, _absolute(queue, rate)) if queue.capped else left
            left -= shares[position]
    weights = [0.0 if q.priority else _weight(q, rate, left) for q in scheduler.queues]
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
    """A class without a guarantee (class-default) takes what the guarantees leave."""
    free = max(left - sum(weights), 0.0)
    unset = [i for i, q in enumerate(scheduler.queues) if not q.priority and q.share is None]
    return [free / len(unset) if i in unset else w for i, w in enumerate(weights)]
