"""The shares of a link that the classes of an intent request, before a device rounds them."""

from __future__ import annotations

from collections.abc import Sequence

from qosforge.intent.models import Treatment
from qosforge.memoise import memoise, memoise_at_most
from qosforge.plan.model import Discipline, Queue, Scheduler, Share, ShareUnit
from qosforge.plan.request import ClassRequest
from qosforge.plan.shares import expected_shares


def requested_shares(classes: Sequence[ClassRequest], rate: int) -> dict[str, float]:
    """Share of the link (0–1) that each class asks for when all have traffic.

    ``rate`` is the link's rate in bits per second. Priority classes ask for their cap, those without one for
    nothing that can be told; classes without a bandwidth share what the guarantees leave. One that is bounded or
    shaped asks for no more than that, and what it leaves goes to the others.
    """
    requested = tuple(classes)
    # The rate of the link says something of shares and shapes given as rates alone.
    shares = _shares(requested, rate if _by_rate(requested) else 1)
    return {c.name: share for c, share in zip(requested, shares, strict=True)}


def _first(treatment: Treatment) -> bool | None:
    """Whether a priority has a cap; None where there is no priority."""
    return treatment.priority.capped if treatment.priority else None


@memoise
def _by_rate(classes: tuple[ClassRequest, ...]) -> bool:
    shares = [asked_share(c.treatment) for c in classes]
    return any(share is not None and share.unit is ShareUnit.KBPS for share in shares) or any(
        c.treatment.shape is not None for c in classes
    )


@memoise
def _shares(classes: tuple[ClassRequest, ...], rate: int) -> tuple[float, ...]:
    requested = [(_first(c.treatment), asked_share(c.treatment)) for c in classes]
    queues = tuple(
        Queue(number=number, priority=first is not None, capped=bool(first), share=share)
        for number, (first, share) in enumerate(requested)
    )
    scheduler = Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=queues)
    free = expected_shares(scheduler, rate, priority_load=0.0)
    left = 1 - sum(part for part, (first, _) in zip(free, requested, strict=True) if first is not None)
    bounds: dict[int, float] = {}
    for number, (c, part) in enumerate(zip(classes, free, strict=True)):
        if c.treatment.priority:
            continue
        own = [_guarantee(requested[number][1], part, left, rate)] if c.treatment.bounded else []
        own += [c.treatment.shape.rate_of(rate) / rate] if c.treatment.shape else []
        bounds |= {number: min(own)} if own else {}
    return expected_shares(scheduler, rate, priority_load=0.0, bounds=bounds) if bounds else free


def guaranteed_share(classes: Sequence[ClassRequest], class_request: ClassRequest, rate: int) -> float:
    """The share of a link (0–1) that a class is given by its own words, however much the others ask for."""
    requested = requested_shares(classes, rate)
    left = 1 - sum(requested[c.name] for c in classes if c.treatment.priority)
    return _guarantee(asked_share(class_request.treatment), requested[class_request.name], left, rate)


def _guarantee(share: Share | None, nominal: float, left: float, rate: int) -> float:
    """A share as part of the link; ``nominal`` is that of a class whose own words give none."""
    if share is None or share.unit is ShareUnit.WEIGHT:
        return nominal
    if share.unit is ShareUnit.KBPS:
        return share.value * 1000 / rate
    return share.value / 100 * (left if share.unit is ShareUnit.REMAINING_PERCENT else 1.0)


@memoise_at_most(1024)
def asked_share(treatment: Treatment) -> Share | None:
    """The share in the unit the intent gives it in; None where it gives none."""
    requested = treatment.priority or treatment.bandwidth
    if requested is None:
        return None
    if requested.percent is not None:
        return Share(unit=ShareUnit.PERCENT, value=requested.percent)
    if requested.rate is not None:
        return Share(unit=ShareUnit.KBPS, value=requested.rate // 1000)
    if treatment.bandwidth and treatment.bandwidth.weight is not None:
        return Share(unit=ShareUnit.WEIGHT, value=treatment.bandwidth.weight)
    remaining = treatment.bandwidth.remaining_percent if treatment.bandwidth else None
    return Share(unit=ShareUnit.REMAINING_PERCENT, value=remaining) if remaining is not None else None
