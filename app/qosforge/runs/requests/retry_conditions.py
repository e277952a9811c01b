"""The conditions of a retry: at which stages it may begin, and what it needs of the last attempt."""

from __future__ import annotations

from qosforge.errors import Place
from qosforge.runs.record.expired import require_artifacts
from qosforge.runs.record.invalid_state import FINISH, BetweenStates, InvalidState, require_status
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import StageSummary
from qosforge.runs.record.tables import RunStatus, StageOutcome

STARTS = ("read", "measure-before", "push")
"""Stages that a retry may begin at; later ones touch devices and belong to their attempt."""

RETRIED = frozenset({RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.REJECTED, RunStatus.ROLLED_BACK})


def last_summary(store: RunStore, run: Run, name: str) -> StageSummary | None:
    """What a stage of the run's present attempt gave; ``None`` when it did not come to its end."""
    done = [
        stage.summary
        for stage in store.stages(run.id)
        if (stage.name, stage.outcome, stage.run_attempt) == (name, StageOutcome.DONE, run.attempt)
    ]
    return done[-1] if done else None


def require_retriable(store: RunStore, run: Run) -> None:
    """Make sure that a run ended without its change, and left nothing behind.

    Raises:
        InvalidState: it did not.
    """
    require_status(run, RETRIED, "cannot be tried again")
    require_artifacts(store, run)
    if store.journal.open_touches(run.id):
        raise BetweenStates(f"run {run.id} left devices between two states", hint=FINISH)


def require_reached(store: RunStore, run: Run, start: str) -> None:
    """Make sure that the last attempt gave what one that begins at ``start``, later than ``read``, builds upon.

    Raises:
        InvalidState: it did not come that far.
    """
    require_status(run, RETRIED - {RunStatus.REJECTED}, "can only begin at read")
    needed = ["read", "prepare"]
    if start == "push" and run.resolved.measures_before:
        needed.append("measure-before")
    for name in needed:
        if last_summary(store, run, name) is None:
            raise InvalidState(
                f"run {run.id} cannot begin at {start}: its last attempt did not finish {name}",
                Place(path="start"),
                "begin at read",
            )
