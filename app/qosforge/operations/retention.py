"""Retention: drops artifacts and events of old runs; their records stay."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from qosforge.access.audit_log import drop_old_addresses
from qosforge.access.sessions import drop_old_sessions
from qosforge.audit.file_audits import drop_old_file_audits
from qosforge.database.connections import Database
from qosforge.errors import InputError
from qosforge.operations.artifact_store import ArtifactCollection
from qosforge.operations.references import EXPIRED_SINCE, Expired, mark_sweep, references
from qosforge.runs.record.expired import RETENTION_STAGE
from qosforge.runs.record.journal import unsettled
from qosforge.runs.record.tables import (
    BASELINES,
    EVENTS,
    IDEMPOTENCY_KEYS,
    JOURNAL,
    RUNS,
    STAGES,
    UNFINISHED,
    JournalAction,
    RunStatus,
    StageOutcome,
)
from qosforge.sweeps.tables import SWEEP_POINTS, SWEEPS

_RUN = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_KEEP = re.compile(r"([0-9]{1,5}) *(d|w|h)")
_UNIT = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}

_MARGIN = timedelta(hours=1)
"""What a run begins from is stored a little before its row is."""


@dataclass(frozen=True, slots=True)
class RetentionResult:
    """The result of a retention, or of its dry run.

    ``before`` is the moment before which runs had to end; ``artifacts_before`` the one before which an artifact had
    to be stored last: earlier where ``held_by`` names an unfinished run (or one with a device between two states).
    """

    before: datetime
    artifacts_before: datetime
    held_by: str | None
    runs: tuple[str, ...]
    """Runs whose artifacts were given up by this call."""
    events: int
    keys: int
    artifacts: int
    bytes: int


def duration(text: str) -> timedelta:
    """``90d``, ``12w`` or ``36h`` as a duration.

    Raises:
        InputError: it is none of these, or none at all.
    """
    found = _KEEP.fullmatch(text.strip())
    if found is None or int(found[1]) == 0:
        raise InputError(f"{text!r} is no time to keep", hint="write 90d, 12w or 36h")
    return int(found[1]) * _UNIT[found[2]]


def retain(
    database: Database, collection: ArtifactCollection, keep: timedelta, now: datetime, *, dry_run: bool = False
) -> RetentionResult:
    """Drop artifacts, events and idempotency keys of runs that ended longer than ``keep`` ago.

    Web sessions and audits of files of a day ago go, too. Runs, stages, journal, approvals and the audit log stay.
    The run that had the last word on a device stays whole: its drift is told by it, and it can be rolled back. So
    does whatever an unfinished run, or a device between two states, may need: no artifact goes that was stored
    after the oldest of these began. What a device said when it was last read stays, too.

    Raises:
        InputError: ``keep`` reaches back further than time.
        StoreError: the store or the artifacts cannot be written.
    """
    try:
        before = now - keep
    except OverflowError as error:
        raise InputError("nothing is as old as that", hint="keep for a shorter time") from error

    def tidy(connection: sa.Connection) -> tuple[list[str], Expired, int, int]:
        over = _over(connection, before, hold=not dry_run)
        marked = set(
            connection.execute(sa.select(STAGES.c.run_id).where(STAGES.c.name == RETENTION_STAGE)).scalars()
        )
        fresh = [run for run in over if run not in marked]
        if not dry_run:
            drop_old_sessions(connection, now)
            drop_old_addresses(connection, now)
            drop_old_file_audits(connection, now)
        events = _of(connection, EVENTS, over, drop=not dry_run)
        keys = _of(connection, IDEMPOTENCY_KEYS, over, drop=not dry_run)
        if fresh and not dry_run:
            connection.execute(sa.insert(STAGES), [_mark(run, now) for run in fresh])
        sweeps = _sweeps_over(connection, before)
        for sweep, params in sweeps.items() if not dry_run else ():
            if EXPIRED_SINCE not in params:
                mark_sweep(connection, sweep, params, now)
        return fresh, Expired(frozenset(over), frozenset(sweeps)), events, keys

    if dry_run:
        with database.read() as connection:
            fresh, over, events, keys = tidy(connection)
    else:
        fresh, over, events, keys = database.transact(tidy)
    with database.read() as connection:
        oldest = _oldest_need(connection)
        reach = before if oldest is None else min(before, oldest[1] - _MARGIN)
        named = references(connection, over)
    old = {artifact: size for artifact, size in collection.older(reach) if artifact not in named}
    gone = len(old) if dry_run else collection.drop(old, reach)
    held_by = oldest[0] if oldest is not None and reach < before else None
    return RetentionResult(before, reach, held_by, tuple(fresh), events, keys, gone, sum(old.values()))


def _over(connection: sa.Connection, before: datetime, *, hold: bool) -> list[str]:
    """Runs that ended before, and that nothing may come back to; ``hold`` them: none is retried meanwhile."""
    unfinished = [status.value for status in UNFINISHED]
    # A run that undoes another one reads what that one held.
    live = connection.execute(sa.select(RUNS.c.params).where(RUNS.c.status.in_(unfinished))).scalars()
    needed = {run for params in live for run in _RUN.findall(json.dumps(params))}
    needed |= {row.run_id for row in connection.execute(unsettled())} | _standing(connection)
    query = (
        sa.select(RUNS.c.id).where(RUNS.c.updated < before, RUNS.c.status.not_in(unfinished)).order_by(RUNS.c.id)
    )
    query = query.with_for_update(key_share=True) if hold else query
    return [run for run in connection.execute(query).scalars() if run not in needed]


def _sweeps_over(connection: sa.Connection, before: datetime) -> dict[str, dict[str, Any]]:
    """Sweeps of before whose every point ended, with their parameters."""
    open_points = sa.select(SWEEP_POINTS.c.sweep_id).where(SWEEP_POINTS.c.ended.is_(None))
    over = (SWEEPS.c.created < before) & SWEEPS.c.id.not_in(open_points)
    rows = connection.execute(sa.select(SWEEPS.c.id, SWEEPS.c.params).where(over).order_by(SWEEPS.c.id))
    return {row.id: row.params for row in rows}


def _standing(connection: sa.Connection) -> set[str]:
    """Runs whose word on some device is the last one: its drift is told by them, and they can be rolled back."""
    confirmed = (
        sa.select(sa.func.max(JOURNAL.c.run_id))
        .join(RUNS, RUNS.c.id == JOURNAL.c.run_id)
        .where(RUNS.c.status == RunStatus.KEPT.value, JOURNAL.c.action == JournalAction.CONFIRMED.value)
        .group_by(RUNS.c.network, JOURNAL.c.device)
    )
    settled = sa.select(BASELINES.c.run_id)
    return {*connection.execute(settled).scalars(), *connection.execute(confirmed).scalars()}


def _mark(run: str, now: datetime) -> dict[str, Any]:
    return {
        "run_id": run,
        "name": RETENTION_STAGE,
        "attempt": 1,
        "started": now,
        "ended": now,
        "outcome": StageOutcome.DONE.value,
        "summary": {"text": "artifacts and events dropped"},
    }


def _of(connection: sa.Connection, table: sa.Table, runs: list[str], *, drop: bool) -> int:
    """Count the rows of these runs, and drop them."""
    found = 0
    for start in range(0, len(runs), 500):
        mine = table.c.run_id.in_(runs[start : start + 500])
        found += connection.scalar(sa.select(sa.func.count()).select_from(table).where(mine)) or 0
        if drop:
            connection.execute(sa.delete(table).where(mine))
    return found


def _oldest_need(connection: sa.Connection) -> tuple[str, datetime] | None:
    """The oldest run that is not over or left a device between two states, and when it began."""
    touched = [row.run_id for row in connection.execute(unsettled())]
    live = RUNS.c.status.in_([status.value for status in UNFINISHED]) | RUNS.c.id.in_(touched)
    row = connection.execute(
        sa.select(RUNS.c.id, RUNS.c.created).where(live).order_by(RUNS.c.created).limit(1)
    ).one_or_none()
    return None if row is None else (row.id, row.created)
