"""A write probe: insert the rows of a new run and delete them, in one transaction."""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa

from qosforge.database.connections import Database
from qosforge.runs.record.ids import new_run_id
from qosforge.runs.record.tables import EVENTS, RUNS, SCHEMA_VERSION, STAGES, RunStatus

_LOCK_SECONDS = 0.3


def probe_writing(database: Database) -> None:
    """Write a run with a stage and an event, and delete them in the same transaction: nobody ever sees them.

    While somebody else writes for long, such as a backup that copies the store, nothing is tried.

    Raises:
        StoreError: a run could not be written now.
    """
    run, now = new_run_id(), datetime.now(UTC)
    named = {"network": "", "policy": "", "policy_version": "", "status": RunStatus.PENDING.value, "params": {}}
    row = {**named, "id": run, "created": now, "updated": now, "schema_version": SCHEMA_VERSION}

    def write(connection: sa.Connection) -> None:
        connection.execute(sa.insert(RUNS).values(row))
        connection.execute(sa.insert(STAGES).values(run_id=run, name="", attempt=1, started=now, summary={}))
        connection.execute(sa.insert(EVENTS).values(run_id=run, kind="", data={}, at=now))
        for table in (EVENTS, STAGES):
            connection.execute(sa.delete(table).where(table.c.run_id == run))
        connection.execute(sa.delete(RUNS).where(RUNS.c.id == run))

    database.attempt(write, _LOCK_SECONDS)
