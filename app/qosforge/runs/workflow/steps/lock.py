"""The steps that lease a run its devices, and give them back: which ones, and for how long they are waited for."""

from __future__ import annotations

from datetime import datetime, timedelta

from qosforge.compiler.resolve import resolve
from qosforge.runs.record.leases import LEASE_SECONDS, DeviceLocked
from qosforge.runs.record.rollbacks import originals
from qosforge.runs.record.run import Run
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.results import (
    Done,
    LockResult,
)
from qosforge.runs.workflow.steps.wait import poll, say

SETTLING_SECONDS = 60
"""Within that a service begins to settle what a stopped run left; it looks every ten seconds."""
LOCK_SECONDS = 3600
"""How long a run without a deadline waits for devices that another holds."""


def scope(context: Context) -> list[str]:
    """The devices that a run may touch; known before any of them is read."""
    if context.resolved.rollback_of is not None:
        return sorted(originals(context.store, context.resolved.rollback_of))
    requests, _ = resolve(context.intent, context.network)
    only = context.resolved.only
    return sorted(request.device for request in requests if not only or request.device in only)


def lock(context: Context, since: datetime | None) -> LockResult:
    """Take the leases of every device in scope, trying for a while."""
    devices = scope(context)
    give_up = (since or context.store.now()) + timedelta(seconds=LOCK_SECONDS)

    def attempt() -> LockResult | None:
        stop = context.stop()
        if stop is not None:
            return LockResult(stop=stop)
        try:
            context.store.leases.acquire(context.run_id, devices, LEASE_SECONDS)
        except DeviceLocked as error:
            if context.store.now() >= give_up or _left_for_good(context, devices):
                return LockResult(errors=[StepError.of(error)])
            say(context, f"devices: {error.message}")
            return None
        say(context, "")
        return LockResult(devices=devices)

    return poll(attempt) or LockResult()


def _left_for_good(context: Context, devices: list[str]) -> bool:
    """Whether a run left a device between two states, and nobody is about to put it back."""
    store = context.store
    return any(
        touch.device in devices
        for run in store.runs_in({RunStatus.NEEDS_RECOVERY})
        if run.network == context.network.name and run.id != context.run_id and not _soon_settled(store, run)
        for touch in store.journal.open_touches(run.id)
    )


def _soon_settled(store: RunStore, run: Run) -> bool:
    """Whether a try at putting back what a stopped run left is under way, or the first one is still to come."""
    tries = [s for s in store.stages(run.id) if s.name == "rollback" and s.run_attempt == run.attempt]
    if tries:
        return tries[-1].ended is None
    return store.now() < run.updated + timedelta(seconds=SETTLING_SECONDS)


def release(context: Context) -> Done:
    """Give the leases back."""
    context.store.leases.release(context.run_id)
    return Done()
