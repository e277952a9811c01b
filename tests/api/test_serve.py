"""The command ``serve`` as a process: what it owns, how it ends, what it tells."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from qosforge.access.roles import Role
from qosforge.api.backend import open_backend
from qosforge.settings import Settings
from tests.api.conftest import Headers, People
from tests.api.served import QOSFORGE, serving
from tests.checkout import PYTHONPATH
from tests.system.command import Command


@pytest.fixture
def var_dir(tmp_path: Path) -> Path:
    return tmp_path / "var"


@pytest.fixture
def ann(var_dir: Path) -> Headers:
    with open_backend(Settings(var_dir=var_dir)) as backend:
        return People(backend).headers("ann", Role.OPERATOR)


@pytest.fixture
def collector() -> Iterator[tuple[str, list[Span]]]:
    """A collector of traces (OTLP over HTTP), and the spans that it was given."""
    spans: list[Span] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            request = ExportTraceServiceRequest()
            request.ParseFromString(self.rfile.read(int(self.headers["content-length"])))
            spans.extend(
                span for one in request.resource_spans for scope in one.scope_spans for span in scope.spans
            )
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", spans
    server.shutdown()
    thread.join()
    server.server_close()


def test_it_serves_owns_the_runs_and_ends_in_order(
    var_dir: Path, ann: Headers, collector: tuple[str, list[Span]], monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint, spans = collector
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    with (
        serving(var_dir, fork=True, otlp_endpoint=endpoint, trusted_proxies="192.0.2.1") as service,
        service.client(**ann) as client,
    ):
        forged = client.get("/health", headers={"X-Forwarded-Proto": "https"})
        assert "strict-transport-security" not in forged.headers  # the loopback is no trusted proxy here
        ready = client.get("/ready")
        assert (ready.status_code, ready.json()["ready"]) == (200, True)
        trail = client.get("/runs?status=pending", headers={"X-Request-Id": "trail-0001"})
        assert trail.status_code == 200
        # Its devices have no address here, so it fails when it reads them; that is enough to follow it.
        order = {"network": "campus", "policy": {"name": "campus-collaboration"}, "measure": False}
        run = client.post("/runs", json=order).json()["id"]
        wait_until(lambda: client.get(f"/runs/{run}").json()["status"] == "failed")

        (ended,) = [entry for entry in service.log if entry.get("event") == "run ended"]
        assert (ended["run_id"], ended["outcome"], ended["level"]) == (run, "failed", "error")
        assert "r1" in ended["devices"]
        assert "9 devices: no address is known" in ended["reason"]

        second = Command(
            ["serve", "--port", "0"], {"QOSFORGE_VAR_DIR": str(var_dir)}, var_dir.with_name("second")
        ).wait()
        assert second.code == 3
        assert str(service.process.pid) in second.stderr
        assert "Traceback" not in second.stderr

        preview = {"network": "campus", "policy": {"name": "rfc4594-12"}}
        with ThreadPoolExecutor(1) as beside:
            open_request = beside.submit(
                httpx2.post, f"{service.url}/compile", json=preview, headers=ann, timeout=60
            )
            wait_until(lambda: "qosforge_compute_calls 1.0" in client.get("/metrics").text or open_request.done())
            service.process.send_signal(signal.SIGTERM)
            wait_until(lambda: client.get("/ready").status_code == 503)
            assert open_request.result().status_code == 200
        assert service.process.wait(60) == 0
        with pytest.raises(httpx2.ConnectError):
            client.get("/health")
        assert service.said("stopping")
        (line,) = (entry for entry in service.log if entry.get("request_id") == "trail-0001")
        assert (line["event"], line["actor"], line["path"]) == ("request", "ann", "/api/v1/runs")
        assert ann["Authorization"].removeprefix("Bearer ") not in str(service.log)
        assert any(entry.get("run_id") == run and entry.get("stage") == "read" for entry in service.log)
    named = {span.name: span for span in spans}
    attributes = {one.key: one.value.string_value for one in named["GET /api/v1/runs"].attributes}
    assert attributes["qosforge.request_id"] == "trail-0001"
    assert attributes["http.route"] == "/api/v1/runs"
    asked, carried, read = named["POST /api/v1/runs"], named["run"], named["stage read"]
    assert (carried.parent_span_id, read.parent_span_id) == (asked.span_id, carried.span_id)
    assert asked.trace_id == carried.trace_id == read.trace_id != named["GET /api/v1/runs"].trace_id


@pytest.fixture
def hangups(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a child has from its parent, however these tests were started: ``nohup`` has hangups ignored."""
    before = signal.signal(signal.SIGHUP, request.param)
    yield
    signal.signal(signal.SIGHUP, before)


heard = pytest.mark.parametrize("hangups", [signal.SIG_DFL], indirect=True, ids=["heard"])
ignored = pytest.mark.parametrize("hangups", [signal.SIG_IGN], indirect=True, ids=["ignored"])


@heard
@pytest.mark.usefixtures("hangups")
def test_a_terminal_that_goes_away_ends_it_in_order(var_dir: Path) -> None:
    with serving(var_dir) as service:
        assert service.stop(signal.SIGHUP) == 0
        assert service.said("stopping")


@ignored
@pytest.mark.usefixtures("hangups")
def test_who_asked_that_hangups_be_ignored_is_heard(var_dir: Path) -> None:
    with serving(var_dir) as service:
        service.process.send_signal(signal.SIGHUP)
        time.sleep(1.5)
        assert service.process.poll() is None
        assert service.stop() == 0


@heard
@pytest.mark.usefixtures("hangups")
def test_a_worker_drains_when_its_terminal_goes_away(postgres_url: str, var_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        scraped = f"127.0.0.1:{free.getsockname()[1]}"
    worker = subprocess.Popen(
        [*QOSFORGE, "worker", "--json", "--metrics", scraped],
        env={
            **os.environ,
            "PYTHONPATH": PYTHONPATH,
            "QOSFORGE_VAR_DIR": str(var_dir),
            "QOSFORGE_DATABASE_URL": postgres_url,
            "QOSFORGE_RUN_CONCURENCY": "2",
        },
        stderr=subprocess.PIPE,
        text=True,
    )
    assert worker.stderr is not None
    first = worker.stderr.readline()
    assert "QOSFORGE_RUN_CONCURENCY" in first
    assert '"did_you_mean": "QOSFORGE_RUN_CONCURRENCY"' in first
    while '"working"' not in (line := worker.stderr.readline()):
        assert line
    metrics = httpx2.get(f"http://{scraped}/metrics").text
    for name in (
        "process_cpu_seconds_total",
        "qosforge_build_info{",
        'qosforge_database_connections{state="used"}',
    ):
        assert name in metrics
    worker.send_signal(signal.SIGHUP)
    told = worker.communicate(timeout=60)[1]
    assert worker.returncode == 0
    assert '"stopping"' in told


def test_a_port_in_use_is_reported(var_dir: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        arguments = ["serve", "--port", str(port)]
        done = Command(arguments, {"QOSFORGE_VAR_DIR": str(var_dir)}, tmp_path / "printed").wait()
    assert done.code == 3
    assert f"cannot listen at 127.0.0.1 port {port}: Address already in use" in done.stderr
    assert "--port" in done.stderr


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)
