"""How near a switch's queues come to the shares that classes request, as fidelity and findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from qosforge.findings import Fidelity, Finding
from qosforge.memoise import memoise
from qosforge.note import note
from qosforge.plan.core import rate_in
from qosforge.plan.model import Scheduler, ShareUnit
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.plan.requested import asked_share, requested_shares
from qosforge.plan.shares import expected_shares
from qosforge.platforms.base import ClassFidelity
from qosforge.queue_assignment.shares import divide_queues

EXACT = 5e-4
"""Shares that differ by less (0.05 points of the link rate) are told as exact."""


@dataclass(frozen=True)
class ClassShare:
    """A class's share of one interface (0–1): what the requested one and the one that the scheduler gives."""

    traffic_class: ClassRequest
    interface: str
    requested: float
    applied: float

    @property
    def error(self) -> float:
        """Distance between the two."""
        return abs(self.applied - self.requested)


def class_shares(
    request: DeviceRequest, scheduler: Scheduler, queue_of: Mapping[str, int]
) -> tuple[ClassShare, ...]:
    """The shares of every class on every scheduled interface, all with one scheduler (see `port_shares`)."""
    ports = (i for i in request.interfaces if i.schedule)
    return tuple(share for port in ports for share in port_shares(request, port, scheduler, queue_of))


def port_shares(
    request: DeviceRequest, interface_request: InterfaceRequest, scheduler: Scheduler, queue_of: Mapping[str, int]
) -> Iterator[ClassShare]:
    """The shares of every class on an interface, of the rate that it may send.

    Weighted shares are told with the priority classes at what they ask for; an uncapped priority class itself
    gets whatever is offered, up to the whole link, which is what one without a cap asks for. Classes in one queue
    divide it as they asked.
    """
    # These devices hold weights and per cents: the rate matters to what is asked alone.
    classes, usable = request.classes, interface_request.usable
    queues = tuple(queue_of[c.name] for c in classes)
    # The shares of a scheduler that holds its port below its rate are those of the whole rate.
    scale = interface_request.rate / usable if scheduler.limit_percent is not None else 1.0
    served = _served(classes, queues, scheduler, rate_in(classes, usable), scale)
    for c, (requested, applied) in zip(classes, served, strict=True):
        yield ClassShare(c, interface_request.name, requested, applied)


@memoise
def _served(
    classes: tuple[ClassRequest, ...], queues: tuple[int, ...], scheduler: Scheduler, rate: int, scale: float
) -> tuple[tuple[float, float], ...]:
    """For every class what it asks for and what it gets; ``scale`` is the rate of the port over the usable one."""
    requested = requested_shares(classes, rate)
    first = sum(requested[c.name] for c in classes if c.treatment.priority)
    shares = expected_shares(scheduler, rate, priority_load=first / scale, backlogged=set(queues))
    by_queue = {q.number: share * scale for q, share in zip(scheduler.queues, shares, strict=True)}
    applied = divide_queues(requested, dict(zip(requested, queues, strict=True)), by_queue)
    return tuple(
        (requested[c.name], applied[c.name])
        if (priority := c.treatment.priority) is None
        else (requested[c.name] if priority.capped else 1.0, 1.0)
        for c in classes
    )


def fidelity(shares: tuple[ClassShare, ...]) -> tuple[ClassFidelity, ...]:
    """Fidelity per class and interface."""
    return tuple(
        ClassFidelity(
            s.traffic_class.name,
            s.interface,
            Fidelity.EXACT if s.error < EXACT else Fidelity.APPROXIMATE,
            round(s.requested * 100, 4),
            round(s.applied * 100, 4),
        )
        for s in shares
    )


def share_findings(request: DeviceRequest, shares: tuple[ClassShare, ...]) -> Iterator[Finding]:
    """One finding for every weighted class whose share is not the one asked for (its worst interface)."""
    by_class: dict[str, list[ClassShare]] = {}
    for share in shares:
        by_class.setdefault(share.traffic_class.name, []).append(share)
    for c in request.classes:
        mine = by_class.get(c.name)
        if not mine or c.treatment.priority:
            continue
        worst = max(mine, key=lambda s: s.error)
        if worst.error < EXACT:
            continue
        beyond = worst.error > request.tolerance
        yield note(
            "share-out-of-tolerance" if beyond else "share-approximate",
            class_place(request, c, direction="output"),
            requested=format_percent(worst.requested),
            applied=format_percent(worst.applied),
        )


def priority_findings(request: DeviceRequest) -> Iterator[Finding]:
    """What one strict queue without a cap means for the priority classes."""
    first = [c for c in request.classes if c.treatment.priority]
    for c in first:
        if c.treatment.priority and not c.treatment.priority.capped:
            continue  # it asks for whatever is offered to it
        requested = requested_shares(request.classes, min(i.usable for i in request.interfaces))[c.name]
        yield note(
            "priority-cap-not-enforced",
            class_place(request, c, direction="output"),
            requested=format_percent(requested),
            applied=format_percent(1.0),
        )
    for c in first[1:]:
        yield note(
            "priority-queues-exceeded",
            class_place(request, c, direction="output"),
            requested="a strict queue of its own",
            applied=f"shares the queue of {first[0].name}",
            first=first[0].name,
        )


def rate_findings(request: DeviceRequest) -> Iterator[Finding]:
    """Refusals of shares given as rates: the device holds weights only."""
    for c in request.classes:
        share = asked_share(c.treatment)
        if share is not None and share.unit is ShareUnit.KBPS:
            yield note(
                "rate-share-unsupported",
                class_place(request, c, direction="output"),
                requested=f"{share.value} kb/s",
            )


def queue_names(queue_of: Mapping[str, int]) -> dict[str, str]:
    """``queue N`` to the first class that it serves: devices have no names for their queues."""
    result: dict[str, str] = {}
    for name, queue in queue_of.items():
        result.setdefault(f"queue {queue}", name)
    return result


def format_percent(share: float) -> str:
    """A share as text."""
    return f"{share * 100:.1f}".removesuffix(".0") + " %"
