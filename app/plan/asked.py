"""What shares of a link an intent's classes ask for, before a box has rounded anything."""

from __future__ import annotations

from collections.abc import Sequence

from app.intent.models import Treatment
from app.plan.model import Discipline, Queue, Scheduler, Share, ShareUnit
from app.plan.request import ClassRequest
from app.plan.shares import expected_shares


def asked_shares(classes: Sequence[ClassRequest], rate: int) -> dict[str, float]:
    """Share of the link (0–1) that each class asks for when all have traffic.

    ``rate`` is the link's rate in bits per second. Priority classes ask for their cap; classes without a
    bandwidth share what the guarantees leave.
    """
    queues = tuple(
        Queue(
            number=number,
            priority=c.treatment.priority is not None,
            capped=c.treatment.priority is not None,
            share=asked_share(c.treatment),
        )
        for number, c in enumerate(classes)
    )
    shares = expected_shares(Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=queues), rate)
    return {c.name: share for c, share in zip(classes, shares, strict=True)}


def asked_share(treatment: Treatment) -> Share | None:
    """The share in the unit the intent gives it in; None where it gives none."""
    asked = treatment.priority or treatment.bandwidth
    if asked is None:
        return None
    if asked.percent is not None:
        return Share(unit=ShareUnit.PERCENT, value=asked.percent)
    if asked.rate is not None:
        return Share(unit=ShareUnit.KBPS, value=asked.rate // 1000)
    remaining = treatment.bandwidth.remaining_percent if treatment.bandwidth else None
    return Share(unit=ShareUnit.REMAINING_PERCENT, value=remaining) if remaining is not None else None
