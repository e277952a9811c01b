"""Files that are written whole or not at all, where that keeps all that another file in their place had."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

_REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY)
"""How a folder says that nothing may be put into it, or a file that nothing may take its place (a mounted one)."""


def write_whole(path: Path, data: bytes) -> None:
    """Write a file, with the folders above it; one that was there keeps owner, permissions, links and attributes.

    It is put in the place of that one whole. Where that would lose any of these, or the folder does not allow it,
    the file itself is written; a pipe and a device are, too.

    Raises:
        OSError: it cannot be written there; what was put in place whole, or nothing, is there then.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    there = _there(path)
    with _beside(path, there) as file:
        if file is not None:
            file.write(data)
            file.flush()
            if there is not None:  # what was there is given up for it
                os.fsync(file.fileno())
            if _put(Path(file.name), path, there):
                return
    path.write_bytes(data)


def try_whole(path: Path) -> None:
    """Try whether `write_whole` can write a file, in the same way; only folders above it are made.

    Raises:
        OSError: it cannot.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    there = _there(path)
    # A pipe would wait for its reader.
    if there is None or stat.S_ISREG(there.st_mode) or stat.S_ISDIR(there.st_mode):
        with _beside(path, there) as file:
            if file is None:
                path.open("ab").close()


def _there(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


@contextmanager
def _beside(path: Path, there: os.stat_result | None) -> Iterator[BinaryIO | None]:
    """An empty file that may take the place of ``path`` in the block; None where that file itself is written."""
    if there is not None and not _replaceable(path, there):
        yield None
        return
    real = Path(os.path.realpath(path))
    scratch = real.with_name(f".{secrets.token_hex(8)}.new")
    try:
        file = scratch.open("xb")
    except OSError as error:
        if there is None or error.errno not in _REFUSED:
            raise
        yield None
        return
    try:
        with file:
            yield file if there is None or _made_like(scratch, real, there) else None
    finally:
        with suppress(OSError):  # it was put in its place, say
            scratch.unlink()


def _replaceable(path: Path, there: os.stat_result) -> bool:
    """Whether another file may take its place: it is regular, may be written, has one name and is meant by that."""
    return (
        stat.S_ISREG(there.st_mode)
        and there.st_nlink == 1
        and os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
        and not _is_descriptor(path)
    )


def _is_descriptor(path: Path) -> bool:
    """Whether a path leads through ``/dev`` or ``/proc``, as ``/dev/stdout``: an open file is meant, no name."""
    while True:
        folder = Path(os.path.realpath(path.parent))
        if folder.parts[1:2] in (("dev",), ("proc",)):
            return True
        path = folder / path.name
        if not path.is_symlink():
            return False
        path = folder / path.readlink()


def _made_like(scratch: Path, real: Path, there: os.stat_result) -> bool:
    """Give a file owner, group and permissions of another one; returns whether it has all that the other has."""
    try:
        made = scratch.stat()
        if (made.st_uid, made.st_gid) != (there.st_uid, there.st_gid):
            os.chown(scratch, there.st_uid, there.st_gid)
        scratch.chmod(stat.S_IMODE(there.st_mode))
        return _attributes(scratch) == _attributes(real)
    except OSError:
        return False


def _attributes(path: Path) -> dict[str, bytes]:
    """Extended attributes, access control lists among them; none where the system or the file system has none."""
    if not hasattr(os, "listxattr"):
        return {}
    try:
        names = os.listxattr(path)
    except OSError as error:
        if error.errno == errno.ENOTSUP:
            return {}
        raise
    return {name: os.getxattr(path, name) for name in names}


def _put(scratch: Path, path: Path, there: os.stat_result | None) -> bool:
    """Put a file in the place of another one; returns False where that one cannot be replaced."""
    try:
        scratch.replace(os.path.realpath(path))
    except OSError as error:
        if there is None or error.errno not in _REFUSED:
            raise
        return False
    return True
