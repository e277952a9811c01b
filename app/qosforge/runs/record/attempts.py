"""Attempts at a run: the stages that belong to them, and why each began."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING

from qosforge.runs.record.tables import RunStatus

if TYPE_CHECKING:
    from qosforge.runs.record.events import Event
    from qosforge.runs.record.stages import Stage


def attempt_start(stages: Iterable[Stage], attempt: int) -> datetime | None:
    """When an attempt at a run began its first stage; ``None`` where it began none. By all stages."""
    return min((stage.started for stage in stages if stage.run_attempt == attempt), default=None)


class AttemptCause(StrEnum):
    """Why a run began another attempt."""

    APPROVED = "approved"
    """Somebody approved it."""
    DUE = "due"
    """The time came that it waited for: that of a change window, or its own."""
    RETRIED = "retried"
    """It had ended, and somebody tried it again."""
    INTERRUPTED = "interrupted"
    """Nothing carried the last one on."""


_CAUSES = {RunStatus.NEEDS_APPROVAL: AttemptCause.APPROVED, RunStatus.SCHEDULED: AttemptCause.DUE}


def attempt_causes(events: Iterable[Event]) -> Counter[AttemptCause]:
    """How often a run began another attempt for each cause, by its status events, oldest first."""
    told = [(RunStatus(event.data["status"]), event.data["attempt"]) for event in events]
    return Counter(
        _CAUSES.get(status, AttemptCause.RETRIED if status.final else AttemptCause.INTERRUPTED)
        for (status, attempt), (_, next_attempt) in pairwise(told)
        if next_attempt > attempt
    )
