"""Fidelity of a policy tree: the applied share of each class beside the requested one."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.findings import Fidelity, Finding
from qosforge.memoise import memoise
from qosforge.note import note
from qosforge.plan.core import core, rate_in
from qosforge.plan.model import Egress, Queue, Share, ShareUnit
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.plan.requested import requested_shares
from qosforge.plan.shares import expected_shares
from qosforge.platforms.base import ClassFidelity
from qosforge.platforms.cisco_ios.guarantees import served_first

_SAME = 1e-9


def fidelity(
    request: DeviceRequest, interface_request: InterfaceRequest, egress: Egress
) -> tuple[list[ClassFidelity], list[Finding]]:
    """Asked and realised share of every class of an interface when all have traffic, with findings where they
    differ. ``egress`` is the policy that divides the link: that inside of a port's shaping policy."""
    found: list[ClassFidelity] = []
    findings: list[Finding] = []
    queues = egress.scheduler.queues if egress.scheduler else ()
    in_kbps = any(q.share is not None and q.share.unit is ShareUnit.KBPS for q in queues)
    rate = interface_request.usable if in_kbps else rate_in(request.classes, interface_request.usable)
    for c, requested, applied, same in _parts(core(request), egress, rate):
        exact = same and abs(requested - applied) < _SAME
        kind = Fidelity.EXACT if exact else Fidelity.APPROXIMATE
        found.append(ClassFidelity(c.name, interface_request.name, kind, requested * 100, applied * 100))
        if abs(requested - applied) < _SAME:
            continue
        within = abs(requested - applied) <= request.tolerance + _SAME
        findings.append(
            note(
                "share-approximate" if within else "share-out-of-tolerance",
                class_place(request, c, interface=interface_request.name, direction="output"),
                requested=f"{requested * 100:.4g} %",
                applied=f"{applied * 100:.4g} %",
                variant="of-link",
            )
        )
    return found, findings


@memoise
def _parts(
    request: DeviceRequest, egress: Egress, rate: int
) -> tuple[tuple[ClassRequest, float, float, bool], ...]:
    return tuple(_shares(request, request.classes, egress, rate))


def _shares(
    request: DeviceRequest,
    classes: tuple[ClassRequest, ...],
    egress: Egress,
    rate: int,
    parts: tuple[float, float] = (1.0, 1.0),
) -> Iterator[tuple[ClassRequest, float, float, bool]]:
    """Each class with its asked and realised part of the link, and whether it is served in the way asked for.

    ``parts`` are those of what these classes divide.
    """
    scheduler = egress.scheduler
    assert scheduler is not None
    requested = requested_shares(classes, rate)
    queues = tuple(
        _as_offered(queue, requested[c.name], rate)
        if c.treatment.priority and queue.share and not served_first(request, c)
        else queue
        for c, queue in zip(classes, scheduler.queues, strict=True)
    )
    made = expected_shares(scheduler.model_copy(update={"queues": queues}), rate, priority_load=0.0)
    for c, queue, part in zip(classes, scheduler.queues, made, strict=True):
        in_kind = queue.priority == (c.treatment.priority is not None) and not (
            c.children and not c.treatment.bounded
        )
        wanted, held = requested[c.name] * parts[0], part * parts[1]
        yield c, wanted, held, in_kind
        if queue.child is not None:
            yield from _shares(request, c.children, queue.child, queue.shape_rate or rate, (wanted, held))


def _as_offered(queue: Queue, share: float, rate: int) -> Queue:
    """A class that stands in for a priority class: it has its rate to send, whatever is reserved for it."""
    kbps = Share(unit=ShareUnit.KBPS, value=round(share * rate / 1000))
    return queue.model_copy(update={"priority": True, "capped": True, "share": kbps})
