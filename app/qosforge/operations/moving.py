"""Moving an installation from SQLite to a PostgreSQL database: every row and every artifact, in one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from qosforge.access.audit_log import Call, record_call
from qosforge.artifacts.store import ArtifactCorrupt, FileArtifacts
from qosforge.artifacts.tables import ARTIFACTS
from qosforge.database.connections import Database, database_url
from qosforge.errors import InputError, Place, StoreError
from qosforge.operations.artifact_store import FileArtifactCollection
from qosforge.operations.completeness import describe, missing_references
from qosforge.operations.tables import every_table
from qosforge.operations.upgrade import without_executors
from qosforge.runs.record.journal import unsettled
from qosforge.runs.record.tables import EXECUTORS, LEASES, RUNS, RunStatus
from qosforge.settings import Settings

MOVE_ACTION = "qosforge database move"
"""What the audit log calls it."""

_BATCH = 500
_LEFT = {EXECUTORS.name, LEASES.name, ARTIFACTS.name}
"""Tables that are not copied: what processes held that are gone, and artifacts, which were files."""
_AT_WORK = [RunStatus.RUNNING.value, RunStatus.NEEDS_RECOVERY.value]


@dataclass(frozen=True, slots=True)
class MoveResult:
    """What a database was given: rows by table, artifacts, and where they are now."""

    place: str
    rows: Mapping[str, int]
    artifacts: int


def move(settings: Settings, into: str, by: Call, *, allow_incomplete: bool = False) -> MoveResult:
    """Copy a SQLite installation into a PostgreSQL database that has no rows yet; the files stay as they are.

    The engine's record is not taken along: runs that wait begin their next attempt anew, as after an upgrade. The
    audit log of the new database has ``by`` as its newest entry.

    Raises:
        InputError: this installation is not on SQLite, ``into`` is no PostgreSQL database, or it has rows.
        EngineBusy: a process carries out runs of this installation.
        StoreError: a run is under way or devices are between two states; artifacts are missing or damaged, and
            ``allow_incomplete`` is not set; something cannot be read or written.
    """
    place = database_url(into).render_as_string(hide_password=True)
    if database_url(into).get_backend_name() == "sqlite":
        raise InputError("the new database is SQLite, too", Place(path=place), "name one of PostgreSQL")
    with closing(Database(settings.database_url)) as source:
        if not source.is_embedded:
            raise InputError("this installation is on PostgreSQL already", Place(path="QOSFORGE_DATABASE_URL"))
        # Who would write meanwhile waits: what it wrote would be missed.
        with without_executors(settings, source), source.write() as old:
            _require_rest(old)
            files = FileArtifacts(settings.artifacts_dir)
            good = _good_artifacts(settings, files)
            if not allow_incomplete:
                _require_complete(old, settings, good)
            with closing(Database(into)) as target, target.write() as new:
                _require_empty(new, place)
                rows = {table.name: _copy(old, new, table) for table in every_table() if table.name not in _LEFT}
                _store(new, files, good)
                record_call(new, by, datetime.now(UTC))
    return MoveResult(place, rows, len(good))


def _require_rest(connection: sa.Connection) -> None:
    """Make sure that no run is half-way: the engine's record, by which it would go on, stays behind."""
    running = connection.execute(sa.select(RUNS.c.id).where(RUNS.c.status.in_(_AT_WORK))).scalars()
    left = {*running, *(row.run_id for row in connection.execute(unsettled()))}
    if left:
        named = ", ".join(sorted(left)[:5])
        raise StoreError(f"{len(left)} runs are half-way: {named}", hint="finish them first: qosforge recover")


def _good_artifacts(settings: Settings, files: FileArtifacts) -> dict[str, datetime]:
    """Artifacts that are what was stored, and when each was stored last."""
    good = {}
    for artifact, path in FileArtifactCollection(settings.artifacts_dir).files():
        try:
            files.get_bytes(artifact)
        except ArtifactCorrupt:
            continue
        good[artifact] = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return good


def _require_complete(connection: sa.Connection, settings: Settings, good: Mapping[str, datetime]) -> None:
    lacks = missing_references(connection, good)
    if lacks:
        more = f", and {len(lacks) - 1} more" if len(lacks) > 1 else ""
        raise StoreError(
            f"missing or damaged: {describe(lacks[0], damaged=False)}{more}",
            Place(file=str(settings.artifacts_dir)),
            "restore them from a backup, or take what there is with --allow-incomplete",
        )


def _require_empty(connection: sa.Connection, place: str) -> None:
    for table in every_table():
        if connection.scalar(sa.select(sa.exists().select_from(table))):
            hint = "make a new database with createdb"
            raise InputError(f"the new database has rows already, in {table.name}", Place(path=place), hint)


def _copy(old: sa.Connection, new: sa.Connection, table: sa.Table) -> int:
    """Copy a table's rows; how many they are."""
    source, target = _with_json_as(sa.Text(), table), _with_json_as(sa.JSON(none_as_null=True), table)
    documents = [column.name for column in table.columns if isinstance(column.type, sa.JSON)]
    to_own_rows = [key.parent.name for key in table.foreign_keys if key.column.table is table]
    copied = 0
    for rows in old.execute(sa.select(source).execution_options(yield_per=_BATCH)).mappings().partitions():
        new.execute(sa.insert(target), [_read({**row, **dict.fromkeys(to_own_rows)}, documents) for row in rows])
        copied += len(rows)
    for own in to_own_rows:  # once every row is there: such a key may point to a later one
        _copy_own_key(old, new, table, own)
    counted = next((column for column in table.columns if column.autoincrement is True), None)
    if counted is not None and copied:
        name = sa.func.pg_get_serial_sequence(table.name, counted.name)
        new.execute(sa.select(sa.func.setval(name, sa.select(sa.func.max(counted)).scalar_subquery())))
    return copied


def _copy_own_key(old: sa.Connection, new: sa.Connection, table: sa.Table, name: str) -> None:
    """Copy a column with keys to other rows of its own table."""
    (key,) = table.primary_key
    query = sa.select(key.label("row"), table.c[name].label("value")).where(table.c[name].is_not(None))
    update = sa.update(table).where(key == sa.bindparam("row")).values({name: sa.bindparam("value")})
    for rows in old.execute(query.execution_options(yield_per=_BATCH)).mappings().partitions():
        new.execute(update, [dict(row) for row in rows])


def _with_json_as(kind: sa.types.TypeEngine[Any], table: sa.Table) -> sa.Table:
    """The table with another type for its documents: to tell a document that is null from none."""
    other = table.to_metadata(sa.MetaData())
    for column in other.columns:
        if isinstance(column.type, sa.JSON):
            column.type = kind
    return other


def _read(values: dict[str, Any], documents: list[str]) -> dict[str, Any]:
    for name in documents:
        if values[name] is not None:
            document = json.loads(values[name])
            values[name] = sa.JSON.NULL if document is None else document
    return values


def _store(new: sa.Connection, files: FileArtifacts, good: Mapping[str, datetime]) -> None:
    for rows in _batches(good):
        new.execute(sa.insert(ARTIFACTS), [{"id": one, "at": at, "data": files.get_bytes(one)} for one, at in rows])


def _batches(good: Mapping[str, datetime]) -> Iterator[list[tuple[str, datetime]]]:
    every = list(good.items())
    for start in range(0, len(every), _BATCH):
        yield every[start : start + _BATCH]
