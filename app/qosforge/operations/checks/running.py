"""Who carries out runs, and runs that nobody carries on."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa

from qosforge.database.connections import Database, database_url
from qosforge.operations.checks.model import Result, State, Surroundings
from qosforge.runs.engine.executor_leases import Living, executors
from qosforge.runs.engine.ownership import owner_of
from qosforge.runs.record.journal import unsettled
from qosforge.runs.record.tables import RUNS, RunStatus

_ACTIVE = (RunStatus.PENDING.value, RunStatus.RUNNING.value)


def check_executors(around: Surroundings) -> Iterator[Result]:
    """Somebody carries out runs, all of one release; where there is nobody, no run waits for it."""
    with around.store() as connection:
        if connection is None:
            yield Result("executors", State.GOOD, "no run yet")
            return
        waiting = connection.scalar(sa.select(sa.func.count()).where(RUNS.c.status.in_(_ACTIVE))) or 0
    alive = _living(around)
    told = f"{waiting} runs are under way or wait for one"
    start = "qosforge serve, or finish them with qosforge recover" if around.is_embedded else "qosforge worker"
    holder = _holder(around) if around.is_embedded else None
    if not alive and holder is None:
        state = State.WARNING if waiting or not around.is_embedded else State.GOOD
        yield Result("executors", state, f"none is alive; {told}", "" if state is State.GOOD else f"start {start}")
        return
    versions = {one.workflow_version for one in alive}
    who = ", ".join(f"{one.id} on {one.host} (process {one.pid})" for one in alive) or f"process {holder}"
    if len(versions) > 1:
        message = f"{who} are of {len(versions)} versions of the workflow"
        yield Result("executors", State.WARNING, message, "stop the older ones: they finish what they began")
    else:
        yield Result("executors", State.GOOD, f"{who}; {told}")


def check_worker(around: Surroundings) -> Iterator[Result]:
    """A process of this very machine (or container) carries out runs."""
    with around.store() as connection:
        made = connection is not None
    here = [one for one in _living(around) if one.host == socket.gethostname()] if made else []
    if here:
        yield Result("worker", State.GOOD, ", ".join(f"{one.id} (process {one.pid})" for one in here))
    else:
        yield Result("worker", State.FAILED, f"none is alive on {socket.gethostname()}", "start qosforge worker")


def check_unsettled(around: Surroundings) -> Iterator[Result]:
    """No run stopped with a device between two states."""
    with around.store() as connection:
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
        yield Result("devices", State.FAILED, message, "reach the devices again, then: qosforge recover")
    else:
        yield Result("devices", State.GOOD, "none is between two states")


def _living(around: Surroundings) -> list[Living]:
    database = Database(around.settings.database_url)
    try:
        return executors(database)
    finally:
        database.close()


def _holder(around: Surroundings) -> int | None:
    """The process that owns the engine of a SQLite installation."""
    return owner_of(Path(str(database_url(around.settings.database_url).database)))
