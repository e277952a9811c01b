"""Backup of an installation into one file, and its restore into an empty place."""

from __future__ import annotations

import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from qosforge.database.connections import Database, Schema, database_url, is_embedded
from qosforge.database.revisions import current_revision, known_revisions
from qosforge.errors import InputError, Place, StoreError
from qosforge.operations import archive, embedded, server
from qosforge.operations.archive import DUMP, ENGINE, STORE, ArchiveWriter, Manifest
from qosforge.operations.artifact_store import FileArtifactCollection
from qosforge.operations.completeness import BackupIncomplete, check_rows, missing_references
from qosforge.operations.locks import maintenance_lock
from qosforge.operations.references import Reference
from qosforge.release import release
from qosforge.runs.record.tables import RUNS, UNFINISHED
from qosforge.settings import Settings

BACKUP_ACTION = "qosforge backup create"
"""What the audit log calls a backup that was made."""

_Taken = tuple[tuple[Reference, ...], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """The result of a restore; ``unfinished`` are the runs that go on when an executor starts.

    ``lacks`` is what its rows refer to and it does not have.
    """

    manifest: Manifest
    place: str
    runs: int
    unfinished: tuple[str, ...]
    lacks: tuple[Reference, ...]


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """The result of verifying a backup; ``lacks`` as of :class:`RestoreResult`, or ``None`` where nobody looked."""

    manifest: Manifest
    lacks: tuple[Reference, ...] | None


def create(settings: Settings, path: Path, *, allow_incomplete: bool = False) -> Manifest:
    """Write a backup of the installation to ``path``; runs may go on meanwhile.

    It holds the run store, the engine's record and the artifacts as of one moment: what a machine that loses its
    power then would find at its next start. Policies, users and the audit log are rows of the store. It does not
    hold the inventories, the settings and the credentials, which are files of the operator's own.

    The schema may be of an earlier release, and stays so. With ``allow_incomplete`` it is made even where artifacts
    are missing; the manifest names them.

    Raises:
        InputError: ``path`` exists or cannot be written.
        BackupIncomplete: artifacts that rows refer to are missing or damaged; no backup is made.
        ServiceError: PostgreSQL's client programs are missing or too old.
        StoreError: something cannot be read.
    """
    database = Database(settings.database_url, schema=Schema.AS_IS)
    try:
        with maintenance_lock(database), archive.write_archive(path) as (writer, scratch):
            created = datetime.now(UTC)
            taken = _take_files if database.is_embedded else _take_rows
            lacks, about = taken(settings, database, writer, scratch)
            if lacks and not allow_incomplete:
                raise _incomplete(settings, lacks, writer.damaged)
            manifest = Manifest(
                created=created,
                release=release(),
                files=writer.files,
                artifacts=len(writer.artifacts),
                damaged=tuple(sorted(writer.damaged)),
                missing=tuple(one.artifact for one in lacks),
                **about,
            )
            writer.end(manifest)
        return manifest
    finally:
        database.close()


def _take_files(settings: Settings, database: Database, writer: ArchiveWriter, scratch: Path) -> _Taken:
    """Copy a SQLite installation: what its rows refer to and the copy lacks, and what the manifest says of it."""
    assert database.path is not None
    for copy in embedded.copy_databases(database.path, settings.var_dir / ENGINE, scratch):
        writer.database(copy.name, copy)
    # After the rows: every artifact that they name is there by now.
    for artifact, file in FileArtifactCollection(settings.artifacts_dir).files():
        writer.artifact(artifact, file)
    with embedded.open_copy(scratch / STORE) as connection:
        return missing_references(connection, writer.artifacts), {
            "kind": "sqlite",
            "revision": current_revision(connection),
        }


def _take_rows(_settings: Settings, database: Database, writer: ArchiveWriter, scratch: Path) -> _Taken:
    """Dump a PostgreSQL database; returns as :func:`_take_files`."""
    with database.read() as connection:
        major = server.major_version(connection)
        server.dump(database.url, major, scratch / DUMP, server.export_snapshot(connection))
        stored = check_rows(connection)
        lacks, revision = missing_references(connection, stored.good), current_revision(connection)
    writer.database(DUMP, scratch / DUMP)
    writer.damaged |= stored.damaged
    return lacks, {"kind": "postgresql", "revision": revision, "server": major}


def _incomplete(settings: Settings, lacks: tuple[Reference, ...], damaged: Collection[str]) -> BackupIncomplete:
    hint = "restore them from an earlier backup, or take what there is with --allow-incomplete"
    place = Place()
    if is_embedded(settings.database_url):
        place = Place(file=str(settings.artifacts_dir))
        hint = f"check that QOSFORGE_VAR_DIR names the run directory of this store, {hint}"
    return BackupIncomplete("the backup would be incomplete", place, hint, lacks, frozenset(damaged))


def verify(path: Path) -> VerifyResult:
    """Check every byte of a backup, and that it has every artifact that its rows refer to; nothing is restored.

    The rows of a dump are not read: what its manifest says of them was found in the same snapshot.

    Raises:
        InputError: the backup is damaged, or this release cannot read it.
        ServiceError: PostgreSQL's client programs are missing or too old.
        StoreError: there is no space to unpack it, or a database in it is damaged.
    """
    with tempfile.TemporaryDirectory(prefix="qosforge-verify-") as name:
        scratch = Path(name)
        manifest = archive.unpack(path, scratch, lambda manifest: _accept(manifest, path, manifest.kind))
        if manifest.kind == "postgresql":
            server.check(scratch / DUMP, manifest.server or 0)
            missing = manifest.missing
            return VerifyResult(manifest, None if missing is None else tuple(Reference(one, "") for one in missing))
        for file in manifest.files:
            embedded.check_database(scratch / file)
        good = {artifact for artifact, _ in FileArtifactCollection(scratch / "artifacts").files()}
        with embedded.open_copy(scratch / STORE) as connection:
            return VerifyResult(manifest, missing_references(connection, good))


def restore(path: Path, into: str) -> RestoreResult:
    """Bring a backup back: into a folder (a run directory to be), or into an empty PostgreSQL database by its URL.

    Nothing that exists is overwritten, and nothing is in place before every byte was checked.

    Raises:
        InputError: the backup is damaged or of another kind, or the place is taken.
        ServiceError: PostgreSQL's client programs are missing or too old.
        StoreError: the place cannot be written.
    """
    to_server = "://" in into
    url = database_url(into) if to_server else None
    if url is not None and url.get_backend_name() == "sqlite":
        raise InputError("a backup of SQLite is restored into a folder", hint="name the run directory to be")

    def accept(manifest: Manifest) -> None:
        _accept(manifest, path, "postgresql" if to_server else "sqlite")

    if url is not None:
        with tempfile.TemporaryDirectory(prefix="qosforge-restore-") as scratch:
            manifest = archive.unpack(path, Path(scratch), accept)
            server.restore(url, Path(scratch) / DUMP, manifest.server or 0)
        return _open_restored(manifest, into, url.render_as_string(hide_password=True), None)
    folder = Path(into).expanduser().absolute()
    embedded.require_vacant(folder)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".restoring-") as scratch:
            manifest = archive.unpack(path, Path(scratch), accept)
            for name in manifest.files:
                embedded.check_database(Path(scratch) / name)
            embedded.move_into_place(Path(scratch), folder)
    except OSError as error:
        raise StoreError(
            f"the backup cannot be restored here: {error.strerror}", Place(file=str(folder)), "name another folder"
        ) from error
    return _open_restored(manifest, f"sqlite:///{folder / STORE}", str(folder), folder)


