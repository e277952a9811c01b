"""Which artifacts the rows of the run store refer to: what a backup must hold, and what a retention must leave.

An id counts wherever it stands as a whole value in what a program wrote; what people wrote is not searched for ids.
Tables that an older schema does not have yet refer to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from qosforge.policy_library.tables import POLICIES
from qosforge.runs.record.expired import RETENTION_STAGE
from qosforge.runs.record.tables import (
    APPROVALS,
    BASELINES,
    EVENTS,
    EXTERNAL_MEASUREMENTS,
    JOURNAL,
    READINGS,
    RUNS,
    STAGES,
)
from qosforge.sweeps.tables import SWEEP_POINTS, SWEEPS

EXPIRED_SINCE = "expired"
"""In the parameters of a sweep: when a retention let go of its artifacts."""

_ID = re.compile(r"[0-9a-f]{64}")
_BATCH = 500

_BY_RUN: tuple[tuple[sa.Column[Any], ...], ...] = (
    (RUNS.c.id, RUNS.c.params),
    (STAGES.c.run_id, STAGES.c.summary),
    (JOURNAL.c.run_id, JOURNAL.c.before, JOURNAL.c.delta, JOURNAL.c.inverse),
    (APPROVALS.c.run_id, APPROVALS.c.candidate),
    (EXTERNAL_MEASUREMENTS.c.run_id, EXTERNAL_MEASUREMENTS.c.measurement),
    (EVENTS.c.run_id, EVENTS.c.data),
)


@dataclass(frozen=True, slots=True)
class Reference:
    """An artifact's id, and in words the first row found that refers to it."""

    artifact: str
    named_by: str


@dataclass(frozen=True, slots=True)
class Expired:
    """Ids of runs and sweeps whose artifacts a retention may take: their rows refer to nothing any more."""

    runs: frozenset[str] = frozenset()
    sweeps: frozenset[str] = frozenset()


def expired(connection: sa.Connection) -> Expired:
    """The runs and sweeps that earlier retentions marked."""
    runs = connection.execute(sa.select(STAGES.c.run_id).where(STAGES.c.name == RETENTION_STAGE)).scalars()
    if SWEEPS.name not in _tables(connection):
        return Expired(frozenset(runs))
    sweeps = connection.execute(sa.select(SWEEPS.c.id, SWEEPS.c.params))
    return Expired(frozenset(runs), frozenset(row.id for row in sweeps if EXPIRED_SINCE in row.params))


def mark_sweep(connection: sa.Connection, sweep: str, params: Mapping[str, Any], now: datetime) -> None:
    """Mark a sweep as expired."""
    marked = {**params, EXPIRED_SINCE: now.isoformat()}
    connection.execute(sa.update(SWEEPS).where(SWEEPS.c.id == sweep).values(params=marked))


def references(connection: sa.Connection, without: Expired) -> dict[str, Reference]:
    """Every artifact that a row refers to, by its id; rows of the runs and sweeps in ``without`` are left out."""
    found: dict[str, Reference] = {}
    for artifact, named_by in _all(connection, _tables(connection), without):
        found.setdefault(artifact, Reference(artifact, named_by))
    return found


def _all(connection: sa.Connection, tables: set[str], without: Expired) -> Iterator[tuple[str, str]]:
    for run, *columns in _BY_RUN:
        if run.table.name in tables:
            for row in _rows(connection, run, *columns):
                if row[0] not in without.runs:
                    yield from ((artifact, f"run {row[0]}") for artifact in _ids(row[1:]))
    if POLICIES.name in tables:
        for row in _rows(connection, POLICIES.c.name, POLICIES.c.number, POLICIES.c.text, POLICIES.c.included):
            named_by = f"policy {row.name} version {row.number}"
            yield from ((artifact, named_by) for artifact in _inside([row.text, *row.included.values()]))
    for table, what in ((READINGS, "last reading"), (BASELINES, "baseline")):
        if table.name in tables:
            for row in _rows(connection, table.c.network, table.c.device, table.c.artifact):
                yield row.artifact, f"{what} of {row.network}/{row.device}"
    if SWEEPS.name in tables:
        sweeps: tuple[sa.Column[Any], ...] = (SWEEPS.c.id, SWEEPS.c.params)
        points = (SWEEP_POINTS.c.sweep_id, SWEEP_POINTS.c.params, SWEEP_POINTS.c.result)
        for wanted in (sweeps, points):
            for row in _rows(connection, *wanted):
                if row[0] not in without.sweeps:
                    yield from ((artifact, f"sweep {row[0]}") for artifact in _ids(row[1:]))


def _tables(connection: sa.Connection) -> set[str]:
    return set(sa.inspect(connection).get_table_names())


def _rows(connection: sa.Connection, *columns: sa.Column[Any]) -> Iterator[sa.Row[Any]]:
    return iter(connection.execute(sa.select(*columns).execution_options(yield_per=_BATCH)))


def _ids(columns: tuple[Any, ...]) -> Iterator[str]:
    for value in columns:
        if isinstance(value, Mapping):
            # A comment of a decision, and values of parameters, are people's own words.
            yield from _inside([one for name, one in value.items() if name not in ("comment", "parameters")])
        else:
            yield from _inside(value)


def _inside(value: Any) -> Iterator[str]:
    match value:
        case str():
            if _ID.fullmatch(value):
                yield value
        case Mapping():
            for one in value.values():
                yield from _inside(one)
        case list() | tuple():
            for one in value:
                yield from _inside(one)
