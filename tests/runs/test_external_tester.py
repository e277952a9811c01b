"""Waiting for a measurement from outside, by processes that die."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from qosforge.artifacts.store import FileArtifacts
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.workflow import external_tester as outside
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.rules import NetworkRules
from qosforge.runs.workflow.steps import wait
from qosforge.settings import Settings

from .measurements import measured
from .support import Clock, computing


class Killed(BaseException):
    """Ends a step in its midst."""


def test_a_measurement_that_came_while_its_process_died_is_not_lost(
    store: RunStore, run: Run, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifacts = FileArtifacts(tmp_path / "artifacts")
    rules = NetworkRules(Settings(var_dir=tmp_path))
    context = Context(run.id, run.resolved, store, artifacts, lambda *_: None, rules, computing())
    store.begin_attempt(run.id, 1)

    def killed(_seconds: float) -> None:
        clock.forward(30)
        given = store.get_run(run.id)
        outside.receive(store, artifacts, given, "after", tester="probe", document=measured("after", 0))
        clock.forward(40)
        raise Killed

    monkeypatch.setattr(wait.time, "sleep", killed)
    with pytest.raises(Killed):
        wait.await_measurement(context, "after", None, 600)
    found = wait.await_measurement(context, "after", None, 600)
    assert found.measurement is not None
    assert found.until == clock.moment + timedelta(seconds=600 - 70)
