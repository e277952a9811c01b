"""The fluid model on a 2970's ports: each has weights, shapes and a limit of its own."""

from __future__ import annotations

from qosforge.memoise import memoise
from qosforge.plan.core import NOMINAL
from qosforge.plan.model import Scheduler
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.plan.requested import requested_shares
from qosforge.plan.shares import expected_shares
from qosforge.platforms.ios_switch.queues import QueueAssignment
from qosforge.platforms.share_fidelity import ClassShare


def port_shares(
    request: DeviceRequest, interface_request: InterfaceRequest, scheduler: Scheduler, assignment: QueueAssignment
) -> tuple[ClassShare, ...]:
    """Shares of every class on one port, of the rate that it may send: asked for, and given.

    The scheduler's own shares are of the port's whole rate.
    """
    requested = requested_shares(request.classes, interface_request.usable)
    scale = interface_request.rate / interface_request.usable if scheduler.limit_percent is not None else 1.0
    given = _applied_shares(request.classes, tuple(requested.values()), assignment, scheduler, scale)
    return tuple(
        ClassShare(entry, interface_request.name, requested[entry.name], applied)
        for entry, applied in zip(request.classes, given, strict=True)
    )


@memoise
def _applied_shares(
    classes: tuple[ClassRequest, ...],
    parts: tuple[float, ...],
    assignment: QueueAssignment,
    scheduler: Scheduler,
    scale: float,
) -> tuple[float, ...]:
    """What every class gets; ``parts`` are what they ask for, ``scale`` the rate of the port over the usable one.

    The scheduler holds weights: the rate itself does not matter.
    """
    requested = {c.name: part for c, part in zip(classes, parts, strict=True)}
    first = sum(requested[c.name] for c in classes if c.treatment.priority)
    applied = expected_shares(
        scheduler, NOMINAL, priority_load=first / scale, backlogged=set(assignment.queue_of.values())
    )
    by_queue = {q.number: share * scale for q, share in zip(scheduler.queues, applied, strict=True)}
    result = []
    for entry in classes:
        queue = assignment.queue_of[entry.name]
        mates = [n for n, q in assignment.queue_of.items() if q == queue]
        together = sum(requested[n] for n in mates)
        # Classes that ask for nothing share what their queue gets all the same.
        part = requested[entry.name] / together if together else 1 / len(mates)
        result.append(1.0 if entry.treatment.priority else by_queue[queue] * part)
    return tuple(result)
