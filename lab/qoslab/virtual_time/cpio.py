"""Archives that the kernel unpacks as its first file system: cpio in the "newc" form.

Source: Documentation/driver-api/early-userspace/buffer-format.rst of the Linux kernel.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from qoslab.errors import LabError

_MAGIC = b"070701"
_LAST = "TRAILER!!!"


@dataclass(frozen=True, slots=True)
class File:
    """A regular file; ``modified`` is in seconds since 1970."""

    content: bytes
    executable: bool = False
    modified: int = 0


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link."""

    target: str


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that may be empty; those that files stand in need not be named."""


Entry = File | Link | Folder


def archive(entries: Mapping[str, Entry]) -> bytes:
    """The archive of entries by their path from the root; the same entries give the same bytes.

    Raises LabError for a path that leads out of the root or through something that is no folder.
    """
    whole: dict[str, Entry] = {}
    for path in sorted(entries):
        name = _relative(path)
        for parent in reversed(PurePosixPath(name).parents[:-1]):
            if not isinstance(whole.setdefault(str(parent), Folder()), Folder):
                raise LabError(f"{path}: {parent} is no folder")
        if name in whole and not (isinstance(whole[name], Folder) and isinstance(entries[path], Folder)):
            raise LabError(f"{path} is there twice")
        whole[name] = entries[path]
    records = [_record(number, name, entry) for number, (name, entry) in enumerate(whole.items(), start=1)]
    return b"".join([*records, _header(0, _LAST, 0, 0, 0)])


def _relative(path: str) -> str:
    parts = PurePosixPath(path.lstrip("/")).parts
    if not parts or ".." in parts:
        raise LabError(f"{path!r} is no place in an archive")
    return "/".join(parts)


def _record(number: int, name: str, entry: Entry) -> bytes:
    modified = 0
    match entry:
        case File(content, executable, modified):
            mode = stat.S_IFREG | (0o755 if executable else 0o644)
        case Link(target):
            mode, content = stat.S_IFLNK | 0o777, target.encode()
        case Folder():
            mode, content = stat.S_IFDIR | 0o755, b""
    return _header(number, name, mode, len(content), modified) + _padded(content)


def _header(number: int, name: str, mode: int, size: int, modified: int) -> bytes:
    """Inode, mode, owner, group, links, time, size, devices (4), length of the name, no checksum; the name."""
    coded = name.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, modified, size, 0, 0, 0, 0, len(coded), 0)
    return _padded(_MAGIC + b"".join(b"%08X" % field for field in fields) + coded)


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 4)
