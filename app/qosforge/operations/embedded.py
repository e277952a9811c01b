"""Copies of a SQLite installation: the run store and the engine's record as of one moment."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import sqlalchemy as sa

from qosforge.database.sqlite_file import BUSY_SECONDS
from qosforge.errors import InputError, Place, StoreError
from qosforge.operations.archive import ENGINE, PASSING, STORE


def copy_databases(store: Path, engine: Path, into: Path) -> tuple[Path, ...]:
    """Copy both databases into a folder while runs go on, and return the copies.

    Nothing is written into the store meanwhile. Whatever a step does it records there before it ends and before
    the next one begins, so the two copies are to each other as a killed process would have left them: the engine
    repeats at most the step that was in flight. The rows of `PASSING` are left out.

    Raises:
        StoreError: one cannot be read or copied whole.
    """
    with _store_errors(store), closing(sqlite3.connect(store, timeout=BUSY_SECONDS, isolation_level=None)) as lock:
        lock.execute("BEGIN IMMEDIATE")
        copies = [_copy(engine, into / ENGINE)] if engine.is_file() else []
        copies.append(_copy(store, into / STORE))
    _leave_out(into / STORE)
    return tuple(copies)


@contextmanager
def open_copy(database: Path) -> Iterator[sa.Connection]:
    """A connection to a copy, whatever revision its tables have; nothing is made or migrated.

    Raises:
        StoreError: it cannot be read.
    """
    engine = sa.create_engine(f"sqlite:///{database.absolute().as_uri()}?mode=ro&uri=true")
    try:
        with _store_errors(database), engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def check_database(database: Path) -> None:
    """Make sure that a copy is a whole database.

    Raises:
        StoreError: it is not.
    """
    with _store_errors(database), closing(sqlite3.connect(database)) as connection:
        found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise StoreError(f"the database is damaged: {found}", Place(file=str(database)), "take another backup")


def move_into_place(unpacked: Path, into: Path) -> None:
    """Move what was unpacked to where an installation has it; the store comes last and makes it one."""
    for name in ("artifacts", ENGINE, STORE):
        if (unpacked / name).exists():
            (unpacked / name).rename(into / name)


def require_vacant(into: Path) -> None:
    """Make sure that a folder holds no installation.

    Raises:
        InputError: it holds one, or a part.
    """
    for name in (STORE, ENGINE, "artifacts"):
        if (into / name).exists():
            raise InputError(
                "an installation is here already",
                Place(file=str(into / name)),
                "name another folder, or move it away",
            )


def _copy(source: Path, target: Path) -> Path:
    with (
        _store_errors(source),
        closing(
            sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)
        ) as original,
        closing(sqlite3.connect(target)) as copied,
    ):
        target.chmod(0o600)
        original.backup(copied)
        copied.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it
    check_database(target)
    return target


def _leave_out(copy: Path) -> None:
    """Delete the rows of `PASSING` from a copy, and write it anew: a deleted row stays in a file for a while."""
    with _store_errors(copy), closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for table in there.intersection(PASSING):
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - a name of ours
        connection.execute("VACUUM")


@contextmanager
def _store_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, sa.exc.DatabaseError) as error:
        raise StoreError(
            f"the database cannot be read: {error}",
            Place(file=str(path)),
            "check the file, its rights and its disk",
        ) from error
