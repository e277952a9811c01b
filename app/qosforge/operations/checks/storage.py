"""Where the installation keeps things: the run directory, the database, the artifacts."""

from __future__ import annotations

import errno
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa

from qosforge.artifacts.store import ArtifactMissing, open_artifacts
from qosforge.database.connections import SESSIONS_HINT, UPGRADE_HINT, Database, database_url
from qosforge.database.poolers import keeps_sessions
from qosforge.database.revisions import current_revision, known_revisions
from qosforge.errors import StoreError
from qosforge.operations.archive import ENGINE
from qosforge.operations.checks.model import CheckContext, CheckResult, CheckState
from qosforge.operations.tables import every_table
from qosforge.runs.record.expired import RETENTION_STAGE
from qosforge.runs.record.tables import READINGS, RUNS, STAGES

_FULL_BYTES, _TIGHT_BYTES = 100 << 20, 1 << 30
_SKEW_SECONDS, _MOST_SKEW_SECONDS = 2, 30
"""Leases are judged by clocks: a lease of an executor lasts about half a minute."""
_SAMPLE = 20
_MOST_READINGS = 1000
_SPACE = "free space on its disk: see qosforge retention"


def check_directory(context: CheckContext) -> Iterator[CheckResult]:
    """The run directory can be written, is nobody else's to read, and its disk has space."""
    path = context.settings.var_dir
    if not path.exists():
        yield _not_made(path)
        return
    try:
        with tempfile.NamedTemporaryFile(dir=path, prefix=".doctor-") as file:
            file.write(b"x")
            file.flush()
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        hint = _SPACE if full else "make it writable by this user, or set QOSFORGE_VAR_DIR"
        yield CheckResult("run directory", CheckState.FAILED, f"{path} cannot be written: {error.strerror}", hint)
        return
    mode = path.stat().st_mode & 0o777
    if mode & 0o077:
        message = f"{path} has mode {mode:04o}: others may read the configurations in it"
        yield CheckResult("run directory", CheckState.WARNING, message, f"chmod 700 {path}")
    else:
        yield CheckResult("run directory", CheckState.GOOD, str(path))
    free = shutil.disk_usage(path).free
    state = (
        CheckState.FAILED if free < _FULL_BYTES else CheckState.WARNING if free < _TIGHT_BYTES else CheckState.GOOD
    )
    hint = "" if state is CheckState.GOOD else _SPACE
    yield CheckResult("disk", state, f"{free / 1e9:.1f} GB free", hint)


def _not_made(path: Path) -> CheckResult:
    """Whether a directory that is not there could be made; permissions alone do not say it (``/proc``)."""
    above = next(parent for parent in path.parents if parent.exists())
    try:
        with tempfile.TemporaryDirectory(dir=above, prefix=".doctor-"):
            pass
    except OSError as error:
        return CheckResult(
            "run directory",
            CheckState.FAILED,
            f"{path} is not made yet, and {above} cannot be written: {error.strerror}",
            f"make {above} writable, or set QOSFORGE_VAR_DIR",
        )
    return CheckResult("run directory", CheckState.GOOD, f"{path} is not made yet")


def check_database(context: CheckContext) -> Iterator[CheckResult]:
    """The database answers, is whole, holds tables that this release knows, and has the same time."""
    url = sa.make_url(context.settings.database_url)
    told = url.render_as_string(hide_password=True)
    path = Path(str(url.database))
    if context.is_embedded and not path.exists():
        yield CheckResult("database", CheckState.GOOD, f"{told} is made at the first start")
        return
    try:
        with context.reading() as connection:
            revision = current_revision(connection)
            whole = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar() if context.is_embedded else "ok"
            clock = None if context.is_embedded else connection.scalar(sa.text("SELECT clock_timestamp()"))
    except (sa.exc.SQLAlchemyError, sqlite3.Error) as error:
        cause = getattr(error, "orig", None) or error
        first = str(cause).strip().splitlines()[0]
        hint = (
            "restore the file from a backup"
            if context.is_embedded
            else "start the server, and check the URL and PGPASSFILE"
        )
        if "pooling mode" in first:  # PgBouncer's words, where it pools single statements
            hint = SESSIONS_HINT
        yield CheckResult("database", CheckState.FAILED, f"{told}: {first}", hint)
        return
    if whole != "ok":
        yield CheckResult("database", CheckState.FAILED, f"{told} is damaged: {whole}", "restore it from a backup")
        return
    yield _revision(told, revision)
    if revision == known_revisions()[0]:
        yield from _unlike_the_release(context)
    yield from _engine(context) if context.is_embedded else _pooler(url)
    if clock is not None:
        skew = abs((clock.astimezone(UTC) - datetime.now(UTC)).total_seconds())
        state = CheckState.GOOD
        if skew > _SKEW_SECONDS:
            state = CheckState.FAILED if skew > _MOST_SKEW_SECONDS else CheckState.WARNING
        hint = "" if state is CheckState.GOOD else "let both machines take their time from one source (NTP)"
        yield CheckResult("clock", state, f"{skew:.1f} s off the database's", hint)


