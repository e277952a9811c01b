"""Whether the service is ready is whether a run could be written now; and whoever asks learns no address."""

from __future__ import annotations

import json
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import make_url
from starlette.testclient import TestClient

import qosforge.api.backend
from qosforge.api.backend import Backend, open_backend
from qosforge.runs.engine.executor_leases import ExecutorLease, LeaseTimes, new_executor_id
from qosforge.settings import Settings
from qosforge.telemetry.exposition import exposed_metrics
from qosforge.web.site import create_site
from tests.postgres import PostgresServer
from tests.runs.conftest import spawn
from tests.runs.support import Spawn, finish
from tests.stopwatch import Stopwatch

__all__ = ["spawn"]


def look(client: TestClient) -> tuple[int, dict[str, bool], float]:
    """The status, every check, and how long it took."""
    time.sleep(0.3)  # an answer is shared for a moment
    watch = Stopwatch()
    answer = client.get("/api/v1/ready")
    took = watch.seconds
    return answer.status_code, {one["name"]: one["good"] for one in answer.json()["checks"]}, took


@pytest.fixture
def executing(backend: Backend) -> Iterator[None]:
    lease = ExecutorLease(
        backend.database, new_executor_id(backend.database.is_embedded), "1", LeaseTimes(600, 600, 600)
    )
    lease.acquire()
    yield
    lease.release()


GOOD = {"service": True, "database": True, "writing": True, "executors": True}


def test_a_damaged_store_is_not_ready(client: TestClient, backend: Backend, executing: None) -> None:
    assert look(client)[:2] == (200, GOOD)
    assert backend.database.path is not None
    whole = _damage(backend.database.path)
    backend.database.close()
    status, checks, took = look(client)
    assert (status, checks["writing"]) == (503, False)
    assert took < 1
    backend.database.path.write_bytes(whole)
    backend.database.close()
    assert look(client)[:2] == (200, GOOD)


def _damage(store: Path) -> bytes:
    """Spoil the page where rows of runs begin; what the file was before."""
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'runs'").fetchone()
    whole = store.read_bytes()
    spoilt = bytearray(whole)
    spoilt[(page - 1) * size : page * size] = b"\xff" * size
    store.write_bytes(spoilt)
    return whole


FULL = """
import json, resource, signal, sys, time
from pathlib import Path
from starlette.testclient import TestClient
from qosforge.api.application import create_app
from qosforge.api.backend import open_backend
from qosforge.runs.engine.executor_leases import ExecutorLease, LeaseTimes
from qosforge.settings import Settings
from tests.stopwatch import Stopwatch

with open_backend(Settings(var_dir=Path(sys.argv[1]), compute_processes=1)) as backend:
    lease = ExecutorLease(backend.database, "embedded", "1", LeaseTimes(600, 600, 600))
    lease.acquire()
    with TestClient(create_app(backend)) as client:
        def look():
            time.sleep(0.3)
            watch = Stopwatch()
            answer = client.get("/api/v1/ready")
            checks = {one["name"]: one["good"] for one in answer.json()["checks"]}
            return [answer.status_code, checks, watch.seconds]
        before = look()
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))  # no file takes another byte
        full = look()
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        after = look()
    lease.release()
print(json.dumps([before, full, after]))
"""


def test_a_disk_that_takes_no_more_is_not_ready(tmp_path: Path, spawn: Spawn) -> None:

    before, full, after = json.loads(finish(spawn(FULL, tmp_path / "var")).splitlines()[-1])
    assert before[:2] == [200, GOOD]
    assert full[:2] == [503, GOOD | {"writing": False}]
    assert full[2] < 1
    assert after[:2] == [200, GOOD]


def test_one_that_writes_for_long_holds_nobody_back(client: TestClient, backend: Backend, executing: None) -> None:
    """As a backup does while it copies the store."""
    with backend.database.write():
        status, checks, took = look(client)
    assert (status, checks) == (200, GOOD)
    assert took < 1


def test_looking_leaves_nothing_behind(client: TestClient, backend: Backend, executing: None) -> None:
    for _ in range(3):
        look(client)
    with backend.database.read() as connection:
        for table in ("runs", "stages", "events"):
            assert connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one() == 0


@pytest.fixture
def on_server(
    postgres: PostgresServer, postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Backend, TestClient]]:
    """The service on a server, which waits half a second for it."""
    monkeypatch.setattr(qosforge.api.backend, "PATIENCE_SECONDS", 0.5)
    settings = Settings(var_dir=tmp_path / "var", database_url=postgres_url, compute_processes=1)
    with open_backend(settings) as backend, TestClient(create_site(backend), follow_redirects=False) as client:
        lease = ExecutorLease(backend.database, new_executor_id(embedded=False), "1", LeaseTimes(600, 600, 600))
        lease.acquire()
        yield backend, client
        lease.release()


