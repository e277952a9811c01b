"""How much SQLite works: the instructions of its virtual machine, which grow with the rows that it goes through."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from qosforge.database.connections import Database


@contextmanager
def counted_steps(database: Database, each: int = 1) -> Iterator[list[int]]:
    """Count instructions in the only item of a list while the block lasts, one for ``each`` of a statement."""
    steps = [0]

    def count() -> None:
        steps[0] += 1

    def watch(connection: sqlite3.Connection, *_: object) -> None:
        connection.set_progress_handler(count, each)

    def leave(connection: sqlite3.Connection, *_: object) -> None:
        connection.set_progress_handler(None, 0)

    with database.read() as connection:
        engine = connection.engine
    sa.event.listen(engine, "checkout", watch)
    sa.event.listen(engine, "checkin", leave)
    try:
        yield steps
    finally:
        sa.event.remove(engine, "checkout", watch)
        sa.event.remove(engine, "checkin", leave)
