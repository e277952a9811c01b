"""Hearing of what others write, on both databases."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from qosforge.database.changes import Changes
from qosforge.database.connections import Database
from tests.stopwatch import Stopwatch

LONG = 30.0
"""Seconds; nothing here waits for so long."""
QUIET = 0.6


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    url = f"sqlite:///{tmp_path / 'runs.sqlite'}"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres_url")
    with closing(with_table(url)) as opened:
        yield opened


def with_table(url: str) -> Database:
    opened = Database(url)
    with opened.write() as connection:
        connection.execute(sa.text("CREATE TABLE written (n INTEGER)"))
    return opened


@pytest.fixture
def changes(database: Database) -> Iterator[Changes]:
    made = Changes(database)
    made.wait(LONG, threading.Event())  # whatever came before it listened
    yield made
    made.close()


def write(url: str) -> None:
    """As another process would: with connections of its own."""
    with closing(Database(url)) as other, other.write() as connection:
        connection.execute(sa.text("INSERT INTO written VALUES (1)"))
        other.announce(connection)


def url_of(database: Database) -> str:
    return database.url.render_as_string(hide_password=False)


def test_nothing_is_heard_where_nobody_writes(changes: Changes) -> None:
    assert not changes.wait(QUIET, threading.Event())


def test_another_who_opens_it_changes_nothing(changes: Changes, database: Database) -> None:
    Database(url_of(database)).close()
    assert not changes.wait(QUIET, threading.Event())


def test_what_is_written_while_it_waits_is_heard(changes: Changes, database: Database) -> None:
    later = threading.Timer(QUIET, write, [url_of(database)])
    later.start()
    assert changes.wait(LONG, threading.Event())
    later.join()
    assert not changes.wait(QUIET, threading.Event()), "once is enough"


def test_what_is_written_while_it_does_not_wait_is_heard(changes: Changes, database: Database) -> None:
    write(url_of(database))
    assert changes.wait(LONG, threading.Event())


def test_a_wait_ends_when_it_is_to_stop(changes: Changes) -> None:
    stop = threading.Event()
    threading.Timer(QUIET, stop.set).start()
    watch = Stopwatch()
    assert not changes.wait(LONG, stop)
    assert watch.seconds < LONG / 2


def test_it_listens_again_after_its_connection_was_lost(postgres_url: str) -> None:
    with closing(with_table(postgres_url)) as database, closing(Changes(database)) as changes:
        assert changes.wait(LONG, threading.Event())
        with database.write() as connection:
            others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            connection.execute(sa.text(f"{others} AND datname = current_database()"))
        assert not changes.wait(QUIET, threading.Event())
        assert changes.wait(LONG, threading.Event()), "what may have come meanwhile has to be looked for"
        write(postgres_url)
        assert changes.wait(LONG, threading.Event())
