"""Artifacts: texts and documents of runs, policies and sweeps, addressed by the SHA-256 of their bytes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from qosforge.artifacts.tables import ARTIFACTS
from qosforge.database.connections import Database
from qosforge.errors import InputError, Place, StoreError
from qosforge.platforms.device_text import DeviceText, DeviceWords
from qosforge.settings import Settings

_ID = re.compile(r"[0-9a-f]{64}")


@dataclass(eq=False)
class ArtifactMissing(StoreError):
    """No artifact stands under this id."""


@dataclass(eq=False)
class ArtifactCorrupt(StoreError):
    """The bytes under this id are not the ones that were stored."""


class Artifacts(Protocol):
    """Bytes under their own hash: written once and whole, verified at every read.

    Storing the same bytes twice gives the same id and keeps them once; their time is that of the last storing: a
    retention takes only what is old. Safe with several processes.
    """

    def put_bytes(self, data: bytes) -> str:
        """Store ``data`` and return its id (64 hexadecimal digits).

        Raises:
            StoreError: the bytes cannot be written.
        """

    def get_bytes(self, artifact: str) -> bytes:
        """The bytes stored under ``artifact``.

        Raises:
            InputError: ``artifact`` is not an artifact id.
            ArtifactMissing: nothing is stored under it.
            ArtifactCorrupt: what is stored was changed since.
        """

    def together(self, artifacts: Iterable[str]) -> Artifacts:
        """These artifacts with the bytes of some at hand, fetched all at once; each is verified as it is read."""
        del artifacts  # files are at hand
        return self

    def put_text(self, text: str) -> str:
        """Store ``text`` as UTF-8, line ends as they are, and return its id."""
        return self.put_bytes(text.encode())

    def put_json(self, document: Any) -> str:
        """Store a JSON document in canonical form (sorted keys, no NaN) and return its id.

        Raises:
            TypeError, ValueError: ``document`` holds something JSON cannot say.
        """
        return self.put_text(canonical_json(document))

    def get_text(self, artifact: str) -> str:
        """The text stored under ``artifact``; errors as :meth:`get_bytes`."""
        return self.get_bytes(artifact).decode()

    def put_configuration(self, configuration: DeviceText) -> str:
        """Store a device's configuration whole and return its id.

        It is what a rollback puts back, secrets included: operators of the network alone are given such an
        artifact (`qosforge.runs.views.artifact_list.ArtifactKind.restricted`).
        """
        return self.put_text(configuration.unmasked)

    def get_configuration(self, artifact: str, words: DeviceWords) -> DeviceText:
        """The configuration of the device of these words; errors as :meth:`get_bytes`."""
        return words.configuration(self.get_text(artifact))

    def get_json(self, artifact: str) -> Any:
        """The JSON document stored under ``artifact``; errors as :meth:`get_bytes`."""
        return json.loads(self.get_bytes(artifact))


def artifact_id(data: bytes) -> str:
    """The id under which bytes are stored: their SHA-256, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def open_artifacts(settings: Settings, database: Database) -> Artifacts:
    """The artifacts of this installation: files beside a SQLite store, else in the database all machines share."""
    return FileArtifacts(settings.artifacts_dir) if database.is_embedded else DatabaseArtifacts(database)


