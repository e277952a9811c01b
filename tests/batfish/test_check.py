"""Batfish: not configured, not answering, answering nonsense, answering."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from qosforge.batfish.check import DEFAULT_PORT, check_with_batfish
from qosforge.batfish.rows import new_rows
from qosforge.batfish.snapshots import make_snapshots
from qosforge.compiler.compile import CompiledDevice
from qosforge.findings import Finding, Severity
from qosforge.platforms.cisco_ios import PLATFORM
from tests.validation.support import RUNNING, compiled, with_device

STATES = pytest.mark.parametrize(
    ("require", "severity"), [(False, Severity.WARNING), (True, Severity.ERROR)], ids=["optional", "required"]
)


def check(**options) -> tuple[Finding, ...]:
    return check_with_batfish(compiled(), RUNNING, **{"host": "127.0.0.1", **options})


@pytest.mark.parametrize(("require", "severity"), [(False, Severity.INFO), (True, Severity.ERROR)])
def test_no_host_is_said_plainly(require: bool, severity: Severity) -> None:
    (finding,) = check(host=None, require=require)
    assert (finding.code, finding.severity) == ("batfish-not-checked", severity)
    assert finding.message == "Batfish did not check: no host is configured"
    assert "QOSFORGE_BATFISH_HOST" in str(finding.hint)


@STATES
def test_closed_port(require: bool, severity: Severity) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody else can answer there
        port = taken.getsockname()[1]
        (finding,) = check(port=port, require=require)
    assert (finding.code, finding.severity) == ("batfish-unreachable", severity)
    assert f"127.0.0.1:{port}" in finding.message


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 70_000), ("a" * 70, DEFAULT_PORT)])
def test_address_that_is_none(host: str, port: int) -> None:
    assert [f.code for f in check(host=host, port=port)] == ["batfish-unreachable"]


@STATES
def test_service_that_never_answers_is_given_up(require: bool, severity: Severity) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        (finding,) = check(port=silent.getsockname()[1], require=require, answer_seconds=0.5)
    assert (finding.code, finding.severity) == ("batfish-failed", severity)
    assert "did not answer within 0.5 s" in finding.message


class _NotBatfish(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_error(404)

    do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815 (names that http.server asks for)

    def log_message(self, *_: object) -> None:
        """Quiet."""


@contextmanager
def _other_service() -> Iterator[int]:
    with HTTPServer(("127.0.0.1", 0), _NotBatfish) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def test_another_service_at_the_port_is_a_finding_and_no_traceback() -> None:
    with _other_service() as port:
        (finding,) = check(port=port, answer_seconds=60)
    assert finding.code == "batfish-failed"
    assert "Traceback" not in finding.message
    assert "404" in finding.message


def test_platform_batfish_does_not_model_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(PLATFORM), "batfish_format", None)
    (finding,) = check(port=1)
    assert (finding.code, finding.severity) == ("batfish-not-modelled", Severity.INFO)
    assert "cisco_ios: r1, r2, r3" in finding.message
    assert make_snapshots(compiled(), RUNNING).after == {}


def test_snapshots_differ_in_the_change_alone() -> None:
    snapshots = make_snapshots(compiled(), RUNNING)
    assert set(snapshots.before) == set(snapshots.after) == {"r1.cfg", "r2.cfg", "r3.cfg"}
    before, after = snapshots.before["r1.cfg"].splitlines(), snapshots.after["r1.cfg"].splitlines()
    assert set(before) < set(after)
    assert " service-policy output QOSFORGE-OUT" in set(after) - set(before)
    assert after.index(" bandwidth 2000") < after.index(" service-policy output QOSFORGE-OUT")


def test_box_that_is_not_known_starts_empty() -> None:
    snapshots = make_snapshots(compiled(), {})
    assert set(snapshots.before.values()) == {"! BATFISH_FORMAT: cisco_ios\n"}
    assert "policy-map QOSFORGE-OUT" in snapshots.after["r2.cfg"]


def _answers(**rows):
    return {"fileParseStatus": [], "parseWarning": [], "undefinedReferences": [], **rows}


def _reference(name: str, lines: str) -> dict[str, str]:
    return {
        "File_Name": "configs/r1.cfg",
        "Struct_Type": "class-map",
        "Ref_Name": name,
        "Context": "policy-map class",
        "Lines": lines,
    }


def test_reference_that_the_change_breaks_is_an_error() -> None:
    before = _answers(undefinedReferences=[_reference("old", "configs/r1.cfg:[3]")])
    after = _answers(undefinedReferences=[_reference("old", "configs/r1.cfg:[9]"), _reference("new", "x")])
    (finding,) = new_rows({"before": before, "after": after})
    assert (finding.code, finding.severity, finding.device) == (
        "batfish-undefined-reference",
        Severity.ERROR,
        "r1",
    )
    assert "class-map 'new'" in finding.message


@pytest.mark.parametrize(
    ("status", "severity"),
    [("FAILED", Severity.ERROR), ("PARTIALLY_UNRECOGNIZED", Severity.WARNING), ("PASSED", None)],
)
def test_parse_status(status: str, severity: Severity | None) -> None:
    def row(value: str):
        return _answers(fileParseStatus=[{"File_Name": "configs/r2.cfg", "Status": value}])

    found = new_rows({"before": row("EMPTY"), "after": row(status)})
    assert [(f.code, f.severity) for f in found] == ([("batfish-parse-status", severity)] if severity else [])
    assert new_rows({"before": row(status), "after": row(status)}) == ()


def test_warning_counts_once_more_than_before() -> None:
    row = {"Filename": "configs/r3.cfg", "Line": 4, "Text": " set dscp x", "Comment": "Unrecognized"}
    moved = {**row, "Line": 7}
    assert new_rows({"before": _answers(parseWarning=[row]), "after": _answers(parseWarning=[moved])}) == ()
    found = new_rows({"before": _answers(parseWarning=[row]), "after": _answers(parseWarning=[row, moved])})
    assert [(f.code, f.severity, f.device) for f in found] == [("batfish-parse-warning", Severity.WARNING, "r3")]
    assert "'set dscp x'" in found[0].message


@pytest.fixture
def live() -> str:
    """Host of a live service."""
    host = os.environ.get("QOSFORGE_BATFISH_HOST")
    if not host:
        pytest.fail("set QOSFORGE_BATFISH_HOST, or deselect the tests marked batfish")
    return host


@pytest.mark.batfish
def test_live_service_passes_a_sound_change(live: str) -> None:
    port = int(os.environ.get("QOSFORGE_BATFISH_PORT", DEFAULT_PORT))
    found = check(host=live, port=port, require=True)
    assert [(f.code, f.severity) for f in found] == [("batfish-checked", Severity.INFO)]


@pytest.mark.batfish
def test_live_service_finds_a_lost_class_map(live: str) -> None:
    def lose(device: CompiledDevice) -> CompiledDevice:
        return replace(device, blocks=tuple(b for b in device.blocks if b.name != "voice"))

    port = int(os.environ.get("QOSFORGE_BATFISH_PORT", DEFAULT_PORT))
    found = check_with_batfish(with_device(compiled(), "r2", lose), RUNNING, host=live, port=port)
    errors = [f for f in found if f.severity is Severity.ERROR]
    assert {(f.code, f.device) for f in errors} == {("batfish-undefined-reference", "r2")}


ASKS = """
import sys
from qosforge.batfish.check import _ask
from qosforge.batfish.snapshots import Snapshots

_ask("127.0.0.1", int(sys.argv[1]), Snapshots({}, {}), float(sys.argv[2]))
"""


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP])
def test_who_asks_does_not_outlive_who_waits_for_it(end: signal.Signals) -> None:
    """Killed in the midst of it; or it sleeps, so that its own clock has to end what it began."""
    asks = ASKS.replace("import sys", "import sys\nimport qosforge.batfish.check as b\nb._ALARM_SECONDS = 1", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        seconds = 60 if end is signal.SIGKILL else 2
        port = silent.getsockname()[1]
        with subprocess.Popen([sys.executable, "-c", asks, str(port), str(seconds)]) as waits:
            try:
                deadline = time.monotonic() + 60
                while not children_of(waits.pid):
                    assert time.monotonic() < deadline
                    time.sleep(0.01)
                (child,) = children_of(waits.pid)
                waits.send_signal(end)
                deadline = time.monotonic() + (2 if end is signal.SIGKILL else 6)
                while Path(f"/proc/{child}/cmdline").exists() and Path(f"/proc/{child}/cmdline").read_bytes():
                    assert time.monotonic() < deadline
                    time.sleep(0.05)
            finally:
                waits.kill()
