"""The archive of a backup: a compressed tar whose last member, the manifest, has the hash of every other one."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from qosforge.audit.tables import FILE_AUDITS
from qosforge.errors import InputError, Place, StoreError

MANIFEST = "manifest.json"
STORE, ENGINE, DUMP = "runs.sqlite", "engine.sqlite", "database.dump"
PASSING = (FILE_AUDITS.name,)
"""Tables whose rows are left out: they are deleted within a day, and a backup would keep the secrets in them."""
_ARTIFACT = re.compile(r"artifacts/([0-9a-f]{2})/([0-9a-f]{62})")
_CHUNK = 1 << 20


class Manifest(BaseModel):
    """What a backup says of itself. ``files`` has the SHA-256 of each database; an artifact's name is its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["qosforge-backup"] = "qosforge-backup"
    version: Literal[1] = 1
    created: datetime
    release: str
    revision: str
    kind: Literal["sqlite", "postgresql"]
    files: dict[str, str]
    artifacts: int
    damaged: tuple[str, ...] = ()
    """Artifacts that did not hold what was stored when the backup was made; files of them are not in it."""
    missing: tuple[str, ...] | None = None
    """Artifacts that rows refer to and that the backup lacks, or has damaged; ``None``: nobody looked."""
    server: int | None = None
    """Major version of the PostgreSQL server that was dumped."""


class ArchiveWriter:
    """Fills one archive."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self.files: dict[str, str] = {}
        self.artifacts: set[str] = set()
        self.damaged: set[str] = set()

    def database(self, name: str, path: Path) -> None:
        """Add a database under ``name``."""
        with path.open("rb") as file:
            self.files[name] = hashlib.file_digest(file, "sha256").hexdigest()
            file.seek(0)
            self._add(name, file, path.stat().st_size, path.stat().st_mtime)

    def artifact(self, artifact: str, path: Path) -> None:
        """Add an artifact, unless it is damaged."""
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != artifact:
                self.damaged.add(artifact)
                return
            state = os.fstat(file.fileno())
            file.seek(0)
            self._add(f"artifacts/{artifact[:2]}/{artifact[2:]}", file, state.st_size, state.st_mtime)
        self.artifacts.add(artifact)

    def end(self, manifest: Manifest) -> None:
        """Close the archive with its manifest."""
        data = manifest.model_dump_json(indent=2).encode()
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.seek(0)
            self._add(MANIFEST, file, len(data), manifest.created.timestamp())

    def _add(self, name: str, file: IO[bytes], size: int, time: float) -> None:
        member = tarfile.TarInfo(name)
        member.size, member.mtime, member.mode = size, int(time), 0o600
        self._tar.addfile(member, file)


@contextmanager
def write_archive(path: Path) -> Iterator[tuple[ArchiveWriter, Path]]:
    """An archive that appears at ``path`` (mode 0600) when the block ends well, and a scratch folder beside it.

    Raises:
        InputError: something stands at ``path`` already, or it cannot be written.
    """
    if path.exists():
        raise InputError("this file exists", Place(file=str(path)), "name a new one; a backup replaces nothing")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as scratch:
            part = Path(scratch) / "archive"
            with part.open("xb") as raw:
                part.chmod(0o600)
                with tarfile.open(fileobj=raw, mode="w:gz", compresslevel=3) as tar:
                    yield ArchiveWriter(tar), Path(scratch)
                raw.flush()
                os.fsync(raw.fileno())
            os.link(part, path)  # unlike a rename it never replaces a file
    except OSError as error:
        raise InputError(
            f"the backup cannot be written: {error.strerror or error}",
            Place(file=str(path)),
            "name a place that can be written and has space",
        ) from error


def unpack(path: Path, into: Path, accept: Callable[[Manifest], None]) -> Manifest:
    """Unpack an archive into the empty folder ``into`` and check every byte of it.

    Only the names that a backup has are unpacked, whatever else the archive holds. ``accept`` sees the manifest
    and raises where it does not suit; nothing is kept then either.

    Raises:
        InputError: it is no backup, it was cut short or changed, or this release cannot read it.
    """
    hashes: dict[str, str] = {}
    artifacts = 0
    manifest: Manifest | None = None
    with _store_errors(path), tarfile.open(path, mode="r:gz") as tar:
        for member in tar:
            content = tar.extractfile(member) if member.isreg() else None
            if content is None or manifest is not None:
                raise _invalid(path, f"holds {member.name!r}, which no backup does")
            if member.name == MANIFEST:
                manifest = _manifest(path, content.read(_CHUNK))
            elif found := _ARTIFACT.fullmatch(member.name):
                if _write(content, into / member.name, member.mtime) != found[1] + found[2]:
                    raise _invalid(path, f"holds an artifact that was changed: {member.name}")
                artifacts += 1
            elif member.name in (STORE, ENGINE, DUMP):
                hashes[member.name] = _write(content, into / member.name, member.mtime)
            else:
                raise _invalid(path, f"holds {member.name!r}, which no backup does")
    if manifest is None:
        raise _invalid(path, "has no manifest: it was cut short, or is no backup")
    if manifest.files != hashes or manifest.artifacts != artifacts:
        raise _invalid(path, "does not hold what its manifest says")
    accept(manifest)
    return manifest


def _manifest(path: Path, data: bytes) -> Manifest:
    try:
        return Manifest.model_validate_json(data)
    except ValidationError as error:
        raise InputError(
            "the manifest of this backup cannot be read by this release",
            Place(file=str(path)),
            "restore it with the release that made it, or a newer one",
        ) from error


def _write(content: IO[bytes], path: Path, time: float) -> str:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with path.open("xb") as file:
        path.chmod(0o600)
        while chunk := content.read(_CHUNK):
            digest.update(chunk)
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    os.utime(path, (time, time))
    return digest.hexdigest()


@contextmanager
def _store_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise _invalid(path, f"cannot be read as a backup: {error}") from error
    except FileExistsError as error:
        raise _invalid(path, "holds a file twice") from error
    except FileNotFoundError as error:
        raise InputError("there is no such file", Place(file=str(path)), "name a backup") from error
    except OSError as error:
        raise StoreError(
            f"the backup cannot be unpacked: {error.strerror or error}",
            Place(file=str(error.filename or path)),
            "free space on that disk, or make it readable and writable",
        ) from error


def _invalid(path: Path, what: str) -> InputError:
    return InputError(f"the backup {what}", Place(file=str(path)), "take another backup")
