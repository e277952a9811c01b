"""Checks of the executors, and of devices that runs left between two states."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa

from qosforge.database.connections import Database, database_url
from qosforge.operations.checks.model import CheckContext, CheckResult, CheckState
from qosforge.runs.engine.executor_leases import LiveExecutor, live_executors
from qosforge.runs.engine.ownership import owner_of
from qosforge.runs.record.journal import unsettled
from qosforge.runs.record.tables import RUNS, RunStatus

_ACTIVE = (RunStatus.PENDING.value, RunStatus.RUNNING.value)


def check_executors(context: CheckContext) -> Iterator[CheckResult]:
    """Somebody carries out runs, all of one release; where there is nobody, no run waits for it."""
    with context.store() as connection:
        if connection is None:
            yield CheckResult("executors", CheckState.GOOD, "no run yet")
            return
        waiting = connection.scalar(sa.select(sa.func.count()).where(RUNS.c.status.in_(_ACTIVE))) or 0
    alive = _living(context)
    told = f"{waiting} runs are under way or wait for one"
    start = "qosforge serve, or finish them with qosforge recover" if context.is_embedded else "qosforge worker"
    holder = _holder(context) if context.is_embedded else None
    if not alive and holder is None:
        state = CheckState.WARNING if waiting or not context.is_embedded else CheckState.GOOD
        yield CheckResult(
            "executors", state, f"none is alive; {told}", "" if state is CheckState.GOOD else f"start {start}"
        )
        return
    versions = {one.workflow_version for one in alive}
    who = ", ".join(f"{one.id} on {one.host} (process {one.pid})" for one in alive) or f"process {holder}"
    if len(versions) > 1:
        message = f"{who} are of {len(versions)} versions of the workflow"
        yield CheckResult(
            "executors", CheckState.WARNING, message, "stop the older ones: they finish what they began"
        )
    else:
        yield CheckResult("executors", CheckState.GOOD, f"{who}; {told}")


def check_worker(context: CheckContext) -> Iterator[CheckResult]:
    """A process of this very machine (or container) carries out runs."""
    with context.store() as connection:
        made = connection is not None
    here = [one for one in _living(context) if one.host == socket.gethostname()] if made else []
    if here:
        yield CheckResult("worker", CheckState.GOOD, ", ".join(f"{one.id} (process {one.pid})" for one in here))
    else:
        yield CheckResult(
            "worker", CheckState.FAILED, f"none is alive on {socket.gethostname()}", "start qosforge worker"
        )


def check_unsettled(context: CheckContext) -> Iterator[CheckResult]:
    """No run stopped with a device between two states."""
    with context.store() as connection:
        if connection is None:
            return
        query = sa.select(RUNS.c.id).where(RUNS.c.status == RunStatus.NEEDS_RECOVERY.value)
        stopped = set(connection.execute(query).scalars())
        active = set(connection.execute(sa.select(RUNS.c.id).where(RUNS.c.status.in_(_ACTIVE))).scalars())
        left = [row for row in connection.execute(unsettled()) if row.run_id not in active]
    stopped |= {row.run_id for row in left}
    if stopped:
        devices = ", ".join(sorted({f"{row.network}/{row.device}" for row in left})) or "no device any more"
        message = f"run {', '.join(sorted(stopped))} stopped half-way ({devices})"
        yield CheckResult("devices", CheckState.FAILED, message, "reach the devices again, then: qosforge recover")
    else:
        yield CheckResult("devices", CheckState.GOOD, "none is between two states")


def _living(context: CheckContext) -> list[LiveExecutor]:
    database = Database(context.settings.database_url)
    try:
        return live_executors(database)
    finally:
        database.close()


def _holder(context: CheckContext) -> int | None:
    """The process that owns the engine of a SQLite installation."""
    return owner_of(Path(str(database_url(context.settings.database_url).database)))
