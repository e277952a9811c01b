"""The canonical form of an interface side: equal for sides that mean the same."""

from __future__ import annotations

from qosforge.plan.model import Egress, Ingress, Queue
from qosforge.plan.terms import one_by_one


def canonical_form(side: Ingress | Egress) -> Ingress | Egress:
    """A side with the alternatives of its rules in one order, those of policies inside its queues likewise.

    Their order means nothing, and a device keeps the one in which they were entered. Nor does it mean anything
    whether values of a mark stand in one line or in one each, and which curves of early detection are entered
    although they are the device's own.
    """
    rules = [
        r.model_copy(update={field: one_by_one(getattr(r, field)) for field in ("any_of", "none_of")})
        for r in side.rules
    ]
    change: dict[str, object] = {"rules": tuple(rules)}
    if isinstance(side, Egress) and side.scheduler:
        queues = tuple(map(_canonical_queue, side.scheduler.queues))
        change["scheduler"] = side.scheduler.model_copy(update={"queues": queues})
    return side.model_copy(update=change)


def _canonical_queue(queue: Queue) -> Queue:
    change: dict[str, object] = {}
    if queue.child is not None:
        change["child"] = canonical_form(queue.child)
    if queue.red is not None and queue.red.stated:
        change["red"] = queue.red.model_copy(update={"stated": ()})
    return queue.model_copy(update=change) if change else queue
