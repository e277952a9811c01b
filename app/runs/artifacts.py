"""Artifacts: texts and documents of a run, addressed by the SHA-256 of their bytes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.errors import InputError, Place, StoreError

_ID = re.compile(r"[0-9a-f]{64}")


@dataclass(eq=False)
class ArtifactMissing(StoreError):
    """No artifact stands under this id."""


@dataclass(eq=False)
class ArtifactCorrupt(StoreError):
    """The bytes under this id are not the ones that were stored."""


class ArtifactStore:
    """Files under ``root`` as ``ab/cdef…``: written once and whole, verified at every read.

    Storing the same bytes twice gives the same id and one file, whose time is that of the last storing: a
    retention takes only what is old. Safe with several processes: a file
    appears under its name only when it is complete and on the disk.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def put_bytes(self, data: bytes) -> str:
        """Store ``data`` and return its id (64 hexadecimal digits).

        Raises:
            StoreError: the bytes cannot be written.
        """
        artifact = hashlib.sha256(data).hexdigest()
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

    def put_text(self, text: str) -> str:
        """Store ``text`` as UTF-8, line ends as they are, and return its id."""
        return self.put_bytes(text.encode())

    def put_json(self, document: Any) -> str:
        """Store a JSON document in canonical form (sorted keys, no NaN) and return its id.

        Raises:
            TypeError, ValueError: ``document`` holds something JSON cannot say.
        """
        return self.put_text(canonical_json(document))

    def get_bytes(self, artifact: str) -> bytes:
        """The bytes stored under ``artifact``.

        Raises:
            InputError: ``artifact`` is not an artifact id.
            ArtifactMissing: nothing is stored under it.
            ArtifactCorrupt: the file was changed since.
        """
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
        if hashlib.sha256(data).hexdigest() != artifact:
            raise ArtifactCorrupt(
                f"artifact {artifact} does not hold what was stored",
                Place(file=str(path)),
                "restore it from a backup, or repeat the run",
            )
        return data

    def get_text(self, artifact: str) -> str:
        """The text stored under ``artifact``; errors as :meth:`get_bytes`."""
        return self.get_bytes(artifact).decode()

    def get_json(self, artifact: str) -> Any:
        """The JSON document stored under ``artifact``; errors as :meth:`get_bytes`."""
        return json.loads(self.get_bytes(artifact))

    def _path(self, artifact: str) -> Path:
        if not _ID.fullmatch(artifact):
            raise InputError(f"{artifact!r} is not an artifact id", mend="an id is 64 hexadecimal digits")
        return self._root / artifact[:2] / artifact[2:]


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
