"""Retention: what runs of long ago left behind is dropped; that they ran, and what they did, stays."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from app.database.connections import Database
from app.errors import InputError
from app.operations.shelves import Shelf
from app.runs.given_up import RETENTION_STAGE
from app.runs.journal import unsettled
from app.runs.tables import (
    APPROVALS,
    EVENTS,
    IDEMPOTENCY_KEYS,
    JOURNAL,
    OUTSIDE_MEASUREMENTS,
    POLICIES,
    READINGS,
    RUNS,
    STAGES,
    SWEEP_POINTS,
    SWEEPS,
    UNFINISHED,
    JournalAction,
    RunStatus,
    StageOutcome,
)

_ARTIFACT = re.compile(r"[0-9a-f]{64}")
_RUN = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_KEEP = re.compile(r"([0-9]{1,5}) *(d|w|h)")
_UNIT = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}

_MARGIN = timedelta(hours=1)
"""What a run begins from is stored a little before its row is."""


@dataclass(frozen=True, slots=True)
class Retained:
    """What a retention dropped, or would drop.

    ``before`` is the moment before which runs had to end; ``artifacts_before`` the one before which an artifact had
    to be stored last: earlier where ``held_by`` names an unfinished run (or one with a box between two states).
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
        raise InputError(f"{text!r} is no time to keep", mend="write 90d, 12w or 36h")
    return int(found[1]) * _UNIT[found[2]]


def retain(database: Database, shelf: Shelf, keep: timedelta, now: datetime, *, dry_run: bool = False) -> Retained:
    """Drop artifacts, events and idempotency keys of runs that ended longer than ``keep`` ago.

    Runs, stages, journal, approvals and the log of calls stay. The run that had the last word on a box stays whole:
    its drift is told by it, and it can be rolled back. So does whatever an unfinished run, or a box between two
    states, may need: no artifact goes that was stored after the oldest of these began. What a box said when it was
    last read stays, too.

    Raises:
        InputError: ``keep`` reaches back further than time.
        StoreError: the store or the artifacts cannot be written.
    """
    try:
        before = now - keep
    except OverflowError as error:
        raise InputError("nothing is as old as that", mend="keep for a shorter time") from error

    def tidy(connection: sa.Connection) -> tuple[list[str], set[str], int, int]:
        over = _over(connection, before, hold=not dry_run)
        marked = set(
            connection.execute(sa.select(STAGES.c.run_id).where(STAGES.c.name == RETENTION_STAGE)).scalars()
        )
        fresh = [run for run in over if run not in marked]
        events = _of(connection, EVENTS, over, drop=not dry_run)
        keys = _of(connection, IDEMPOTENCY_KEYS, over, drop=not dry_run)
        if fresh and not dry_run:
            connection.execute(sa.insert(STAGES), [_mark(run, now) for run in fresh])
        return fresh, set(over), events, keys

    if dry_run:
        with database.read() as connection:
            fresh, over, events, keys = tidy(connection)
    else:
        fresh, over, events, keys = database.transact(tidy)
    with database.read() as connection:
        oldest = _oldest_need(connection)
        reach = before if oldest is None else min(before, oldest[1] - _MARGIN)
        named = set(_named(connection, over, before))
    old = {artifact: size for artifact, size in shelf.older(reach) if artifact not in named}
    gone = len(old) if dry_run else shelf.drop(old, reach)
    held_by = oldest[0] if oldest is not None and reach < before else None
    return Retained(before, reach, held_by, tuple(fresh), events, keys, gone, sum(old.values()))


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


def _standing(connection: sa.Connection) -> set[str]:
    """Runs whose word on some box is the last one: its drift is told by them, and they can be rolled back."""
    settled = (RunStatus.KEPT.value, RunStatus.NOTHING_TO_DO.value)
    query = (
        sa.select(STAGES.c.run_id, RUNS.c.network, STAGES.c.summary)
        .join(RUNS, RUNS.c.id == STAGES.c.run_id)
        .where(RUNS.c.status.in_(settled), STAGES.c.name.in_(("read", "read-back")))
    )
    last: dict[tuple[str, str], str] = {}
    for row in connection.execute(query):
        for device in row.summary.get("running", {}):
            box = (row.network, device)
            last[box] = max(last.get(box, ""), row.run_id)
    confirmed = (
        sa.select(sa.func.max(JOURNAL.c.run_id))
        .join(RUNS, RUNS.c.id == JOURNAL.c.run_id)
        .where(RUNS.c.status == RunStatus.KEPT.value, JOURNAL.c.action == JournalAction.CONFIRMED.value)
        .group_by(RUNS.c.network, JOURNAL.c.device)
    )
    return {*last.values(), *connection.execute(confirmed).scalars()}


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
    """The oldest run that is not over or left a box between two states, and when it began."""
    touched = [row.run_id for row in connection.execute(unsettled())]
    live = RUNS.c.status.in_([status.value for status in UNFINISHED]) | RUNS.c.id.in_(touched)
    row = connection.execute(
        sa.select(RUNS.c.id, RUNS.c.created).where(live).order_by(RUNS.c.created).limit(1)
    ).one_or_none()
    return None if row is None else (row.id, row.created)


def _named(connection: sa.Connection, over: set[str], before: datetime) -> Iterator[str]:
    """Every artifact id in a row that counts: of a run not ``over``, of a policy or reading, of a young sweep."""
    columns = (
        (RUNS.c.id, RUNS.c.params),
        (STAGES.c.run_id, STAGES.c.summary),
        (JOURNAL.c.run_id, JOURNAL.c.before, JOURNAL.c.delta, JOURNAL.c.inverse),
        (APPROVALS.c.run_id, APPROVALS.c.candidate),
        (OUTSIDE_MEASUREMENTS.c.run_id, OUTSIDE_MEASUREMENTS.c.measurement),
        (EVENTS.c.run_id, EVENTS.c.data),
    )
    for run, *held in columns:
        for row in connection.execute(sa.select(run, *held)):
            if row[0] not in over:
                yield from _ARTIFACT.findall(json.dumps(row[1:]))
    policies = sa.select(POLICIES.c.version, POLICIES.c.text, POLICIES.c.included)
    for row in connection.execute(policies):
        yield from _ARTIFACT.findall(json.dumps(tuple(row)))
    yield from connection.execute(sa.select(READINGS.c.artifact)).scalars()
    open_points = sa.select(SWEEP_POINTS.c.sweep_id).where(SWEEP_POINTS.c.ended.is_(None))
    young = SWEEP_POINTS.c.sweep_id.in_(
        sa.select(SWEEPS.c.id).where((SWEEPS.c.created >= before) | SWEEPS.c.id.in_(open_points))
    )
    points = sa.select(SWEEP_POINTS.c.params, SWEEP_POINTS.c.result).where(young)
    sweeps = sa.select(SWEEPS.c.params).where((SWEEPS.c.created >= before) | SWEEPS.c.id.in_(open_points))
    for row in (*connection.execute(points), *connection.execute(sweeps)):
        yield from _ARTIFACT.findall(json.dumps(tuple(row)))
