"""The steps that write where a run stands: taken up, ended, settled, stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from qosforge.errors import StoreError
from qosforge.runs.record.interruption import adding_put_back, interrupted_outcome, put_back
from qosforge.runs.record.reason import RECOVER, Reason, reason_of_errors, retry
from qosforge.runs.record.run import Run
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.tables import RunStatus, Verdict
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.results import (
    Beginning,
    Done,
)

_UNSETTLED = frozenset({RunStatus.RUNNING, RunStatus.NEEDS_RECOVERY})


def begin(context: Context) -> Beginning:
    """Take the run up; it is over when this attempt at it is not wanted any more."""
    run = context.store.begin_attempt(context.run_id, context.attempt)
    if run is None:
        now = context.store.get_run(context.run_id)
        return Beginning(over=True, status=now.status, verdict=now.verdict)
    return Beginning(over=False, start=run.start, since=context.store.now())


def set_status(
    context: Context,
    status: RunStatus,
    verdict: Verdict | None,
    *,
    reason: Reason | None,
    waits_for: str,
    due: datetime | None,
) -> Done:
    """Write where the run stands, unless a later attempt has begun."""
    context.store.set_status(
        context.run_id, status, verdict, attempt=context.attempt, reason=reason, waits_for=waits_for, due=due
    )
    return Done()


def set_settled(context: Context) -> Done:
    """Write how a run ended whose devices are settled now. One that is to begin again, or is over, stays so."""

    saved, touched = context.store.journal.saved(context.run_id), context.store.journal.touched(context.run_id)

    def settle(run: Run, _connection: sa.Connection) -> Mapping[str, Any] | None:
        if run.status not in _UNSETTLED:
            return None
        if run.cancelled_by:
            step = run.reason_step or "rollback"
            why = Reason(f"cancelled by {run.cancelled_by}", step, retry(run.id), run.reason_device)
            ended = RunStatus.CANCELLED
        else:
            ended, why = RunStatus.ROLLED_BACK, put_back(run)
        if not saved:
            why = adding_put_back(why)
        status, reason = interrupted_outcome(run.id, saved, touched, why, ended)
        return {"status": status.value, **reason.columns(), "waits_for": "", "due": None}

    if context.store.get_run(context.run_id).status in _UNSETTLED:
        context.store.leases.release(context.run_id)  # of a run that was given up nobody else does it
    context.store.change(context.run_id, settle, settles=True)
    return Done()


def set_stopped(context: Context, errors: Sequence[StepError]) -> Done:
    """Write how a run stands that errors stopped on its way."""
    left = context.store.journal.open_touches(context.run_id)
    status = RunStatus.NEEDS_RECOVERY if left else RunStatus.FAILED
    try:
        reason = reason_of_errors(errors, _last_step(context), retry(context.run_id))
        if left:  # whatever corrects the error: the devices are put back first
            reason = replace(reason, hint=RECOVER, parts=())
        context.store.set_status(context.run_id, status, attempt=context.attempt, reason=reason)
    except StoreError:
        # It was over before: what it ended as stays.
        if not context.store.get_run(context.run_id).status.final:
            raise
    return Done()


def _last_step(context: Context) -> str:
    """The step that this attempt came to: the last one that it began."""
    begun = [stage.name for stage in context.store.stages(context.run_id) if stage.run_attempt == context.attempt]
    return begun[-1] if begun else "lock"
