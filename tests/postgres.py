"""A real PostgreSQL server for tests: one per test process, which a test may stop, kill and start again."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from qosforge.database.connections import Database
from tests.parts import need

_BINARIES = Path("/usr/lib/postgresql")
_USER = "qosforge"
_TEMPLATE = "migrated"


class PostgresServer:
    """A cluster in a scratch folder, on a free port of the loopback interface."""

    def __init__(self, binaries: Path, account: str | None) -> None:
        """Make the cluster; ``account`` owns it where this process is root, which the server refuses."""
        self._binaries = binaries
        self._account = account
        self.folder = Path(tempfile.mkdtemp(prefix="qosforge-pg-"))
        if account is not None:
            shutil.chown(self.folder, account)
        self._data = self.folder / "data"
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        subprocess.run(
            [binaries / "initdb", "-D", self._data, "-U", _USER, "-A", "trust", "-E", "UTF8", "--no-locale", "-N"],
            user=account,
            cwd=self.folder,
            check=True,
            capture_output=True,
        )
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server and wait until it answers."""
        # The kernel's page cache outlives a killed server, so what was committed stays without fsync, too.
        options = {"fsync": "off", "listen_addresses": "127.0.0.1", "port": self.port, "max_connections": 200}
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    self._binaries / "postgres",
                    *("-D", self._data, "-k", self.folder),
                    *(word for name, value in options.items() for word in ("-c", f"{name}={value}")),
                ],
                user=self._account,
                cwd=self.folder,
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + 60
        while True:
            try:
                with psycopg.connect(self.dsn("postgres")):
                    return
            except psycopg.OperationalError:
                log_text = (self.folder / "log").read_text(errors="replace")
                assert self._process.poll() is None, log_text
                assert time.monotonic() < deadline, log_text
                time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: ``SIGINT`` drops every connection, ``SIGQUIT`` is a crash."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(timeout=60)
            self._process = None

    def restart(self, how: signal.Signals = signal.SIGINT, away: float = 0) -> None:
        """Stop it, and start it again ``away`` seconds later."""
        self.stop(how)
        time.sleep(away)
        self.start()

    def dsn(self, database: str) -> str:
        """What psycopg connects with."""
        return f"postgresql://{_USER}@127.0.0.1:{self.port}/{database}"

    def new_database(self, template: str = "template1") -> str:
        """Make a database and return its URL."""
        name = f"t{uuid4().hex}"
        with psycopg.connect(self.dsn("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.dsn(name)

    def make_template(self) -> None:
        """Make the migrated database that others are copied from."""
        with psycopg.connect(self.dsn("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {_TEMPLATE}")
        Database(self.dsn(_TEMPLATE)).close()

    def remove(self) -> None:
        """Stop it and delete the cluster."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder)


def new_server() -> PostgresServer:
    """A server that is not started yet, of the newest version that is installed."""
    found = sorted(_BINARIES.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    # It refuses root; its package makes the account.
    return PostgresServer(found[-1].parent, "postgres" if os.geteuid() == 0 else None)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A running server; a test that stops it starts it again."""
    need("postgresql")
    server = new_server()
    try:
        server.start()
        server.make_template()
        yield server
    finally:
        server.remove()


@pytest.fixture
def empty_postgres_url(postgres: PostgresServer) -> str:
    """URL of a new database without tables."""
    return postgres.new_database()


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> str:
    """URL of a new database, migrated."""
    return postgres.new_database(_TEMPLATE)
