"""Where the installation keeps things: the run directory, the database, the artifacts."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa

from qosforge.artifacts.store import ArtifactMissing, open_artifacts
from qosforge.database.connections import UPGRADE_HINT, Database
from qosforge.database.revisions import current_revision, known_revisions
from qosforge.errors import StoreError
from qosforge.operations.checks.model import CheckContext, CheckResult, CheckState
from qosforge.runs.record.expired import RETENTION_STAGE
from qosforge.runs.record.tables import RUNS, STAGES

_FULL_BYTES, _TIGHT_BYTES = 100 << 20, 1 << 30
_SKEW_SECONDS, _MOST_SKEW_SECONDS = 2, 30
"""Leases are judged by clocks: a lease of an executor lasts about half a minute."""
_SAMPLE = 20


def check_directory(context: CheckContext) -> Iterator[CheckResult]:
    """The run directory can be written, is nobody else's to read, and its disk has space."""
    path = context.settings.var_dir
    if not path.exists():
        above = next(parent for parent in path.parents if parent.exists())
        can = os.access(above, os.W_OK | os.X_OK)
        yield CheckResult(
            "run directory",
            CheckState.GOOD if can else CheckState.FAILED,
            f"{path} is not made yet" + ("" if can else f", and {above} cannot be written"),
            "" if can else f"make {above} writable, or set QOSFORGE_VAR_DIR",
        )
        return
    try:
        with tempfile.NamedTemporaryFile(dir=path, prefix=".doctor-") as file:
            file.write(b"x")
            file.flush()
    except OSError as error:
        hint = "make it writable by this user, or set QOSFORGE_VAR_DIR"
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
    hint = "" if state is CheckState.GOOD else "free space on it: see qosforge retention"
    yield CheckResult("disk", state, f"{free / 1e9:.1f} GB free", hint)


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
        yield CheckResult("database", CheckState.FAILED, f"{told}: {first}", hint)
        return
    if whole != "ok":
        yield CheckResult("database", CheckState.FAILED, f"{told} is damaged: {whole}", "restore it from a backup")
        return
    yield _revision(told, revision)
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


def check_artifacts(context: CheckContext) -> Iterator[CheckResult]:
    """A sample of what the newest runs began from can be read, and is what was stored."""
    with context.store() as connection:
        if connection is None:
            yield CheckResult("artifacts", CheckState.GOOD, "none yet")
            return
        given_up = sa.select(STAGES.c.run_id).where(STAGES.c.name == RETENTION_STAGE)
        query = sa.select(RUNS.c.params).where(RUNS.c.id.not_in(given_up)).order_by(RUNS.c.id.desc()).limit(_SAMPLE)
        params = connection.execute(query).scalars().all()
    ids = {str(one[name]) for one in params for name in ("network", "intent_text") if one.get(name)}
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
        yield CheckResult("artifacts", CheckState.GOOD, f"{len(ids)} of the newest runs read and verified")
