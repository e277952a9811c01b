"""The canonical form of an interface side: equal for sides that mean the same."""

from __future__ import annotations

from qosforge.plan.model import Egress, Ingress


def canonical_form(side: Ingress | Egress) -> Ingress | Egress:
    """A side with the alternatives of its rules in one order, those of policies inside its queues likewise.

    Their order means nothing, and a device keeps the one in which they were entered.
    """
    rules = [
        r.model_copy(update={field: tuple(sorted(getattr(r, field), key=repr)) for field in ("any_of", "none_of")})
        for r in side.rules
    ]
    change: dict[str, object] = {"rules": tuple(rules)}
    if isinstance(side, Egress) and side.scheduler and any(q.child for q in side.scheduler.queues):
        queues = [
            q if q.child is None else q.model_copy(update={"child": canonical_form(q.child)})
            for q in side.scheduler.queues
        ]
        change["scheduler"] = side.scheduler.model_copy(update={"queues": tuple(queues)})
    return side.model_copy(update=change)
