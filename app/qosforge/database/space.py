"""Space of databases that rows left: SQLite files shrink in small steps, PostgreSQL's tables are vacuumed."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from qosforge.database.connections import Database
from qosforge.database.sqlite_file import BUSY_SECONDS
from qosforge.errors import Place, StoreError

_INCREMENTAL = 2
_PAGES = 1000
"""Pages that one step gives back: others write between two steps."""


@dataclass(frozen=True, slots=True)
class Space:
    """Bytes that a file gave back to its disk, and those that are free within it and used again."""

    given_back: int = 0
    left: int = 0

    def __add__(self, other: Space) -> Space:
        return Space(self.given_back + other.given_back, self.left + other.left)


def shrink_file(path: Path, *, rewrite: bool) -> Space:
    """Give back what is free within a SQLite file; others may use it meanwhile.

    A file of an earlier release cannot shrink in steps. With ``rewrite`` it is written anew, after which it can:
    nobody writes for as long as that takes, and its disk needs room for a copy.

    Raises:
        StoreError: it cannot be written.
    """
    before = path.stat().st_size
    try:
        with closing(sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)) as connection:

            def pragma(text: str) -> int:
                return int(connection.execute(f"PRAGMA {text}").fetchone()[0])

            if pragma("auto_vacuum") == _INCREMENTAL:
                while pragma("freelist_count"):
                    connection.execute(f"PRAGMA incremental_vacuum({_PAGES})").fetchall()
            elif rewrite:
                connection.execute(f"PRAGMA auto_vacuum={_INCREMENTAL}")
                connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            left = pragma("freelist_count") * pragma("page_size")
    except sqlite3.Error as error:
        raise StoreError(f"the database cannot be made smaller: {error}", Place(file=str(path))) from error
    return Space(max(0, before - path.stat().st_size), left)


def vacuum_tables(database: Database, tables: Collection[str]) -> None:
    """Vacuum tables of a PostgreSQL database, so that the space of dropped rows is used again; nobody waits for it.

    The server leaves out, with a warning in its log, those that this user does not own.

    Raises:
        StoreError: the server refuses it.
    """
    with closing(database.own_connection()) as connection:
        connection.rollback()
        connection.autocommit = True
        for table in tables:
            connection.execute(f"VACUUM (ANALYZE) {table}")
