"""The gate before a push: trust in the policy, approval, start time, and the network's change windows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from qosforge.access.roles import NotAllowed
from qosforge.inventory.changes import first_open
from qosforge.runs.record.approval_rule import awaited_approval
from qosforge.runs.record.decisions import Decision
from qosforge.runs.record.run import Run
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.workflow.rules import EffectiveRules

LOOK_AGAIN = timedelta(minutes=10)
"""When a run is looked at again that waits for no moment that is known."""


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
    rules: EffectiveRules,
    emulated: bool,
    decisions: Sequence[Decision],
    contributors: Callable[[], Collection[str]],
    distrust: NotAllowed | None = None,
    now: datetime,
) -> Wait | None:
    """What a run that would enter ``candidate`` has to wait for; ``None`` when it may go on.

    ``emulated``: whether its devices are a lab's. ``contributors`` gives those who had a hand in the change: with
    four eyes their approval counts for nothing. ``distrust`` says why its policy may not be run there by now.
    """
    if distrust is not None:
        return _scheduled(run, f"{distrust.message}: {distrust.hint}", now + LOOK_AGAIN)
    if rules.unreadable:
        return _scheduled(run, rules.unreadable, now + LOOK_AGAIN)
    if any(one.read_only(emulated=emulated) for one in rules.changes):
        # A folder elsewhere may share the name, and be writable.
        by = f" by {rules.file}" if rules.file else ""
        return _scheduled(run, f"network {run.network} to be writable{by}", now + LOOK_AGAIN)
    awaited = awaited_approval(rules.approval, candidate, decisions, contributors)
    if awaited is not None:
        return Wait(RunStatus.NEEDS_APPROVAL, awaited, run.deadline)
    begins = max(now, run.not_before or now)
    opening = first_open(rules.changes, begins)
    if opening is None:
        return _scheduled(
            run, "change windows that never meet, of when it was created and of now", now + LOOK_AGAIN
        )
    if opening <= now:
        return None
    closed = (one.closed_by(moment) for moment in (now, begins) for one in rules.changes)
    why = next(filter(None, closed), "its time")
    return _scheduled(run, f"{why}: until {opening:%Y-%m-%d %H:%M:%S}Z", opening)


def _scheduled(run: Run, waits_for: str, due: datetime) -> Wait:
    return Wait(RunStatus.SCHEDULED, waits_for, min(due, run.deadline or due))
