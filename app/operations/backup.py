"""Backup of an installation into one file, and its restore into an empty place."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa

from app.database.connections import Database, database_url
from app.errors import InputError, Place, StoreError
from app.operations import archive, embedded, server
from app.operations.archive import DUMP, ENGINE, STORE, Manifest
from app.operations.locks import operating
from app.operations.revision import held, known, release
from app.operations.shelves import FileShelf
from app.runs.tables import RUNS, UNFINISHED
from app.settings import Settings


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore brought back; ``unfinished`` are the runs that go on when an executor starts."""

    manifest: Manifest
    place: str
    runs: int
    unfinished: tuple[str, ...]


def create(settings: Settings, path: Path) -> Manifest:
    """Write a backup of the installation to ``path``; runs may go on meanwhile.

    It holds the run store, the engine's record and the artifacts as of one moment: what a machine that loses its
    power then would find at its next start. Policies, users and the log of calls are rows of the store. It does not
    hold the inventories, the settings and the credentials, which are files of the operator's own.

    Raises:
        InputError: ``path`` exists or cannot be written.
        ServiceError: PostgreSQL's client programs are missing or too old.
        StoreError: something cannot be read.
    """
    database = Database(settings.database_url)
    try:
        with database.read() as connection:
            revision = held(connection)
            major = None if database.is_embedded else server.major_version(connection)
        with operating(database), archive.writing(path) as (writer, scratch):
            created = datetime.now(UTC)
            if database.path is not None:
                for copy in embedded.copy(database.path, settings.var_dir / ENGINE, scratch):
                    writer.database(copy.name, copy)
                # After the rows: every artifact that they name is there by now.
                for artifact, file in FileShelf(settings.artifacts_dir).files():
                    writer.artifact(artifact, file)
            else:
                assert major is not None
                server.dump(database.url, major, scratch / DUMP)
                writer.database(DUMP, scratch / DUMP)
            manifest = Manifest(
                created=created,
                release=release(),
                revision=revision,
                kind="sqlite" if database.is_embedded else "postgresql",
                files=writer.files,
                artifacts=writer.artifacts,
                damaged=tuple(writer.damaged),
                server=major,
            )
            writer.end(manifest)
        return manifest
    finally:
        database.close()


def restore(path: Path, into: str) -> Restored:
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
        raise InputError("a backup of SQLite is restored into a folder", mend="name the run directory to be")

    def accept(manifest: Manifest) -> None:
        _accept(manifest, path, "postgresql" if to_server else "sqlite")

    if url is not None:
        with tempfile.TemporaryDirectory(prefix="qosforge-restore-") as scratch:
            manifest = archive.unpack(path, Path(scratch), accept)
            server.restore(url, Path(scratch) / DUMP, manifest.server or 0)
        return _restored(manifest, into, url.render_as_string(hide_password=True))
    folder = Path(into).expanduser().absolute()
    embedded.require_vacant(folder)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".restoring-") as scratch:
            manifest = archive.unpack(path, Path(scratch), accept)
            for name in manifest.files:
                embedded.check(Path(scratch) / name)
            embedded.place(Path(scratch), folder)
    except OSError as error:
        raise StoreError(
            f"the backup cannot be restored here: {error.strerror}", Place(file=str(folder)), "name another folder"
        ) from error
    return _restored(manifest, f"sqlite:///{folder / STORE}", str(folder))


def _accept(manifest: Manifest, path: Path, kind: str) -> None:
    here = Place(file=str(path))
    if manifest.kind != kind:
        wanted = "an empty PostgreSQL database, by its URL" if manifest.kind == "postgresql" else "a folder"
        raise InputError(f"this is a backup of {manifest.kind}", here, f"restore it into {wanted}")
    expected = {DUMP} if manifest.kind == "postgresql" else {STORE}
    if not expected <= set(manifest.files):
        raise InputError("the backup lacks the run store", here, "take another backup")
    if manifest.revision not in known():
        raise InputError(
            f"the backup holds tables of revision {manifest.revision}, which this release does not know",
            here,
            f"restore it with release {manifest.release} or a newer one",
        )


def _restored(manifest: Manifest, url: str, place: str) -> Restored:
    """Open what was restored, which migrates it where it is older, and count."""
    database = Database(url)
    try:
        with database.read() as connection:
            runs = connection.scalar(sa.select(sa.func.count()).select_from(RUNS)) or 0
            open_ = sa.select(RUNS.c.id).where(RUNS.c.status.in_([status.value for status in UNFINISHED]))
            return Restored(manifest, place, runs, tuple(connection.execute(open_.order_by(RUNS.c.id)).scalars()))
    finally:
        database.close()