def test_a_server_that_is_stopped_is_reported_within_a_second(
    on_server: tuple[Backend, TestClient], postgres: PostgresServer
) -> None:
    _, client = on_server
    assert look(client)[:2] == (200, GOOD)
    postgres.stop()
    try:
        for _ in range(2):
            status, checks, took = look(client)
            assert status == 503
            assert checks == {"service": True, "database": False, "writing": False, "executors": False}
            assert took < 1
    finally:
        postgres.start()
    assert look(client)[:2] == (200, GOOD)


def test_a_store_that_is_away_is_seen_by_who_scrapes_without_a_token(
    on_server: tuple[Backend, TestClient], postgres: PostgresServer
) -> None:
    backend, _ = on_server
    with socket.create_server(("127.0.0.1", 0)) as free:
        where = f"127.0.0.1:{free.getsockname()[1]}"
    with exposed_metrics(backend.metrics.registry, where):
        assert "qosforge_store_up 1.0" in httpx2.get(f"http://{where}/metrics").text
        postgres.stop()
        try:
            assert "qosforge_store_up 0.0" in httpx2.get(f"http://{where}/metrics").text
        finally:
            postgres.start()


REFUSE = """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$
"""


def test_a_server_whose_disk_is_full_is_not_ready(on_server: tuple[Backend, TestClient]) -> None:
    backend, client = on_server
    with backend.database.write() as connection:
        connection.exec_driver_sql(REFUSE)
        connection.exec_driver_sql("CREATE TRIGGER full_disk BEFORE INSERT ON runs EXECUTE FUNCTION refuse()")
    status, checks, _ = look(client)
    assert (status, checks) == (503, GOOD | {"writing": False})
    with backend.database.write() as connection:
        connection.exec_driver_sql("DROP TRIGGER full_disk ON runs")
    assert look(client)[:2] == (200, GOOD)


def test_a_server_that_hangs_is_reported_within_a_second(
    on_server: tuple[Backend, TestClient], postgres: PostgresServer
) -> None:
    backend, client = on_server
    with backend.database.write() as connection:
        connection.exec_driver_sql("LOCK TABLE alembic_version IN ACCESS EXCLUSIVE MODE")
        for _ in range(2):
            status, checks, took = look(client)
            assert (status, checks["database"]) == (503, False)
            assert took < 1


STRANGERS = [
    ("GET", "/api/v1/runs"),
    ("GET", "/api/v1/version"),
    ("GET", "/api/v1/ready"),
    ("GET", "/api/v1/metrics"),
    ("POST", "/api/v1/login"),
    ("GET", "/runs"),
    ("GET", "/login"),
    ("POST", "/login"),
]


def test_no_stranger_learns_where_the_database_is(
    on_server: tuple[Backend, TestClient], postgres: PostgresServer, capsys: pytest.CaptureFixture[str]
) -> None:
    backend, client = on_server
    url = make_url(str(backend.database.url))
    made_up = {"Authorization": "Bearer qf_0123456789abcdef_" + "0" * 64, "Cookie": "qosforge_session=" + "1" * 64}
    postgres.stop()
    try:
        for method, path in STRANGERS:
            body = {"name": "ann", "user": "ann", "password": "x" * 12}
            for headers in ({}, made_up):
                sent = {"json": body} if path.startswith("/api") and method == "POST" else {"data": body}
                sent = sent if method == "POST" else {}
                answer = client.request(method, path, headers=headers, **sent)  # type: ignore[arg-type]
                told = answer.text + str(answer.headers)
                for secret in (url.database, f"{url.username}@", str(url.port), "127.0.0.1", "postgresql"):
                    assert str(secret) not in told, (method, path, told)
        unavailable = client.get("/api/v1/runs", headers=made_up)
        assert unavailable.status_code == 503
        assert unavailable.json()["detail"] == "the run store cannot be read or written now"
        assert "log" in unavailable.json()["errors"][0]["hint"]
    finally:
        postgres.start()


def test_no_stranger_learns_where_the_store_is(client: TestClient, backend: Backend) -> None:
    assert backend.database.path is not None
    _damage(backend.database.path)  # what is in the log of writes is in the file now
    backend.database.path.write_bytes(b"no database at all" * 1000)
    backend.database.close()
    answer = client.get("/api/v1/version")
    assert answer.status_code == 503
    assert str(backend.settings.var_dir) not in answer.text
    assert "not a database" not in answer.text