def _accept(manifest: Manifest, path: Path, kind: str) -> None:
    here = Place(file=str(path))
    if manifest.kind != kind:
        wanted = "an empty PostgreSQL database, by its URL" if manifest.kind == "postgresql" else "a folder"
        raise InputError(f"this is a backup of {manifest.kind}", here, f"restore it into {wanted}")
    expected = {DUMP} if manifest.kind == "postgresql" else {STORE}
    if not expected <= set(manifest.files):
        raise InputError("the backup lacks the run store", here, "take another backup")
    if manifest.revision not in known_revisions():
        raise InputError(
            f"the backup holds tables of revision {manifest.revision}, which this release does not know",
            here,
            f"restore it with release {manifest.release} or a newer one",
        )


def _open_restored(manifest: Manifest, url: str, place: str, folder: Path | None) -> RestoreResult:
    """Open what was restored, which migrates it where it is older, and look what it has."""
    database = Database(url, schema=Schema.UPGRADED)
    try:
        with database.read() as connection:
            runs = connection.scalar(sa.select(sa.func.count()).select_from(RUNS)) or 0
            open_ = sa.select(RUNS.c.id).where(RUNS.c.status.in_([status.value for status in UNFINISHED]))
            unfinished = tuple(connection.execute(open_.order_by(RUNS.c.id)).scalars())
            good: Collection[str] = (
                check_rows(connection).good
                if folder is None
                else {artifact for artifact, _ in FileArtifactCollection(folder / "artifacts").files()}
            )
            return RestoreResult(manifest, place, runs, unfinished, missing_references(connection, good))
    finally:
        database.close()
