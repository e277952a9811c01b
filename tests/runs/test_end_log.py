"""How a run ended is told by the log alone."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from qosforge.errors import DeviceError, Place
from qosforge.runs.record.reason import REASONED
from qosforge.runs.record.run import Run
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import ReadSummary
from qosforge.runs.record.tables import RunStatus, StageOutcome, Verdict
from qosforge.telemetry.logs import configure_logs

from .support import WHY, Clock


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What a service in this process would write."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    stream = io.StringIO()
    configure_logs("json", stream)
    yield stream
    root.handlers = handlers
    root.setLevel(level)


def ends(log: io.StringIO) -> list[dict[str, object]]:
    entries = [json.loads(line) for line in log.getvalue().splitlines()]
    return [entry for entry in entries if entry["event"] == "run ended"]


@pytest.mark.parametrize(
    ("status", "level"),
    [
        (RunStatus.KEPT, "info"),
        (RunStatus.NO_CHANGES, "info"),
        (RunStatus.CANCELLED, "info"),
        (RunStatus.ROLLED_BACK, "warning"),
        (RunStatus.REJECTED, "warning"),
        (RunStatus.FAILED, "error"),
        (RunStatus.NEEDS_RECOVERY, "error"),
    ],
)
def test_every_end_is_one_line(
    store: RunStore, clock: Clock, log: io.StringIO, status: RunStatus, level: str
) -> None:
    run = store.create_run("campus", "itesm-paper", "f" * 64, {})
    store.set_status(run.id, RunStatus.RUNNING)
    clock.forward(90)
    reason = WHY if status in REASONED else None
    store.set_status(run.id, status, Verdict.BROKEN, reason=reason)
    store.set_status(run.id, status, Verdict.BROKEN, reason=reason)  # a step that is repeated
    (line,) = ends(log)
    told = {name: line[name] for name in ("run_id", "network", "policy", "outcome", "verdict", "reason", "seconds")}
    assert told == {
        "run_id": run.id,
        "network": "campus",
        "policy": "itesm-paper",
        "outcome": status.value,
        "verdict": "broken",
        "reason": reason.message if reason else "",
        "seconds": 90.0,
    }
    assert line["level"] == level


def test_what_a_device_did_is_told_with_its_name(store: RunStore, run: Run, log: io.StringIO) -> None:
    error = DeviceError("cannot be reached", Place(device="r1"), "check its address")
    with store.stage(run.id, "read", ReadSummary()) as summary:
        summary.errors = [StepError.of(error)]
    store.set_status(run.id, RunStatus.ROLLED_BACK, reason=WHY)
    (line,) = ends(log)
    assert line["devices"] == ["r1"]
    assert line["reason"] == f"{WHY.message}; r1: cannot be reached (check its address)"
    assert line["level"] == "error"


def test_only_the_last_attempt_counts(store: RunStore, run: Run, log: io.StringIO) -> None:
    with store.stage(run.id, "read", ReadSummary()) as summary:
        summary.errors = [StepError.of(DeviceError("away", Place(device="r1")))]
    store.set_status(run.id, RunStatus.FAILED, reason=WHY)
    assert store.next_attempt(store.get_run(run.id))
    store.set_status(run.id, RunStatus.KEPT)
    assert [line["outcome"] for line in ends(log)] == ["failed", "kept"]
    assert ends(log)[1]["reason"] == ""
    assert ends(log)[1]["attempt"] == 2


def test_hundreds_of_devices_are_one_short_line(store: RunStore, run: Run, log: io.StringIO) -> None:
    errors = [StepError.of(DeviceError("away", Place(device=f"r{number}"))) for number in range(300)]
    store.end_stage(store.begin_stage(run.id, "read"), StageOutcome.DONE, ReadSummary(errors=errors))
    store.set_status(run.id, RunStatus.FAILED, reason=WHY)
    (line,) = ends(log)
    assert "r0 and 299 more: away" in str(line["reason"])
    assert len(json.dumps(line)) < 8000


def test_a_command_that_has_no_log_prints_no_line(
    store: RunStore, run: Run, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    store.set_status(run.id, RunStatus.FAILED, reason=WHY)
    assert capfd.readouterr() == ("", "")
