"""The SQLite file of an installation: how it is made, opened and kept private, and how its transactions begin."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event

from qosforge.database.filelock import hold_lock
from qosforge.database.pool import EMBEDDED_POOL

BUSY_SECONDS = 30
"""How long a writer waits for another one: far beyond any of our transactions."""

_MIGRATE_SECONDS = 60
_BEGIN = "qosforge_begin"


def open_file(url: sa.URL) -> tuple[sa.Engine, sa.Engine]:
    """The engine of a file, and the one that only reads by the same connections.

    Writers begin ``IMMEDIATE``: one at a time, none can deadlock by upgrading a read.
    """
    engine = sa.create_engine(url, pool_size=EMBEDDED_POOL.kept, max_overflow=EMBEDDED_POOL.more)
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)
    return engine, engine.execution_options(**{_BEGIN: "DEFERRED"})


@contextmanager
def prepared(path: Path) -> Iterator[None]:
    """Make the file where there is none, in write-ahead mode; no other process prepares it while the block lasts.

    Raises:
        OSError: it cannot be made.
        sqlite3.Error: it cannot be opened.
        StoreError: another process has been at it for too long.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with hold_lock(path.with_name(path.name + ".lock"), _MIGRATE_SECONDS):
        keep_private(path)
        # The mode is a property of the file and cannot be set inside a transaction.
        with closing(sqlite3.connect(path, timeout=BUSY_SECONDS)) as plain:
            let_shrink(plain)
            plain.execute("PRAGMA journal_mode=WAL")
        yield


@contextmanager
def waiting(connection: sa.Connection, seconds: float) -> Iterator[None]:
    """Let this connection wait for other writers for so long while the block lasts."""
    driver = connection.connection.driver_connection
    assert driver is not None
    driver.execute(f"PRAGMA busy_timeout={int(seconds * 1000)}")
    try:
        yield
    finally:
        driver.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}")


def keep_private(path: Path) -> None:
    """Let nobody but its owner read a database: it has hashes of passwords and tokens.

    Its directory may be open to all. SQLite makes the files beside it with the mode of the database. A database
    that is there is not opened: to close it would drop the locks that SQLite holds on it for this process, another
    process would take itself for the last one, and remove the log that this one reads
    (https://www.sqlite.org/howtocorrupt.html, 2.2).
    """
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_CLOEXEC, 0o600))
    elif path.is_file() and path.stat().st_mode & 0o077:
        path.chmod(0o600)


def let_shrink(connection: sqlite3.Connection) -> None:
    """Let a file that is still empty give space back in small steps later; a file with tables stays as it is.

    There the pragma would be a commit each time, and wake everybody who waits for a change.
    """
    if not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")


def _on_connect(connection: Any, _record: Any) -> None:
    try:
        connection.isolation_level = None  # transactions begin where we say, see _on_begin
        connection.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA synchronous=FULL")  # a journal row is on the disk before the device is touched
    except BaseException:
        connection.close()  # the pool has not taken it yet, and would forget it
        raise


def _on_begin(connection: sa.Connection) -> None:
    mode = connection.get_execution_options().get(_BEGIN, "IMMEDIATE")
    connection.exec_driver_sql(f"BEGIN {mode}")
