"""Exclusive locks between processes, held by the operating system and dropped when their holder dies."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from qosforge.errors import Place, StoreError

_POLL_SECONDS = 0.05


class FileLock:
    """An exclusive ``flock`` on one file, which also names its holder's process id for whoever is refused.

    The file stays behind when the lock is released: removing it would let two processes lock two
    different files of the same name.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def exists(self) -> bool:
        """Whether anybody ever took it."""
        return self._path.exists()

    def try_acquire(self) -> bool:
        """Take the lock if nobody holds it.

        Raises:
            StoreError: the lock file cannot be opened.
        """
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreError(f"cannot open the lock file: {error.strerror}", Place(file=str(self._path))) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        except BaseException:
            os.close(descriptor)
            raise
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Give the lock back; nothing happens when it is not held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def holder(self) -> int | None:
        """The process id its holder wrote, or ``None`` where it cannot be read."""
        try:
            return int(self._path.read_text())
        except (OSError, ValueError):
            return None


@contextlib.contextmanager
def hold_lock(path: Path, seconds: float) -> Iterator[None]:
    """Hold the lock at ``path`` while the block lasts; wait at most ``seconds`` for it.

    Raises:
        StoreError: somebody else held it all that time.
    """
    lock = FileLock(path)
    deadline = time.monotonic() + seconds
    while not lock.try_acquire():
        if time.monotonic() >= deadline:
            raise StoreError(
                f"process {lock.holder() or 'unknown'} has held this lock for more than {seconds:g} s",
                Place(file=str(path)),
                "wait for that process to end, or stop it",
            )
        time.sleep(_POLL_SECONDS)
    try:
        yield
    finally:
        lock.release()
