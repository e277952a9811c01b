"""Opening the run store's database: SQLite in write-ahead mode, migrated to the newest revision."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import event

from app.errors import InputError, Place, StoreError
from app.runs.filelock import held

BUSY_SECONDS = 30
"""How long a writer waits for another one: far beyond any of our transactions."""

_MIGRATE_SECONDS = 60


class Database:
    """One database, with short transactions; safe to share between threads.

    Writers begin ``IMMEDIATE`` (one at a time, none can deadlock by upgrading a read), readers see one
    snapshot and block nobody.
    """

    def __init__(self, url: str) -> None:
        """Open the database, creating and migrating it as needed; safe with several processes at once.

        Raises:
            InputError: ``url`` is not a SQLite file.
            StoreError: it cannot be opened, or a newer release wrote it.
        """
        self.path = _sqlite_file(url)
        self._engine = sa.create_engine(sa.URL.create("sqlite", database=str(self.path)))
        event.listen(self._engine, "connect", _on_connect)
        event.listen(self._engine, "begin", _on_begin)
        self._reader = self._engine.execution_options(qosforge_begin="DEFERRED")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with held(self.path.with_name(self.path.name + ".lock"), _MIGRATE_SECONDS):
                self._prepare()
        except OSError as error:
            raise self._trouble("cannot be opened", error.strerror or str(error)) from error
        except BaseException:
            self.close()
            raise

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """A transaction that may write; committed at the end, rolled back on any exception."""
        with self._told(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """One consistent snapshot to read from."""
        with self._told(), self._reader.connect() as connection:
            yield connection

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def _prepare(self) -> None:
        with self._told():
            # The mode is a property of the file and cannot be set inside a transaction.
            with sqlite3.connect(self.path, timeout=BUSY_SECONDS) as plain:
                plain.execute("PRAGMA journal_mode=WAL")
            plain.close()
            with self._engine.begin() as connection:
                config = Config(attributes={"connection": connection})
                config.set_main_option("script_location", "app.runs:migrations")
                try:
                    command.upgrade(config, "head")
                except CommandError as error:
                    raise self._trouble(
                        "holds a schema this release does not know",
                        str(error),
                        "use the release that wrote it, or a newer one",
                    ) from error

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sa.exc.IntegrityError:
            raise  # a broken rule of ours, not a sick database
        except sa.exc.DatabaseError as error:
            raise self._trouble("failed", str(error.orig)) from error
        except sqlite3.Error as error:
            raise self._trouble("failed", str(error)) from error

    def _trouble(self, what: str, why: str, mend: str = "") -> StoreError:
        return StoreError(
            f"the run store {what}: {why}",
            Place(file=str(self.path)),
            mend or "check that the file is a run store, can be written and that its disk has space",
        )


def _sqlite_file(url: str) -> Path:
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError as error:
        raise InputError("the database URL cannot be read", mend="write sqlite:///path/to/file") from error
    if parsed.get_backend_name() != "sqlite" or parsed.database in (None, "", ":memory:"):
        raise InputError(
            f"the run store cannot live in {parsed.render_as_string(hide_password=True)}",
            mend="use a SQLite file: sqlite:///path/to/file",
        )
    return Path(str(parsed.database)).absolute()


def _on_connect(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say, see _on_begin
    connection.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA synchronous=FULL")  # a journal row is on the disk before the box is touched


def _on_begin(connection: sa.Connection) -> None:
    mode = connection.get_execution_options().get("qosforge_begin", "IMMEDIATE")
    connection.exec_driver_sql(f"BEGIN {mode}")
