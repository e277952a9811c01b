"""The steps that wait: for a measurement of somebody outside, for a pause between waves to end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

import sqlalchemy as sa

from qosforge.runs.record.leases import LEASE_SECONDS
from qosforge.runs.record.run import Run
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.external_tester import received, waiting_for
from qosforge.runs.workflow.pause import paused_by
from qosforge.runs.workflow.results import (
    AwaitedMeasurement,
    WaitResult,
    WaveTurn,
)
from qosforge.tester.measurement.document import Side

T = TypeVar("T")
Waited = TypeVar("Waited", bound=WaitResult)

TRY_SECONDS = 10.0
"""Length of one step that waits: a process that shuts down waits for it."""
POLL_SECONDS = 0.5


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