def _revision(told: str, revision: str | None) -> CheckResult:
    newest = known_revisions()[0]
    if revision is None:
        return CheckResult("database", CheckState.GOOD, f"{told} is empty; its tables are made at the first start")
    if revision == newest:
        return CheckResult("database", CheckState.GOOD, f"{told}, revision {revision}")
    if revision in known_revisions():
        message = f"{told} holds revision {revision}, and this release works with {newest} alone"
        return CheckResult("database", CheckState.FAILED, message, UPGRADE_HINT)
    message = f"{told} holds revision {revision}, which this release does not know"
    return CheckResult("database", CheckState.FAILED, message, "use the release that wrote it, or a newer one")


def _unlike_the_release(context: CheckContext) -> Iterator[CheckResult]:
    """Tables, columns and indexes of this revision that are not there: somebody, or a damage, took them away."""
    with context.reading() as connection:
        found = sa.inspect(connection)
        tables = set(found.get_table_names())
        missing = [f"table {table.name}" for table in every_table() if table.name not in tables]
        for table in (table for table in every_table() if table.name in tables):
            columns = {column["name"] for column in found.get_columns(table.name)}
            indexes = {index["name"] for index in found.get_indexes(table.name)}
            missing += [f"column {table.name}.{one.name}" for one in table.columns if one.name not in columns]
            missing += [f"index {one.name}" for one in table.indexes if one.name not in indexes]
    if missing:
        message = f"it lacks {', '.join(sorted(missing))}"
        yield CheckResult("tables", CheckState.FAILED, message, "restore the database from a backup")


def _engine(context: CheckContext) -> Iterator[CheckResult]:
    """The engine's record, a file of its own beside a SQLite store."""
    path = context.settings.var_dir / ENGINE
    if not path.is_file():
        return
    hint = "stop the service and restore the installation from a backup"
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            whole = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        whole = str(error)
    if whole != "ok":
        yield CheckResult("engine", CheckState.FAILED, f"{path} is damaged: {whole}", hint)


def _pooler(url: sa.URL) -> Iterator[CheckResult]:
    if not keeps_sessions(database_url(url.render_as_string(hide_password=False))):
        message = "a pooler before the database gives each transaction to any of its sessions: runs would fail"
        yield CheckResult("pooler", CheckState.FAILED, message, SESSIONS_HINT)


def check_artifacts(context: CheckContext) -> Iterator[CheckResult]:
    """The last reading of every device, and a sample of what runs began from, are what was stored."""
    with context.store() as connection:
        if connection is None:
            yield CheckResult("artifacts", CheckState.GOOD, "none yet")
            return
        given_up = sa.select(STAGES.c.run_id).where(STAGES.c.name == RETENTION_STAGE)
        query = sa.select(RUNS.c.params).where(RUNS.c.id.not_in(given_up)).order_by(RUNS.c.id.desc()).limit(_SAMPLE)
        params = connection.execute(query).scalars().all()
        newest = sa.select(READINGS.c.artifact).order_by(READINGS.c.at.desc()).limit(_MOST_READINGS)
        read = connection.execute(newest).scalars().all()
    ids = {str(one[name]) for one in params for name in ("network", "intent_text") if one.get(name)}
    ids |= set(read)
    database = Database(context.settings.database_url)
    try:
        artifacts = open_artifacts(context.settings, database)
        lost: list[StoreError] = []
        for artifact in sorted(ids):
            try:
                artifacts.get_bytes(artifact)
            except StoreError as error:
                lost.append(error)
    finally:
        database.close()
    if lost:
        what = "missing" if isinstance(lost[0], ArtifactMissing) else "damaged or cannot be read"
        message = f"{len(lost)} of {len(ids)} looked at; {lost[0].message}"
        yield CheckResult(
            "artifacts", CheckState.FAILED, f"{what}: {message}", lost[0].hint or "restore them from a backup"
        )
    else:
        yield CheckResult("artifacts", CheckState.GOOD, f"{len(ids)} of the newest runs and last readings verified")
