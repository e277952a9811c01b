"""A pooler between must keep sessions: one that hands transactions to any of its connections is refused."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from qosforge.database.connections import Database
from qosforge.errors import StoreError
from qosforge.executor.executor import Executor
from qosforge.operations.doctor import examine
from qosforge.settings import Settings
from tests.parts import need
from tests.postgres import PostgresServer

Pooler = Callable[[str], str]
"""Starts PgBouncer in a mode before the database, and returns the URL of the database through it."""


@pytest.fixture
def pooler(postgres: PostgresServer, postgres_url: str) -> Iterator[Pooler]:
    need("pooler")
    account = "postgres" if os.geteuid() == 0 else None
    started: list[subprocess.Popen[bytes]] = []

    def start(mode: str) -> str:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        folder = postgres.folder / f"pgbouncer-{port}"
        folder.mkdir()
        (folder / "ini").write_text(
            f"[databases]\n* = host=127.0.0.1 port={postgres.port} user=qosforge\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nauth_type = any\nunix_socket_dir =\n"
            f"pool_mode = {mode}\ndefault_pool_size = 40\nmax_client_conn = 200\n"
        )
        if account is not None:
            shutil.chown(folder, account)
        log = (folder / "log").open("wb")
        with log:
            started.append(
                subprocess.Popen(["/usr/sbin/pgbouncer", folder / "ini"], user=account, stdout=log, stderr=log)
            )
        url = str(make_url(postgres_url).set(port=port).render_as_string(hide_password=False))
        deadline = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(url).close()
                return url
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, (folder / "log").read_text()
                time.sleep(0.05)

    yield start
    for process in started:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


@pytest.mark.parametrize("mode", ["transaction", "statement"])
def test_one_that_keeps_no_sessions_is_refused(pooler: Pooler, tmp_path: Path, mode: str) -> None:
    url = pooler(mode)
    told = [result for result in examine(Settings(database_url=url), ["database"]) if result.hint]
    assert any("pool_mode = session" in result.hint for result in told), told
    for _ in range(5):
        with pytest.raises(StoreError, match="keeps no sessions") as caught:
            Database(url)
        assert "pool_mode = session" in caught.value.hint
    with pytest.raises(StoreError, match="keeps no sessions"):
        Executor(Settings(var_dir=tmp_path, database_url=url), lambda _stage, _line: None)


def test_one_that_keeps_sessions_serves(pooler: Pooler, tmp_path: Path) -> None:
    executor = Executor(Settings(var_dir=tmp_path, database_url=pooler("session")), lambda _stage, _line: None)
    executor.start()
    executor.store.create_run("campus", "policy", "f" * 64, {})
    assert executor.stop()
