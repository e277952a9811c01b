"""What shares of a link an intent's classes ask for, before a box has rounded anything."""

from __future__ import annotations

from collections.abc import Sequence

from app.intent.models import Treatment
from app.plan.model import Discipline, Queue, Scheduler, Share, ShareUnit
from app.plan.request import ClassRequest
from app.plan.shares import expected_shares
from app.sharing import shared


def asked_shares(classes: Sequence[ClassRequest], rate: int) -> dict[str, float]:
    """Share of the link (0–1) that each class asks for when all have traffic.

    ``rate`` is the link's rate in bits per second. Priority classes ask for their cap, those without one for
    nothing that can be told; classes without a bandwidth share what the guarantees leave.
    """
    asked = tuple(classes)
    # The rate of the link says something of shares given as rates alone.
    shares = _shares(asked, rate if _by_rate(asked) else 1)
    return {c.name: share for c, share in zip(asked, shares, strict=True)}


def _first(treatment: Treatment) -> bool | None:
    """Whether a priority has a cap; None where there is no priority."""
    return treatment.priority.capped if treatment.priority else None


@shared
def _by_rate(classes: tuple[ClassRequest, ...]) -> bool:
    shares = [asked_share(c.treatment) for c in classes]
    return any(share is not None and share.unit is ShareUnit.KBPS for share in shares)


@shared
def _shares(classes: tuple[ClassRequest, ...], rate: int) -> tuple[float, ...]:
    asked = [(_first(c.treatment), asked_share(c.treatment)) for c in classes]
    queues = tuple(
        Queue(number=number, priority=first is not None, capped=bool(first), share=share)
        for number, (first, share) in enumerate(asked)
    )
    scheduler = Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=queues)
    return expected_shares(scheduler, rate, priority_load=0.0)


def guaranteed_share(classes: Sequence[ClassRequest], wanted: ClassRequest, rate: int) -> float:
    """The share of a link (0–1) that a class is given by its own words, however much the others ask for."""
    asked = asked_shares(classes, rate)
    share = asked_share(wanted.treatment)
    if share is None or share.unit is ShareUnit.WEIGHT:
        return asked[wanted.name]
    if share.unit is ShareUnit.KBPS:
        return share.value * 1000 / rate
    left = 1 - sum(asked[c.name] for c in classes if c.treatment.priority)
    return share.value / 100 * (left if share.unit is ShareUnit.REMAINING_PERCENT else 1.0)


def asked_share(treatment: Treatment) -> Share | None:
    """The share in the unit the intent gives it in; None where it gives none."""
    asked = treatment.priority or treatment.bandwidth
    if asked is None:
        return None
    if asked.percent is not None:
        return Share(unit=ShareUnit.PERCENT, value=asked.percent)
    if asked.rate is not None:
        return Share(unit=ShareUnit.KBPS, value=asked.rate // 1000)
    if treatment.bandwidth and treatment.bandwidth.weight is not None:
        return Share(unit=ShareUnit.WEIGHT, value=treatment.bandwidth.weight)
    remaining = treatment.bandwidth.remaining_percent if treatment.bandwidth else None
    return Share(unit=ShareUnit.REMAINING_PERCENT, value=remaining) if remaining is not None else None
