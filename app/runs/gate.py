"""The gate before a change: is it approved, has its time come, is the network open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.inventory.changes import Approval, ChangeRules
from app.runs.decisions import Decision
from app.runs.store import Run
from app.runs.tables import RunStatus


@dataclass(frozen=True)
class Wait:
    """Why a run cannot go on now: as what it waits, for what in words, and when it is looked at again."""

    status: RunStatus
    waits_for: str
    due: datetime | None


def waits(
    run: Run,
    candidate: str,
    *,
    approval: Approval,
    rules: ChangeRules,
    decisions: Sequence[Decision],
    now: datetime,
) -> Wait | None:
    """What a run that would enter ``candidate`` has to wait for; ``None`` when it may go on."""
    if approval != "none" and not _approved(run, candidate, approval, decisions):
        again = "the boxes changed since it was approved: " if any(d.approved for d in decisions) else ""
        whose = "somebody else than who asked" if approval == "four_eyes" else "an approver"
        return Wait(RunStatus.NEEDS_APPROVAL, f"{again}approval of candidate {candidate} by {whose}", run.deadline)
    begins = max(now, run.not_before or now)
    opening = rules.next_open(begins)
    if opening <= now:
        return None
    why = rules.closed_by(now) or rules.closed_by(begins) or "its time"
    due = min(opening, run.deadline or opening)
    return Wait(RunStatus.SCHEDULED, f"{why}: until {opening:%Y-%m-%d %H:%M:%S}Z", due)


def _approved(run: Run, candidate: str, approval: Approval, decisions: Sequence[Decision]) -> bool:
    """Whether the last word on exactly this candidate, of those who count, is an approval."""
    words = [
        decision.approved
        for decision in decisions
        if decision.candidate == candidate and (approval == "any" or decision.by != run.requested_by)
    ]
    return bool(words) and words[-1]
