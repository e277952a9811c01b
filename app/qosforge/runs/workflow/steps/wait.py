"""Steps that touch no device: begin, lock devices, wait for people and moments, set the status, release."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

import sqlalchemy as sa

from qosforge.compiler.resolve import resolve
from qosforge.errors import StoreError
from qosforge.policy_library.trust import find_distrust
from qosforge.runs.record.interruption import adding_put_back, interrupted_outcome, put_back
from qosforge.runs.record.leases import DeviceLocked
from qosforge.runs.record.lineage import contributors
from qosforge.runs.record.reason import RECOVER, Reason, reason_of_errors, retry
from qosforge.runs.record.rolled_back import originals
from qosforge.runs.record.run import Run
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import RunStatus, Verdict
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.external_tester import received, waiting_for
from qosforge.runs.workflow.gate import waits
from qosforge.runs.workflow.pause import paused_by
from qosforge.runs.workflow.results import (
    AwaitedMeasurement,
    Beginning,
    CheckpointResult,
    Done,
    GateResult,
    Hindrance,
    LockResult,
    WaitResult,
    WaveTurn,
)
from qosforge.tester.measurement.document import Side

T = TypeVar("T")
Waited = TypeVar("Waited", bound=WaitResult)

LEASE_SECONDS = 1800
TRY_SECONDS = 10.0
"""Length of one step that waits: a process that shuts down waits for it."""
POLL_SECONDS = 0.5
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


def begin(context: Context) -> Beginning:
    """Take the run up; it is over when this attempt at it is not wanted any more."""
    run = context.store.begin_attempt(context.run_id, context.attempt)
    if run is None:
        now = context.store.get_run(context.run_id)
        return Beginning(over=True, status=now.status, verdict=now.verdict)
    return Beginning(over=False, start=run.start, since=context.store.now())


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


def await_measurement(context: Context, when: Side, until: datetime | None, seconds: float) -> AwaitedMeasurement:
    """Wait a while for what an external tester gives, for so many ``seconds`` in all from the first step on."""
    end = until or context.store.now() + timedelta(seconds=seconds)
    # A first step that was cut short has said till when already, and a measurement may have come since.
    end = say(context, waiting_for(when), end).due or end
    since = end - timedelta(seconds=seconds)

    def given() -> AwaitedMeasurement | None:
        artifact = received(context.store, context.run_id, when, since)
        return AwaitedMeasurement(until=end, measurement=artifact) if artifact is not None else None

    return await_external(context, AwaitedMeasurement, given, end)


def await_external(
    context: Context, result: type[Waited], given: Callable[[], Waited | None], end: datetime
) -> Waited:
    """Wait, for the length of one step, for what somebody outside gives before ``end``."""

    def attempt() -> Waited | None:
        stop = context.stop()
        if stop is not None:
            return result(until=end, stop=stop)
        return given() or (result(until=end, late=True) if context.store.now() >= end else None)

    found = poll(attempt)
    if found is not None:
        say(context, "")
    return found or result(until=end)


def poll(attempt: Callable[[], T | None]) -> T | None:
    """What an attempt gives as soon as it gives something, tried for the length of one step that waits."""
    give_up = time.monotonic() + TRY_SECONDS
    while True:
        found = attempt()
        if found is not None or time.monotonic() >= give_up:
            return found
        time.sleep(POLL_SECONDS)


def say(context: Context, waits_for: str, due: datetime | None = None) -> Run:
    """Show on a running run what it waits for; till when stays as it was said first."""

    def say(run: Run, _connection: sa.Connection) -> Mapping[str, Any] | None:
        mine = run.attempt == context.attempt and run.status is RunStatus.RUNNING
        return {"waits_for": waits_for, "due": due} if mine and run.waits_for != waits_for else None

    return context.store.change(context.run_id, say)


def checkpoint(context: Context, devices: list[str]) -> CheckpointResult:
    """Whether the run has to stop here, and the leases held on if it has not.

    Raises:
        LeaseLost: another run took a device.
    """
    stop = context.stop()
    if stop is None:
        context.store.leases.renew(context.run_id, devices, LEASE_SECONDS)
    return CheckpointResult(stop=stop)


def gate(context: Context, candidate: str) -> GateResult:
    """Whether the candidate may be entered now; if not, as what and for what the run waits."""
    store = context.store
    run = store.get_run(context.run_id)
    decisions = store.decisions.on(run.id)
    wait = waits(
        run,
        candidate,
        rules=context.rules.effective(run.network, context.resolved.approval, context.network.changes),
        emulated=context.lab is not None,
        decisions=decisions,
        contributors=lambda: contributors(store.database, run.id, candidate),
        distrust=find_distrust(
            store.database, context.resolved.policy_name, context.resolved.policy_number, run.network
        ),
        now=store.now(),
    )
    return GateResult(wait=wait)


def find_hindrance(
    context: Context, devices: list[str], candidate: str | None, seconds: int = LEASE_SECONDS
) -> Hindrance | None:
    """What keeps a run from touching devices: it has to stop, or to wait at the gate of its candidate.

    ``None`` when it may, and holds them for so many ``seconds``. It is asked in the step that touches: what an
    earlier step had found may be long ago where a process died in between.

    Raises:
        LeaseLost: another run took a device.
    """
    stop = context.stop()
    if stop is not None:
        return Hindrance(stop=stop)
    wait = gate(context, candidate).wait if candidate is not None else None
    if wait is not None:
        return Hindrance(wait=wait)
    context.store.leases.renew(context.run_id, devices, max(seconds, LEASE_SECONDS))
    return None


def between_waves(
    context: Context, devices: list[str], number: int, until: datetime | None, used: float
) -> WaveTurn:
    """Whether the next wave may begin, waited for as long as one step lasts; the leases are held on meanwhile.

    ``until`` is when a pause that was seen by an earlier step ends, ``used`` the seconds of earlier pauses.

    Raises:
        LeaseLost: another run took a device.
    """
    most = 60.0 * context.network.changes.rollout.pause - used
    end = until

    def attempt() -> WaveTurn | None:
        nonlocal end
        stop = context.stop()
        if stop is not None:
            return WaveTurn(stop=stop)
        context.store.leases.renew(context.run_id, devices, LEASE_SECONDS)
        by = paused_by(context.store.database, context.run_id)
        now = context.store.now()
        if by is None:
            spent = most - (end - now).total_seconds() if end is not None else 0.0
            return WaveTurn(go=True, used=used + max(spent, 0.0))
        if end is None:
            end = now + timedelta(seconds=most)
            end = say(context, f"qosforge resume before wave {number}: paused by {by}", end).due or end
        late = f"paused by {by} for longer than {context.network.changes.rollout.pause} min"
        return WaveTurn(late=late) if now >= end else None

    found = poll(attempt)
    if found is not None:
        say(context, "")
    turn = found or WaveTurn()
    if end is not None:
        turn.until = end
    return turn


def release(context: Context) -> Done:
    """Give the leases back."""
    context.store.leases.release(context.run_id)
    return Done()


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


_UNSETTLED = frozenset({RunStatus.RUNNING, RunStatus.NEEDS_RECOVERY})


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
