"""Locks that let one process carry out runs on SQLite: one engine per process, per engine record and per store.

The store's lock is a file beside it, so that opening the store by another run directory, or through a link, meets
the same lock.
"""

from __future__ import annotations

import threading
from pathlib import Path

from qosforge.database.filelock import FileLock
from qosforge.errors import EngineBusy, Place, StoreError

_in_process = threading.Lock()  # DBOS is one per process, whatever the directory


class Ownership:
    """The locks of a launched engine: of its process, and on SQLite of its record and its store."""

    def __init__(self, directory: Path, *, record: Path | None = None, store: Path | None = None) -> None:
        """``record`` and ``store`` are SQLite files that nobody else may carry out runs with."""
        self._directory = directory
        self._locks = [(FileLock(directory / "engine.lock"), record, "the run engine")] if record else []
        if store is not None:
            self._locks.append((_store_lock(store), store, "the run engine of this store"))

    def acquire(self) -> None:
        """Take all locks, or none.

        Raises:
            EngineBusy: another process, or another engine of this one, holds a part.
            StoreError: the run directory or a lock cannot be made.
        """
        if not _in_process.acquire(blocking=False):
            raise EngineBusy("this process runs an engine already", hint="close it first")
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            for lock, file, what in self._locks:
                if not lock.try_acquire():
                    raise EngineBusy(
                        f"process {lock.holder() or 'unknown'} owns {what}",
                        Place(file=str(file)),
                        "wait until its run has ended, or stop that process and use `qosforge recover`",
                    )
        except OSError as error:
            self.release()
            raise StoreError(
                f"the run directory cannot be made: {error.strerror}", Place(file=str(self._directory))
            ) from error
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Release what :meth:`acquire` locked."""
        for lock, _, _ in self._locks:
            lock.release()
        _in_process.release()


def owner_of(store: Path) -> int | None:
    """The process that carries out the runs of a SQLite store; 0 where it did not write which, ``None``: nobody."""
    lock = _store_lock(store)
    if not lock.exists():
        return None
    holder = lock.holder()
    if lock.try_acquire():
        lock.release()
        return None
    return holder or 0


def _store_lock(store: Path) -> FileLock:
    file = store.resolve()
    return FileLock(file.with_name(f"{file.name}.owner"))
