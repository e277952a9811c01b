"""The artifact store of an installation as a whole: list old artifacts and drop them.

Storing an artifact again renews its time. So an artifact that is old and that no row refers to is unused: one that
was stored just now, before a row refers to it, is not old.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path
from typing import Protocol

import sqlalchemy as sa

from qosforge.artifacts.tables import ARTIFACTS
from qosforge.database.connections import Database
from qosforge.errors import Place, StoreError

_FOLDER = re.compile(r"[0-9a-f]{2}")
_REST = re.compile(r"[0-9a-f]{62}")
_BATCH = 500


class ArtifactCollection(Protocol):
    """All artifacts of an installation."""

    def older(self, than: datetime) -> Iterator[tuple[str, int]]:
        """Id and bytes of every artifact that was last stored before ``than``."""

    def drop(self, artifacts: Collection[str], older: datetime) -> int:
        """Drop these artifacts, unless they were stored again since ``older``; how many went."""


class FileArtifactCollection:
    """Artifacts in files, as :class:`qosforge.artifacts.store.FileArtifacts` keeps them."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def older(self, than: datetime) -> Iterator[tuple[str, int]]:
        """Id and bytes of every artifact that was last stored before ``than``.

        Raises:
            StoreError: the folder cannot be read.
        """
        for artifact, path in self.files():
            with contextlib.suppress(FileNotFoundError), self._store_errors(path):
                state = path.stat()
                if state.st_mtime < than.timestamp():
                    yield artifact, state.st_size

    def files(self) -> Iterator[tuple[str, Path]]:
        """Id and path of every artifact, in order."""
        with self._store_errors(self._root):
            folders = sorted(self._root.iterdir()) if self._root.is_dir() else []
        for folder in folders:
            if _FOLDER.fullmatch(folder.name) and folder.is_dir():
                with self._store_errors(folder):
                    files = sorted(folder.iterdir())
                for path in files:
                    if _REST.fullmatch(path.name):
                        yield folder.name + path.name, path

    def drop(self, artifacts: Collection[str], older: datetime) -> int:
        """Drop these artifacts, unless they were stored again since ``older``; how many went.

        Raises:
            StoreError: a file cannot be removed; those before it are.
        """
        return sum(self._drop(self._root / artifact[:2] / artifact[2:], older) for artifact in artifacts)

    def _drop(self, path: Path, older: datetime) -> bool:
        aside = path.with_name(f".old-{path.name}")
        with self._store_errors(path):
            try:
                # Once aside, nobody can renew it any more: what its time says now is final.
                path.replace(aside)
            except FileNotFoundError:
                return False
            if aside.stat().st_mtime < older.timestamp():
                aside.unlink()
                return True
            with contextlib.suppress(FileExistsError):  # stored anew in between, with the same bytes
                os.link(aside, path)
            aside.unlink()
            return False

    @contextlib.contextmanager
    def _store_errors(self, path: Path) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise
        except OSError as error:
            raise StoreError(
                f"the artifacts cannot be tended: {error.strerror}",
                Place(file=str(path)),
                "run this as the user that owns the run directory",
            ) from error


class TableArtifactCollection:
    """Artifacts in the table that the machines of an installation share."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def older(self, than: datetime) -> Iterator[tuple[str, int]]:
        """Id and bytes of every artifact that was last stored before ``than``."""
        query = sa.select(ARTIFACTS.c.id, sa.func.length(ARTIFACTS.c.data)).where(ARTIFACTS.c.at < than)
        with self._database.read() as connection:
            yield from ((row[0], row[1]) for row in connection.execute(query.order_by(ARTIFACTS.c.id)))

    def drop(self, artifacts: Collection[str], older: datetime) -> int:
        """Drop these artifacts, unless they were stored again since ``older``; how many went."""
        ids, gone = sorted(artifacts), 0
        for start in range(0, len(ids), _BATCH):
            some = ARTIFACTS.c.id.in_(ids[start : start + _BATCH])
            query = sa.delete(ARTIFACTS).where(some, ARTIFACTS.c.at < older).returning(ARTIFACTS.c.id)
            with self._database.write() as connection:
                gone += len(connection.execute(query).all())
        return gone


def artifact_collection(database: Database, artifacts_dir: Path) -> ArtifactCollection:
    """The artifacts of an installation: files beside a SQLite store, rows of a PostgreSQL database."""
    return FileArtifactCollection(artifacts_dir) if database.is_embedded else TableArtifactCollection(database)
