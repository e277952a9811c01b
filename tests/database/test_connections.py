from __future__ import annotations

import os
import signal
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext

import qosforge.access.tables
import qosforge.artifacts.tables
import qosforge.audit.tables
import qosforge.device_state.tables
import qosforge.operations.tables
import qosforge.policy_library.tables
import qosforge.runs.record.tables  # tables join the metadata when they are imported
import qosforge.sweeps.tables
import qosforge.webhooks.tables  # noqa: F401
from qosforge.database.connections import Database
from qosforge.database.schema import METADATA
from qosforge.errors import InputError, StoreError
from qosforge.runs.record.store import RunStore
from tests.postgres import PostgresServer
from tests.runs.support import Spawn, finish

OPEN = """
import sys
from qosforge.runs.record.store import RunStore
print("ready", flush=True)
sys.stdin.readline()
with RunStore(sys.argv[1]) as store:
    print(store.create_run("campus", "itesm-paper", "f" * 64, {}).id)
"""


def test_the_migrations_make_the_tables_the_code_uses(store_url: str) -> None:
    database = Database(store_url)
    with database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
    database.close()


def test_migrating_twice_changes_nothing(store_url: str) -> None:
    with RunStore(store_url) as store:
        made = store.create_run("campus", "itesm-paper", "f" * 64, {"waves": 2})
    with RunStore(store_url) as store:
        assert store.list_runs() == [made]


@pytest.mark.parametrize("name", ["sqlite_url", "empty_postgres_url"])
def test_two_processes_open_a_new_store_at_once(name: str, request: pytest.FixtureRequest, spawn: Spawn) -> None:
    store_url = request.getfixturevalue(name)
    children = [spawn(OPEN, store_url) for _ in range(2)]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    made = {finish(child).strip() for child in children}
    with RunStore(store_url) as store:
        assert {run.id for run in store.list_runs()} == made


def test_the_migration_can_be_written_as_sql(capsys: pytest.CaptureFixture[str]) -> None:
    config = Config()
    config.set_main_option("script_location", "qosforge.database:migrations")
    command.upgrade(config, "head", sql=True)
    script = capsys.readouterr().out
    with closing(sqlite3.connect(":memory:")) as plain:
        plain.executescript(script)
        assert plain.execute("SELECT count(*) FROM journal").fetchone() == (0,)


def test_connections_are_durable_and_check_references(sqlite_url: str) -> None:
    database = Database(sqlite_url)
    with database.read() as connection:
        pragma = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "foreign_keys", "synchronous", "busy_timeout")
        }
    database.close()
    assert pragma == {"journal_mode": "wal", "foreign_keys": 1, "synchronous": 2, "busy_timeout": 30_000}


def test_a_reader_does_not_wait_for_a_writer(store_url: str) -> None:
    database = Database(store_url)
    with database.write() as writer:
        writer.exec_driver_sql("CREATE TABLE scratch (x INTEGER)")
        with database.read() as reader:
            assert reader.exec_driver_sql("SELECT count(*) FROM runs").scalar() == 0
            assert not sa.inspect(reader).has_table("scratch")
    database.close()


def test_a_failed_write_leaves_nothing(store_url: str) -> None:
    database = Database(store_url)

    def fail_half_way() -> None:
        with database.write() as connection:
            connection.exec_driver_sql("CREATE TABLE scratch (x INTEGER)")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_half_way()
    with database.read() as connection:
        assert not sa.inspect(connection).has_table("scratch")
    database.close()


@pytest.mark.parametrize(
    "url", ["mysql://qos:secret@host/runs", "postgresql://", "sqlite://", "sqlite:///:memory:", "runs.sqlite", ""]
)
def test_only_a_sqlite_file_or_a_postgresql_database_is_taken(url: str) -> None:
    with pytest.raises(InputError, match="sqlite:///path/to/file") as caught:
        Database(url)
    assert "secret" not in str(caught.value)


def test_a_server_that_does_not_answer_is_reported_without_its_password() -> None:
    with pytest.raises(StoreError, match="check that the server runs") as caught:
        Database("postgresql://qos:secret@127.0.0.1:1/runs")
    assert "secret" not in str(caught.value)


