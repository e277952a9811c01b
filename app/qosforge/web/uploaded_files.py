"""Files that a browser sent, archives among them unpacked in memory."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import PurePosixPath
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

from qosforge.discovery.saved_files import HOW_TO_SAVE
from qosforge.errors import InputError, Place

MOST_FILES = 1000
"""Files that are taken at once, those of archives counted."""
MOST_BYTES = 32 << 20
"""Bytes of these files together, unpacked."""

_READABLE = (ZIP_STORED, ZIP_DEFLATED)


def unpack_files(given: Iterable[tuple[str, bytes]]) -> tuple[tuple[str, bytes], ...]:
    """Files by their paths, in order; hidden ones and folders are left out.

    Raises:
        InputError: there is no file, there are too many or too large ones, or an archive cannot be read.
    """
    found: list[tuple[str, bytes]] = []
    size = 0
    for name, data in _each(given):
        size += len(data)
        found.append((name, data))
        if len(found) > MOST_FILES or size > MOST_BYTES:
            raise InputError(_too_much(), Place(file=name), _LESS)
    if not found:
        raise InputError("no file was given", hint=HOW_TO_SAVE)
    return tuple(sorted(found))


def pack_files(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Files in one archive, as `unpack_archive` takes them: any paths, and numbered contents."""
    given, packed = list(files), BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(_PATHS, json.dumps([name for name, _ in given]))
        for number, (_, data) in enumerate(given):
            archive.writestr(str(number), data)
    return packed.getvalue()


def unpack_archive(packed: bytes) -> tuple[tuple[str, bytes], ...]:
    """The files of `pack_files`."""
    with ZipFile(BytesIO(packed)) as archive:
        paths = json.loads(archive.read(_PATHS))
        return tuple((name, archive.read(str(number))) for number, name in enumerate(paths))


_PATHS = "paths"
_LESS = "give the configurations of one site at a time, or use `qosforge audit --files FOLDER`"


def _too_much() -> str:
    return f"these are more than {MOST_FILES:,} files or {MOST_BYTES >> 20} MiB, unpacked"


def _each(given: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    for name, data in given:
        if name.lower().endswith(".zip"):
            yield from _unpacked(name, data)
        elif _is_visible(name):
            yield name, data


def _unpacked(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    try:
        with ZipFile(BytesIO(data)) as archive:
            entries = [one for one in archive.infolist() if not one.is_dir() and _is_visible(one.filename)]
            # Not unpacked before it is known to be little: an archive of a few bytes may hold gigabytes.
            if len(entries) > MOST_FILES or sum(one.file_size for one in entries) > MOST_BYTES:
                raise InputError(_too_much(), Place(file=name), _LESS)
            for entry in entries:
                inside = Place(file=f"{name}/{entry.filename}")
                if entry.flag_bits & 1:
                    raise InputError("is encrypted", inside, "pack it without a password")
                if entry.compress_type not in _READABLE:
                    raise InputError("is packed in a way that is not read", inside, "pack it as usual (deflate)")
                yield entry.filename, archive.read(entry)
    except (BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError) as error:
        raise InputError(f"cannot be unpacked: {error}", Place(file=name), "pack the files anew") from None


def _is_visible(name: str) -> bool:
    """Whether no part of a path is hidden, or an archive's own (``__MACOSX``)."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    return bool(parts) and not any(part.startswith((".", "__MACOSX")) for part in parts)
