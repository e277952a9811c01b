"""When the devices of a run that stopped half-way are tried next: for all to see, and to be brought forward.

The row is the only clock, whichever executor looks: the pause follows from when the run stopped, or from when
somebody last asked for a try.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta

import sqlalchemy as sa

from qosforge.database.connections import Database
from qosforge.runs.record.events import EventKind, Events
from qosforge.runs.record.run import Run
from qosforge.runs.record.tables import RUNS, RunStatus

FIRST_PAUSE = timedelta(minutes=1)
LONGEST_PAUSE = timedelta(minutes=30)


def pause_after_try(events: Events, run: Run, now: datetime) -> timedelta:
    """How long a try at ``now`` is waited for until the next one: each time twice as long, up to half an hour.

    The n-th pause begins once the n - 1 before it are over, so the time since the run stopped says which it is.
    """
    asked = events.newest(run.id, 1, EventKind.TRY)
    since = max([run.updated, *(event.at for event in asked)])
    passed = max(now - since, timedelta()) / FIRST_PAUSE
    return min(FIRST_PAUSE * (1 << int(math.log2(passed + 1))), LONGEST_PAUSE)


def set_next_try(database: Database, run_id: str, at: datetime) -> None:
    """Write when it is tried; nothing where the run does not stand half-way any more. It stays as it was else: when
    it stopped is what its time says.
    """

    def work(connection: sa.Connection) -> None:
        _set(connection, run_id, at)
        database.announce(connection)

    database.transact(work)


def bring_forward(database: Database, events: Events, run_id: str, at: datetime, by: str) -> bool:
    """Let it be tried at once, as somebody asks, and tell so; False where the run does not stand half-way."""

    def work(connection: sa.Connection) -> bool:
        half_way = _set(connection, run_id, at)
        if half_way:
            events.write(connection, run_id, EventKind.TRY, {"by": by})
            database.announce(connection)
        return half_way

    return database.transact(work)


def _set(connection: sa.Connection, run_id: str, at: datetime) -> bool:
    half_way = (RUNS.c.id == run_id) & (RUNS.c.status == RunStatus.NEEDS_RECOVERY.value)
    return bool(connection.execute(sa.update(RUNS).where(half_way).values(due=at)).rowcount)
