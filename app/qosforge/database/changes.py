"""Change notification: wakes up when any process has written to the database, sooner than polling would.

On PostgreSQL by LISTEN and NOTIFY (its manual, both commands); on SQLite by ``PRAGMA data_version``, which costs
microseconds and tells of the commits of every other connection
(https://www.sqlite.org/pragma.html#pragma_data_version).
"""

from __future__ import annotations

import logging
import select
import sqlite3
import threading
import time
from typing import Any

import psycopg
import sqlalchemy as sa

from qosforge.database.connections import CHANNEL, Database
from qosforge.errors import StoreError

_SQLITE_SECONDS = 0.1
_SLICE_SECONDS = 1.0
"""How long a wait for PostgreSQL may hold up who wants to stop."""

_log = logging.getLogger(__name__)


class Changes:
    """What was written to a database since the last :meth:`wait`: on SQLite anything, else what was announced.

    For one thread. What it misses while a server is away, looks at intervals have to find.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Any = None
        self._version: object = None

    def wait(self, seconds: float, stop: threading.Event) -> bool:
        """Wait for a change, for ``seconds`` at most, or until ``stop`` is set; whether there was one."""
        end = time.monotonic() + seconds
        while not stop.is_set() and (left := end - time.monotonic()) > 0:
            try:
                if self._database.is_embedded:
                    time.sleep(min(left, _SQLITE_SECONDS))  # a third of what it costs to wait for an event
                    changed = self._another_version()
                else:
                    changed = self._notified(min(left, _SLICE_SECONDS))
            except (sa.exc.SQLAlchemyError, psycopg.Error, sqlite3.Error, StoreError) as error:
                _log.debug("changes of the database are not heard of: %s", error)
                self.close()
                stop.wait(left)
                return False
            if changed:
                return True
        return False

    def close(self) -> None:
        """Close the connection; a later wait opens another one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            self._version = None

    def _another_version(self) -> bool:
        if self._connection is None:
            self._connection = self._database.own_connection()
        before = self._version
        self._version = self._connection.execute("PRAGMA data_version").fetchone()
        return self._version != before

    def _notified(self, seconds: float) -> bool:
        if self._connection is None:
            self._connection = self._database.own_connection()
            self._connection.autocommit = True
            self._connection.execute(f"LISTEN {CHANNEL}")
            return True  # what came before it listened
        # The driver's own wait wakes ten times a second.
        if not select.select([self._connection], [], [], seconds)[0]:
            return False
        return any(True for _ in self._connection.notifies(timeout=0))
