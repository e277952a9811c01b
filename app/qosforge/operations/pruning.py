"""What a retention prunes beside rows and artifacts, such as the engine's record, and space that it gives back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import sqlalchemy as sa

from qosforge.artifacts.tables import ARTIFACTS
from qosforge.database.connections import Database
from qosforge.database.space import Space, shrink_file, vacuum_tables
from qosforge.errors import Place, StoreError
from qosforge.operations.archive import ENGINE
from qosforge.runs.engine.dbos_adapter import prune_record
from qosforge.runs.engine.ownership import owner_of
from qosforge.runs.engine.record_checks import SCHEMA
from qosforge.runs.record.journal import unsettled
from qosforge.runs.record.tables import EVENTS, IDEMPOTENCY_KEYS, RUNS, UNFINISHED
from qosforge.settings import Settings

_LEFT_BEHIND = timedelta(days=1)
"""After so long nobody is at a file any more that is being written."""


@dataclass(frozen=True, slots=True)
class PruneResult:
    """The result of pruning, or of its dry run: workflows of the engine's record, and files that went."""

    workflows: int
    files: int
    space: Space


def prune(
    settings: Settings, database: Database, before: datetime, now: datetime, *, dry_run: bool = False
) -> PruneResult:
    """Drop the engine's record of workflows that ended before, reports of that age and files left half-written.

    Then the space of all that went is given back.

    Raises:
        StoreError: something cannot be read or written.
    """
    engine = sa.URL.create("sqlite", database=str(settings.var_dir / ENGINE))
    workflows = prune_record(
        engine if database.is_embedded else database.url, before, _unfinished(database), dry_run=dry_run
    )
    files = [*_reports(settings.var_dir, before), *_left_behind(settings.artifacts_dir, now - _LEFT_BEHIND)]
    if dry_run:
        return PruneResult(workflows, len(files), Space())
    for path in files:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            hint = "run this as the user that owns the run directory"
            raise StoreError(f"it cannot be removed: {error.strerror}", Place(file=str(path)), hint) from error
    return PruneResult(workflows, len(files), _give_back(settings, database))


def _unfinished(database: Database) -> set[str]:
    """Runs that are not over, or left a device between two states: the engine may still be asked about them."""
    live = sa.select(RUNS.c.id).where(RUNS.c.status.in_([status.value for status in UNFINISHED]))
    with database.read() as connection:
        return {*connection.execute(live).scalars(), *(row.run_id for row in connection.execute(unsettled()))}


def _reports(var_dir: Path, before: datetime) -> Iterator[Path]:
    return _older((var_dir / "reports").glob("*.html"), before)


def _left_behind(artifacts: Path, before: datetime) -> Iterator[Path]:
    return _older(artifacts.glob("??/.new-*"), before)


def _older(paths: Iterator[Path], before: datetime) -> Iterator[Path]:
    return (path for path in paths if path.is_file() and path.stat().st_mtime < before.timestamp())


def _give_back(settings: Settings, database: Database) -> Space:
    if database.path is None:
        own = [table.name for table in (ARTIFACTS, EVENTS, IDEMPOTENCY_KEYS)]
        with database.read() as connection:
            engine = [f"{SCHEMA}.{name}" for name in sa.inspect(connection).get_table_names(schema=SCHEMA)]
        vacuum_tables(database, [*own, *engine])
        return Space()
    rewrite = owner_of(database.path) is None  # whoever carries out runs would wait too long for it
    space = shrink_file(database.path, rewrite=rewrite)
    record = settings.var_dir / ENGINE
    return space + shrink_file(record, rewrite=rewrite) if record.is_file() else space
