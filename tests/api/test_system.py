"""Health, readiness, versions and metrics."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend
from qosforge.database.revisions import known_revisions
from qosforge.runs.engine.executor_leases import ExecutorLease, new_executor_id
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import RunStatus, Verdict
from tests.api.conftest import People


def test_health_needs_nobody_and_nothing(client: TestClient, backend: Backend) -> None:
    backend.database.close()
    assert client.get("/api/v1/health").json() == {"status": "ok"}


def test_ready_says_what_stands_against_it(client: TestClient, backend: Backend) -> None:
    answer = client.get("/api/v1/ready")
    assert answer.status_code == 503
    checks = {check["name"]: check for check in answer.json()["checks"]}
    assert {name: check["good"] for name, check in checks.items()} == {
        "service": True,
        "database": True,
        "writing": True,
        "executors": False,
    }
    assert "start a worker" in checks["executors"]["detail"]
    backend.stopping.set()
    assert "being stopped" in client.get("/api/v1/ready").text


def test_ready_with_an_executor(client: TestClient, backend: Backend) -> None:
    lease = ExecutorLease(backend.database, new_executor_id(embedded=True), "1")
    lease.acquire()
    try:
        answer = client.get("/api/v1/ready")
        assert (answer.status_code, answer.json()["ready"]) == (200, True)
    finally:
        lease.release()


def test_version_tells_the_tables_too(client: TestClient) -> None:
    document = client.get("/api/v1/version").json()
    assert document["schema_revision"] == document["schema_newest"] == known_revisions()[0]
    assert document["release"]


def test_metrics_count_requests_by_route_and_runs_by_status(client: TestClient, people: People) -> None:
    viewer = people.headers("prometheus", Role.VIEWER, "campus")
    assert client.get("/api/v1/metrics").status_code == 401
    client.get("/api/v1/runs/0198c5f0-0000-7000-8000-000000000000", headers=viewer)
    client.get("/api/v1/nowhere/secret-name")
    answer = client.get("/api/v1/metrics", headers=viewer)
    assert answer.headers["content-type"].startswith("text/plain")
    samples = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }
    assert samples["qosforge_http_requests_total", "/api/v1/runs/{run_id}", "404", "GET"] == 1
    assert samples["qosforge_http_requests_total", "404", "GET", "other"] == 1
    assert samples["qosforge_runs", "pending"] == 0
    assert samples["qosforge_executors",] == 0
    assert samples["qosforge_store_up",] == 1
    assert samples["qosforge_device_leases", "held"] == 0
    assert ("qosforge_runs_oldest_timestamp_seconds", "pending") not in samples
    assert samples["qosforge_database_connections_most",] > 0
    assert "secret-name" not in answer.text


def test_what_is_open_is_told_with_its_age(client: TestClient, people: People, backend: Backend) -> None:
    with RunStore(backend.settings.database_url) as store:
        waiting = store.create_run("campus", "itesm-paper", "f" * 64, {})
        working = store.create_run("campus", "itesm-paper", "f" * 64, {})
        working = store.set_status(working.id, RunStatus.RUNNING)
        stage = store.begin_stage(working.id, "read")
        store.leases.acquire(working.id, ["r1", "r2"], 60)
    text = client.get("/api/v1/metrics", headers=people.headers("prometheus", Role.VIEWER)).text
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert samples["qosforge_runs_oldest_timestamp_seconds", "pending"] == waiting.updated.timestamp()
    assert samples["qosforge_runs_oldest_timestamp_seconds", "running"] == working.updated.timestamp()
    assert samples["qosforge_stages_oldest_timestamp_seconds", "read"] == stage.started.timestamp()
    assert samples["qosforge_device_leases", "held"] == 2


def test_series_of_a_network_are_for_its_viewers(client: TestClient, people: People, backend: Backend) -> None:
    with RunStore(backend.settings.database_url) as store:
        run = store.create_run("hidden-campus", "itesm-paper", "f" * 64, {})
        store.set_status(run.id, RunStatus.KEPT, Verdict.MET)
    everywhere, near = people.headers("all", Role.VIEWER), people.headers("near", Role.VIEWER, "campus")
    series = 'qosforge_run_outcomes_total{network="hidden-campus",outcome="kept"}'
    assert series in client.get("/api/v1/metrics", headers=everywhere).text
    assert "hidden-campus" not in client.get("/api/v1/metrics", headers=near).text


@pytest.mark.parametrize("path", ["health", "ready", "version"])
def test_what_is_public_names_no_place_of_this_machine(client: TestClient, backend: Backend, path: str) -> None:
    assert str(backend.settings.var_dir) not in client.get(f"/api/v1/{path}").text
