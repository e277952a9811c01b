"""Upgrade of a database to the schema of this release, with a backup first and no executor at work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from qosforge.database.connections import Database, Schema
from qosforge.database.revisions import current_revision, known_revisions
from qosforge.errors import EngineBusy
from qosforge.operations import backup
from qosforge.operations.archive import ENGINE
from qosforge.runs.engine.executor_leases import live_executors
from qosforge.runs.engine.ownership import Ownership
from qosforge.runs.record.tables import EXECUTORS
from qosforge.settings import Settings


@dataclass(frozen=True, slots=True)
class UpgradeResult:
    """The revisions before and after; ``backup`` is of the one before, ``None`` where nothing had to be changed."""

    before: str
    after: str
    backup: Path | None


def upgrade(settings: Settings, file: Path, *, allow_incomplete: bool = False) -> UpgradeResult:
    """Back the installation up to ``file``, then migrate its database to the newest revision.

    Raises:
        InputError: ``file`` exists or cannot be written.
        BackupIncomplete: the backup would lack artifacts, and ``allow_incomplete`` is not set.
        EngineBusy: a process carries out runs of this installation.
        StoreError: there is no store, a newer release wrote it, or it cannot be read or changed.
    """
    database = Database(settings.database_url, schema=Schema.AS_IS)
    try:
        with database.read() as connection:
            before = str(current_revision(connection))
        newest = known_revisions()[0]
        if before == newest:
            return UpgradeResult(before, newest, None)
        with without_executors(settings, database):
            backup.create(settings, file, allow_incomplete=allow_incomplete)
            Database(settings.database_url, schema=Schema.UPGRADED).close()
        return UpgradeResult(before, newest, file)
    finally:
        database.close()


@contextmanager
def without_executors(settings: Settings, database: Database) -> Iterator[None]:
    """Make sure that no executor is at work; on SQLite, none can start while the block lasts.

    Raises:
        EngineBusy: one is.
    """
    if database.path is not None:
        mine = Ownership(settings.var_dir, record=settings.var_dir / ENGINE, store=database.path)
        mine.acquire()
        try:
            yield
        finally:
            mine.release()
        return
    with database.read() as connection:
        has_executors = sa.inspect(connection).has_table(EXECUTORS.name)
    living = live_executors(database) if has_executors else []
    if living:
        who = ", ".join(f"{one.id} on {one.host}" for one in living)
        hint = "stop serve and every worker first; one that was killed counts for half a minute more"
        raise EngineBusy(f"runs are carried out by {who}", hint=hint)
    yield