def test_a_file_that_is_no_database_is_reported(tmp_path: Path) -> None:
    (tmp_path / "runs.sqlite").write_text("hostname R1\n" * 100)
    with pytest.raises(StoreError, match="not a database"):
        Database(f"sqlite:///{tmp_path / 'runs.sqlite'}")
    assert (tmp_path / "runs.sqlite").read_text().startswith("hostname")


def test_a_transaction_outlives_a_restart_of_the_server(postgres: PostgresServer, postgres_url: str) -> None:
    database = Database(postgres_url)
    attempts: list[int] = []

    def work(connection: sa.Connection) -> int:
        attempts.append(1)
        connection.execute(sa.text("CREATE TABLE scratch (x INTEGER)"))
        if len(attempts) == 1:
            postgres.restart(signal.SIGQUIT)  # a crash, with the transaction open
        connection.execute(sa.text("INSERT INTO scratch VALUES (1)"))
        return len(attempts)

    assert database.transact(work) == 2
    postgres.restart()
    assert database.query(lambda connection: connection.scalar(sa.text("SELECT sum(x) FROM scratch"))) == 1
    database.close()


def test_a_transaction_waits_for_a_server_that_is_away(postgres: PostgresServer, postgres_url: str) -> None:
    database, hasty = Database(postgres_url), Database(postgres_url, patience=0)
    postgres.stop()
    with pytest.raises(StoreError, match="check that the server runs"), hasty.read():
        pass
    start = threading.Timer(1, postgres.start)
    start.start()
    with database.write() as connection:
        assert connection.scalar(sa.text("SELECT 1")) == 1
    start.join()
    hasty.close()
    database.close()


def test_one_transaction_at_a_time_names_a_thing(postgres_url: str) -> None:
    database = Database(postgres_url)
    order: list[str] = []
    with database.write() as first, ThreadPoolExecutor(1) as pool:
        database.serialize(first, "leases of campus")

        def second(connection: sa.Connection) -> None:
            database.serialize(connection, "leases of campus")
            order.append("second")

        waiting = pool.submit(database.transact, second)
        with database.write() as other:
            database.serialize(other, "leases of cern")
        order.append("first")
        first.rollback()
        waiting.result(timeout=60)
    assert order == ["first", "second"]
    database.close()


def test_a_place_that_is_no_directory_is_reported(tmp_path: Path) -> None:
    (tmp_path / "var").write_text("")
    with pytest.raises(StoreError, match="cannot be opened"):
        Database(f"sqlite:///{tmp_path / 'var' / 'runs.sqlite'}")


def test_a_store_of_a_later_release_is_left_alone(store_url: str) -> None:
    database = Database(store_url)
    with database.write() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    database.close()
    with pytest.raises(StoreError, match="use the release that wrote it"):
        Database(store_url)


@pytest.mark.parametrize("mode", [0o755, 0o777])
def test_the_file_is_its_owners_alone_whatever_its_directory(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "var"
    folder.mkdir()
    folder.chmod(mode)
    before = os.umask(0o022)
    try:
        for _ in range(2):  # a file of before is closed, too
            database = Database(f"sqlite:///{folder / 'runs.sqlite'}")
            with database.write() as connection:
                connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS scratch (x INTEGER)")
                modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
            database.close()
            assert {"runs.sqlite", "runs.sqlite-wal", "runs.sqlite-shm"} <= modes.keys()
            assert set(modes.values()) == {0o600}
            (folder / "runs.sqlite").chmod(0o644)
    finally:
        os.umask(before)


WRITE_ELSEWHERE = """
import sys
from contextlib import closing
from qosforge.database.connections import Database
with closing(Database(sys.argv[1])) as database, database.write() as connection:
    connection.exec_driver_sql("CREATE TABLE scratch (x INTEGER)")
"""


def test_a_process_that_opens_it_twice_sees_what_others_write(sqlite_url: str, spawn: Spawn) -> None:
    with closing(Database(sqlite_url)) as first:
        with first.read() as connection:
            connection.exec_driver_sql("SELECT 1 FROM runs")
        Database(sqlite_url).close()
        finish(spawn(WRITE_ELSEWHERE, sqlite_url))
        with first.read() as connection:
            assert sa.inspect(connection).has_table("scratch")
