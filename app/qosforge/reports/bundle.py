"""A ZIP file that is written while it is sent: it holds no more than one document in memory."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import PurePosixPath

MOST_BYTES = 512 * 2**20
"""Of all documents together; what would be more is named in a list instead."""

LEFT_OUT = "LEFT-OUT.txt"

ZipEntry = tuple[str, Callable[[], bytes]]
"""Name with folders, and how to get the content."""


class _Pipe:
    """A write-only file whose content is taken out piece by piece."""

    def __init__(self) -> None:
        self._written = bytearray()

    def write(self, data: bytes) -> int:
        self._written += data
        return len(data)

    def flush(self) -> None:
        """There is nothing below to hand it to."""

    def take(self) -> bytes:
        """What was written since it was last asked."""
        taken, self._written = bytes(self._written), bytearray()
        return taken


def stream_zip(entries: Iterable[ZipEntry], at: datetime, most: int = MOST_BYTES) -> Iterator[bytes]:
    """The documents as a ZIP file, in pieces; names stay below the folder that it is unpacked into."""
    pipe = _Pipe()
    left_out: list[str] = []
    total = 0
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        for name, content in entries:
            data = content()
            total += len(data)
            if total > most:
                total -= len(data)
                left_out.append(name)
                continue
            archive.writestr(_member(name, at), data)
            yield pipe.take()
        if left_out:
            archive.writestr(_member(LEFT_OUT, at), "\n".join(["More than fits into one download:", *left_out, ""]))
    yield pipe.take()


def _member(name: str, at: datetime) -> zipfile.ZipInfo:
    parts = [part for part in PurePosixPath(name.replace("\\", "/")).parts if part not in ("/", "..", ".")]
    made = zipfile.ZipInfo("/".join(parts) or "unnamed", at.timetuple()[:6])
    made.compress_type = zipfile.ZIP_DEFLATED
    made.external_attr = 0o644 << 16
    return made