class FileArtifacts(Artifacts):
    """Files under ``root`` as ``ab/cdef…``: one appears under its name only when it is complete and on the disk."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def put_bytes(self, data: bytes) -> str:
        """See :meth:`Artifacts.put_bytes`."""
        artifact = artifact_id(data)
        path = self._path(artifact)
        try:
            if _renewed(path, data):
                return artifact
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write_whole(path, data)
        except OSError as error:
            raise StoreError(
                f"cannot write artifact {artifact}: {error.strerror}",
                Place(file=str(path)),
                "free space in the run directory, or make it writable",
            ) from error
        return artifact

    def get_bytes(self, artifact: str) -> bytes:
        """See :meth:`Artifacts.get_bytes`."""
        path = self._path(artifact)
        try:
            data = path.read_bytes()
        except FileNotFoundError as error:
            raise ArtifactMissing(
                f"artifact {artifact} is missing",
                Place(file=str(path)),
                "restore the run directory's artifacts from a backup, or repeat the run",
            ) from error
        except OSError as error:
            raise StoreError(f"cannot read artifact {artifact}: {error.strerror}", Place(file=str(path))) from error
        return _verified(artifact, data, Place(file=str(path)))

    def _path(self, artifact: str) -> Path:
        _require_id(artifact)
        return self._root / artifact[:2] / artifact[2:]


class DatabaseArtifacts(Artifacts):
    """Rows of the PostgreSQL database that every machine of an installation reaches."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put_bytes(self, data: bytes) -> str:
        """See :meth:`Artifacts.put_bytes`."""
        artifact = artifact_id(data)
        row = insert(ARTIFACTS).values(id=artifact, data=data, at=datetime.now(UTC))
        whole = row.on_conflict_do_update(  # storing again repairs what was damaged
            index_elements=[ARTIFACTS.c.id], set_={"data": row.excluded.data, "at": row.excluded.at}
        )
        self._database.transact(lambda connection: connection.execute(whole))
        return artifact

    def get_bytes(self, artifact: str) -> bytes:
        """See :meth:`Artifacts.get_bytes`."""
        _require_id(artifact)
        place = _place_of_row(artifact)
        query = sa.select(ARTIFACTS.c.data).where(ARTIFACTS.c.id == artifact)
        data = self._database.query(lambda connection: connection.scalar(query))
        if data is None:
            raise ArtifactMissing(
                f"artifact {artifact} is missing", place, "restore the database from a backup, or repeat the run"
            )
        return _verified(artifact, data, place)

    def together(self, artifacts: Iterable[str]) -> Artifacts:
        """See :meth:`Artifacts.together`."""
        wanted = sa.select(ARTIFACTS.c.id, ARTIFACTS.c.data).where(ARTIFACTS.c.id == sa.any_(sa.bindparam("ids")))
        ids = {"ids": sorted(set(artifacts))}  # one parameter, of which a statement has a bounded number
        rows = self._database.query(lambda connection: connection.execute(wanted, ids).all())
        return _AtHand(self, {row.id: row.data for row in rows})


class _AtHand(Artifacts):
    """The artifacts of a database, some of which were fetched before."""

    def __init__(self, stored: Artifacts, fetched: Mapping[str, bytes]) -> None:
        self._stored = stored
        self._fetched = fetched

    def put_bytes(self, data: bytes) -> str:
        """See :meth:`Artifacts.put_bytes`."""
        return self._stored.put_bytes(data)

    def get_bytes(self, artifact: str) -> bytes:
        """See :meth:`Artifacts.get_bytes`."""
        data = self._fetched.get(artifact)
        if data is None:
            return self._stored.get_bytes(artifact)
        return _verified(artifact, data, _place_of_row(artifact))


def _place_of_row(artifact: str) -> Place:
    return Place(path=f"artifacts/{artifact}")


def _require_id(artifact: str) -> None:
    if not _ID.fullmatch(artifact):
        raise InputError(f"{artifact!r} is not an artifact id", hint="an id is 64 hexadecimal digits")


def _verified(artifact: str, data: bytes, place: Place) -> bytes:
    if artifact_id(data) != artifact:
        raise ArtifactCorrupt(
            f"artifact {artifact} does not hold what was stored",
            place,
            "restore it from a backup, or repeat the run",
        )
    return data


def canonical_json(document: Any) -> str:
    """``document`` as JSON with sorted keys and no spare space: equal documents give equal bytes."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _renewed(path: Path, data: bytes) -> bool:
    """Make a file that holds ``data`` already as new as if it were written now."""
    try:
        os.utime(path)  # before the look at it: a retention may be taking it away
        return path.read_bytes() == data
    except FileNotFoundError:
        return False


def _write_whole(path: Path, data: bytes) -> None:
    descriptor, scratch = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(scratch).replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(scratch).unlink()
        raise
    # The journal may name this artifact at once: its directory entry has to survive a power cut as well.
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
