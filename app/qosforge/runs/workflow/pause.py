"""Pausing a rollout before its next wave, until somebody resumes it or the allowed time is over."""

from __future__ import annotations

import sqlalchemy as sa

from qosforge.database.connections import Database
from qosforge.runs.record.invalid_state import InvalidState
from qosforge.runs.record.lineage import RunAction
from qosforge.runs.record.rollout_record import last_plan
from qosforge.runs.record.run import Run
from qosforge.runs.record.stages import Stage
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import PushSummary
from qosforge.runs.record.tables import RUN_ACTIONS, RunStatus

_ABOUT = (RunAction.PAUSED, RunAction.RESUMED, RunAction.RETRIED)
"""What begins or ends a pause: another attempt begins without one."""


def paused_by(database: Database, run_id: str) -> str | None:
    """Who paused a run; ``None`` where it goes on."""
    last = (
        sa.select(RUN_ACTIONS.c.deed, RUN_ACTIONS.c.by)
        .where(RUN_ACTIONS.c.run_id == run_id, RUN_ACTIONS.c.deed.in_([action.value for action in _ABOUT]))
        .order_by(RUN_ACTIONS.c.seq.desc())
        .limit(1)
    )
    row = database.query(lambda connection: connection.execute(last).one_or_none())
    return str(row.by) if row is not None and row.deed == RunAction.PAUSED else None


def require_pausable(store: RunStore, run: Run) -> None:
    """Make sure that a wave of the run is still to come, and that nobody has paused it.

    Raises:
        InvalidState: it is over, has no wave left to wait for, or is paused already.
    """
    if run.status.final or run.status is RunStatus.NEEDS_RECOVERY:
        raise InvalidState(f"run {run.id} is over: {run.status.value.replace('_', ' ')}", hint="look at the run")
    if not _waves_left(store.stages(run.id), run.attempt):
        raise InvalidState(
            f"run {run.id} has no wave left to pause before", hint="qosforge cancel stops it, and puts devices back"
        )
    by = paused_by(store.database, run.id)
    if by is not None:
        raise InvalidState(f"run {run.id} is paused by {by} already", hint=f"qosforge resume {run.id}")


def require_paused(store: RunStore, run: Run) -> None:
    """Make sure that somebody paused the run.

    Raises:
        InvalidState: nobody did, or it is over.
    """
    if run.status.final or paused_by(store.database, run.id) is None:
        raise InvalidState(f"run {run.id} is not paused", hint="look at the run")


def _waves_left(stages: list[Stage], attempt: int) -> bool:
    """Whether a wave is to come after another; before the waves are planned nobody knows better."""
    mine = [stage for stage in stages if stage.run_attempt == attempt]
    planned = last_plan(mine)
    # A push that was cut short is another attempt at the same stage, and counts once.
    pushes = [(stage, stage.summary.wave) for stage in mine if isinstance(stage.summary, PushSummary)]
    begun = {wave for _, wave in pushes if wave is not None}
    now = any(stage.outcome is None for stage, _ in pushes)
    return planned is None or max(len(begun) + now, 1) < len(planned)
