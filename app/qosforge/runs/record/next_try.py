"""When the devices of a run that stopped half-way are tried next: for all to see, and to be brought forward."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from qosforge.database.connections import Database
from qosforge.runs.record.tables import RUNS, RunStatus


def set_next_try(database: Database, run_id: str, at: datetime) -> None:
    """Write when it is tried; nothing where the run does not stand half-way any more. It stays as it was else: when
    it stopped is what its time says.
    """

    def work(connection: sa.Connection) -> None:
        half_way = (RUNS.c.id == run_id) & (RUNS.c.status == RunStatus.NEEDS_RECOVERY.value)
        connection.execute(sa.update(RUNS).where(half_way).values(due=at))
        database.announce(connection)

    database.transact(work)
