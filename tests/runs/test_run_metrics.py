"""Ends of runs and of stages are counted by the process in which they end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from qosforge.errors import DeviceError, Place
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import ReadSummary
from qosforge.runs.record.tables import RunStatus, StageOutcome, Verdict
from qosforge.telemetry.metrics import PROCESS

from .support import WHY, Clock

Counted = Callable[..., float]


@pytest.fixture
def counted() -> Counted:
    """How much a series grew since the test first asked for it."""
    before: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}

    def grown(name: str, **labels: str) -> float:
        now = PROCESS.get_sample_value(name, labels) or 0.0
        return now - before.setdefault((name, tuple(labels.items())), now)

    return grown


def test_an_end_is_counted_once_with_its_verdict_and_duration(
    store: RunStore, clock: Clock, counted: Counted
) -> None:
    outcome = {"name": "qosforge_run_outcomes_total", "network": "metered", "outcome": "rolled_back"}
    verdict = {"name": "qosforge_run_verdicts_total", "network": "metered", "verdict": "broken"}
    seconds = {"name": "qosforge_run_duration_seconds_sum", "outcome": "rolled_back"}
    stage = {"name": "qosforge_stage_duration_seconds_sum", "stage": "read", "outcome": "done"}
    assert [counted(**one) for one in (outcome, verdict, seconds, stage)] == [0, 0, 0, 0]
    run = store.create_run("metered", "itesm-paper", "f" * 64, {})
    clock.forward(500)  # in the queue
    store.set_status(run.id, RunStatus.RUNNING)
    opened = store.begin_stage(run.id, "read")
    clock.forward(7)
    for _ in range(2):  # a step that is repeated
        store.end_stage(opened, StageOutcome.DONE, ReadSummary())
    clock.forward(20)
    for _ in range(2):
        store.set_status(run.id, RunStatus.ROLLED_BACK, Verdict.BROKEN, reason=WHY)
    assert [counted(**one) for one in (outcome, verdict, seconds, stage)] == pytest.approx([1, 1, 27, 7])


def test_devices_that_failed_are_counted_by_network(store: RunStore, counted: Counted) -> None:
    failures = {"name": "qosforge_device_failures_total", "network": "metered", "during": "run"}
    counted(**failures)
    run = store.create_run("metered", "itesm-paper", "f" * 64, {})
    errors = [StepError.of(DeviceError("away", Place(device=name))) for name in ("r1", "r1", "r2")]
    store.end_stage(store.begin_stage(run.id, "read"), StageOutcome.DONE, ReadSummary(errors=errors))
    store.set_status(run.id, RunStatus.FAILED, reason=WHY)
    assert counted(**failures) == 2
    assert store.next_attempt(store.get_run(run.id))
    store.set_status(run.id, RunStatus.KEPT)
    assert counted(**failures) == 2
