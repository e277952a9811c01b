"""Status events: which changes of a run are events, and the columns of a run that begins another attempt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qosforge.runs.record.reason import NO_REASON, REASON_TEXTS
from qosforge.runs.record.tables import RunStatus

if TYPE_CHECKING:
    from qosforge.runs.record.run import Run

ASKS = "a word on whether to keep what is not shown to be met"
"""What a run says it waits for that asks whether to keep its change."""


def next_attempt_columns(start: str, run: Run) -> dict[str, Any]:
    """Columns of a run that begins another attempt, at the stage ``start``."""
    return {
        "status": RunStatus.PENDING.value,
        "attempt": run.attempt + 1,
        "start": start,
        "verdict": None,
        "due": None,
        "waits_for": "",
        **NO_REASON,
        "rolled_back_by": None,
    }


def event_fields(run: Run) -> tuple[object, ...]:
    """What of a run is an event when it changes."""
    return run.status, run.verdict, run.attempt, run.waits_for


def status_event_data(run: Run) -> dict[str, Any]:
    """Where it stands, as the data of an event."""
    return {
        "status": run.status.value,
        "verdict": run.verdict.value if run.verdict else None,
        "attempt": run.attempt,
        "waits_for": run.waits_for,
        **{name: getattr(run, name) for name in REASON_TEXTS},
    }
