"""Steps that touch no device: begin, lock devices, wait for people and moments, set the status, release."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from qosforge.compiler.resolve import resolve
from qosforge.errors import StoreError
from qosforge.policy_library.trust import find_distrust
from qosforge.runs.record.interruption import interrupted_outcome
from qosforge.runs.record.leases import DeviceLocked
from qosforge.runs.record.lineage import contributors
from qosforge.runs.record.reason import RECOVER, Reason, reason_of_errors, retry
from qosforge.runs.record.store import Run, RunStore
from qosforge.runs.record.tables import RunStatus, Verdict
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.external_tester import received, waiting_for
from qosforge.runs.workflow.gate import waits
from qosforge.runs.workflow.pause import paused_by
from qosforge.runs.workflow.rollback import originals
from qosforge.tester.measurement.document import Side

Json = dict[str, Any]

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


def begin(context: Context) -> Json:
    """Take the run up; ``over`` when this attempt at it is not wanted any more."""
    run = context.store.begin_attempt(context.run_id, context.attempt)
    if run is None:
        now = context.store.get_run(context.run_id)
        return {"over": True, "status": now.status.value, "verdict": now.verdict.value if now.verdict else None}
    return {"over": False, "start": run.start, "since": context.store.now().isoformat()}


def lock(context: Context, since: str) -> Json:
    """Take the leases of every device in scope, trying for a while.

    Returns:
        ``devices`` when it has them; else ``stop``, ``errors``, or neither: then it is to be tried again.
    """
    devices = scope(context)
    give_up = datetime.fromisoformat(since) + timedelta(seconds=LOCK_SECONDS)

    def attempt() -> Json | None:
        stop = context.stop()
        if stop is not None:
            return {"stop": stop}
        try:
            context.store.leases.acquire(context.run_id, devices, LEASE_SECONDS)
        except DeviceLocked as error:
            if context.store.now() >= give_up or _left_for_good(context, devices):
                return {"errors": [error.document()]}
            say(context, f"devices: {error.message}")
            return None
        say(context, "")
        return {"devices": devices}

    return poll(attempt) or {}


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


def await_measurement(context: Context, when: Side, until: str | None, seconds: float) -> Json:
    """Wait a while for what an external tester gives; ``seconds`` is how long in all, counted from the first step.

    Returns:
        ``until`` (when it is too late), and ``measurement`` (an artifact), ``stop``, ``late``, or none of them.
    """
    end = datetime.fromisoformat(until) if until else context.store.now() + timedelta(seconds=seconds)
    # A first step that was cut short has said till when already, and a measurement may have come since.
    end = say(context, waiting_for(when), end).due or end
    since = end - timedelta(seconds=seconds)

    def given() -> Json | None:
        artifact = received(context.store, context.run_id, when, since)
        return {"measurement": artifact} if artifact is not None else None

    return await_external(context, given, end)


def await_external(context: Context, given: Callable[[], Json | None], end: datetime) -> Json:
    """Wait, for the length of one step, for what somebody outside gives before ``end``.

    Returns:
        ``until`` (``end``), and what was given, ``stop`` where the run has to stop, ``late``, or none of them.
    """

    def attempt() -> Json | None:
        stop = context.stop()
        if stop is not None:
            return {"stop": stop}
        return given() or ({"late": True} if context.store.now() >= end else None)

    found = poll(attempt)
    if found is not None:
        say(context, "")
    return {"until": end.isoformat(), **(found or {})}


def poll(attempt: Callable[[], Json | None]) -> Json | None:
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


def checkpoint(context: Context, devices: list[str]) -> Json:
    """Whether the run has to stop here, and the leases held on if it has not.

    Raises:
        LeaseLost: another run took a device.
    """
    stop = context.stop()
    if stop is None:
        context.store.leases.renew(context.run_id, devices, LEASE_SECONDS)
    return {"stop": stop}


def gate(context: Context, candidate: str) -> Json:
    """Whether the candidate may be entered now; if not, as what and for what the run waits."""
    store = context.store
    run = store.get_run(context.run_id)
    decisions = store.decisions.on(run.id)
    found = waits(
        run,
        candidate,
        rules=context.rules.effective(run.network, context.resolved.approval, context.network.changes),
        emulated=context.lab is not None,
        decisions=decisions,
        hands=lambda: contributors(store.database, run.id, candidate),
        distrust=find_distrust(
            store.database, context.resolved.policy_name, context.resolved.policy_number, run.network
        ),
        now=store.now(),
    )
    if found is None:
        return {"wait": None}
    due = found.due.isoformat() if found.due else None
    return {"wait": {"status": found.status.value, "waits_for": found.waits_for, "due": due}}


def find_hindrance(
    context: Context, devices: list[str], candidate: str | None, seconds: int = LEASE_SECONDS
) -> Json:
    """What keeps a run from touching devices: it has to ``stop``, or to ``wait`` at the gate of its candidate.

    Empty when it may, and holds them for so many ``seconds``. It is asked in the step that touches: what an earlier
    step had found may be long ago where a process died in between.

    Raises:
        LeaseLost: another run took a device.
    """
    stop = context.stop()
    if stop is not None:
        return {"stop": stop}
    wait = gate(context, candidate)["wait"] if candidate is not None else None
    if wait is not None:
        return {"wait": wait}
    context.store.leases.renew(context.run_id, devices, max(seconds, LEASE_SECONDS))
    return {}


def between_waves(context: Context, devices: list[str], number: int, until: str | None, used: float) -> Json:
    """Whether the next wave may begin, waited for as long as one step lasts; the leases are held on meanwhile.

    ``until`` is when a pause that was seen by an earlier step ends, ``used`` the seconds of earlier pauses.

    Returns:
        ``go`` with ``used`` then; ``stop``; ``late`` where the rollout was paused for too long; or none of them.
        With ``until`` where it is paused.

    Raises:
        LeaseLost: another run took a device.
    """
    most = 60.0 * context.network.changes.rollout.pause - used
    end = datetime.fromisoformat(until) if until else None

    def attempt() -> Json | None:
        nonlocal end
        stop = context.stop()
        if stop is not None:
            return {"stop": stop}
        context.store.leases.renew(context.run_id, devices, LEASE_SECONDS)
        by = paused_by(context.store.database, context.run_id)
        now = context.store.now()
        if by is None:
            spent = most - (end - now).total_seconds() if end is not None else 0.0
            return {"go": True, "used": used + max(spent, 0.0)}
        if end is None:
            end = now + timedelta(seconds=most)
            end = say(context, f"qosforge resume before wave {number}: paused by {by}", end).due or end
        return (
            {"late": f"paused by {by} for longer than {context.network.changes.rollout.pause} min"}
            if (now >= end)
            else None
        )

    found = poll(attempt) or {}
    if found:
        say(context, "")
    return {**found, **({"until": end.isoformat()} if end is not None else {})}


def release(context: Context) -> Json:
    """Give the leases back."""
    context.store.leases.release(context.run_id)
    return {}


def set_status(context: Context, status: str, verdict: str | None, told: Json) -> Json:
    """Write where the run stands, unless a later attempt has begun; ``told``: reason, waits_for, due."""
    due = told.get("due")
    context.store.set_status(
        context.run_id,
        RunStatus(status),
        Verdict(verdict) if verdict else None,
        attempt=context.attempt,
        reason=Reason(**told["reason"]) if told.get("reason") else None,
        waits_for=told.get("waits_for", ""),
        due=datetime.fromisoformat(due) if due else None,
    )
    return {}


_UNSETTLED = frozenset({RunStatus.RUNNING, RunStatus.NEEDS_RECOVERY})


def set_settled(context: Context) -> Json:
    """Write how a run ended whose devices are settled now. One that is to begin again, or is over, stays so."""

    saved, touched = context.store.journal.saved(context.run_id), context.store.journal.touched(context.run_id)

    def settle(run: Run, _connection: sa.Connection) -> Mapping[str, Any] | None:
        if run.status not in _UNSETTLED:
            return None
        if run.cancelled_by:
            ended, told = RunStatus.CANCELLED, f"cancelled by {run.cancelled_by}"
        else:
            ended, told = RunStatus.ROLLED_BACK, run.reason or "it was cut short"
        if not saved:
            told += "; its devices are put back"
        why = Reason(told, run.reason_step or "rollback", retry(run.id), run.reason_device)
        status, reason = interrupted_outcome(run.id, saved, touched, why, ended)
        return {"status": status.value, **reason.columns(), "waits_for": "", "due": None}

    if context.store.get_run(context.run_id).status in _UNSETTLED:
        context.store.leases.release(context.run_id)  # of a run that was given up nobody else does it
    context.store.change(context.run_id, settle)
    return {}


def set_stopped(context: Context, errors: Sequence[Json]) -> Json:
    """Write how a run stands that errors (see `QosforgeError.document`) stopped on its way."""
    left = context.store.journal.open_touches(context.run_id)
    status = RunStatus.NEEDS_RECOVERY if left else RunStatus.FAILED
    try:
        reason = reason_of_errors(errors, _last_step(context), retry(context.run_id))
        if left:  # whatever corrects the error: the devices are put back first
            reason = replace(reason, hint=RECOVER)
        context.store.set_status(context.run_id, status, attempt=context.attempt, reason=reason)
    except StoreError:
        # It was over before: what it ended as stays.
        if not context.store.get_run(context.run_id).status.final:
            raise
    return {}


def _last_step(context: Context) -> str:
    """The step that this attempt came to: the last one that it began."""
    begun = [stage.name for stage in context.store.stages(context.run_id) if stage.run_attempt == context.attempt]
    return begun[-1] if begun else "lock"
