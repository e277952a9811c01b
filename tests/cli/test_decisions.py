"""Decisions on runs of this machine's own store."""

from __future__ import annotations

import getpass
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from qosforge.artifacts.store import FileArtifacts
from qosforge.cli.run_output import exit_code, print_whole
from qosforge.reports.model import DeviceReport, RunReport
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import PredictionSummary, PrepareSummary
from qosforge.runs.record.tables import RunStatus

from .conftest import Command


@pytest.fixture
def run(tmp_path: Path) -> Run:
    (tmp_path / "var").mkdir()
    with RunStore(f"sqlite:///{tmp_path}/var/runs.sqlite") as store:
        return store.create_run("campus", "gold", "ab" * 32, {})


def test_a_run_is_cancelled_and_begun_again(qosforge: Command, run: Run) -> None:
    cancelled = json.loads(qosforge("cancel", run.id, "--json").stdout)
    assert (cancelled["id"], cancelled["status"]) == (run.id, "cancelled")
    assert cancelled["cancelled_by"] == getpass.getuser()

    again = qosforge("retry", run.id[:12])
    assert again.code == 0
    assert f"run {run.id}: pending" in again.stdout
    assert "qosforge recover" in again.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("approve",), "waits for no approval"),
        (("reject", "--comment", "no"), "waits for no approval"),
        (("rollback",), "has nothing to roll back"),
        (("retry",), "cannot be tried again"),
        (("retry", "--start", "keep"), "cannot begin at 'keep'"),
    ],
)
def test_what_its_state_does_not_allow_is_reported(
    qosforge: Command, run: Run, arguments: tuple[str, ...], says: str
) -> None:
    ended = qosforge(arguments[0], run.id, *arguments[1:])
    assert (ended.code, ended.stdout) == (2, "")
    assert says in ended.stderr


def test_what_is_predicted_to_break_is_approved_with_a_reason(qosforge: Command, run: Run, tmp_path: Path) -> None:
    with RunStore(f"sqlite:///{tmp_path}/var/runs.sqlite") as store:
        artifacts = FileArtifacts(tmp_path / "var" / "artifacts")
        candidate = artifacts.put_json({"version": 1, "devices": {"r1": "policy-map new\n"}})
        for name, summary in (
            ("prepare", PrepareSummary(candidate=candidate, devices={})),
            ("predict", PredictionSummary(outcome="broken")),
        ):
            with store.stage(run.id, name, summary):
                pass
        store.set_status(run.id, RunStatus.NEEDS_APPROVAL, waits_for="an approver")
    refused = qosforge("approve", run.id)
    assert (refused.code, refused.stdout) == (2, "")
    assert "the change is predicted to break objectives" in refused.stderr
    assert "say in a comment why" in refused.stderr
    approved = qosforge("approve", run.id, "--comment", "the figures of site B are old")
    assert approved.code == 0, approved.stderr
    assert f"run {run.id}: pending" in approved.stdout


@pytest.mark.parametrize("command", ["approve", "reject", "cancel", "retry", "rollback", "show"])
def test_a_run_that_is_not_there_is_reported(qosforge: Command, command: str) -> None:
    ended = qosforge(command, "abc")
    assert ended.code == 2
    assert "there is no run 'abc'" in ended.stderr


@pytest.mark.parametrize("status", RunStatus)
def test_only_a_change_that_stands_is_good(status: RunStatus) -> None:
    good = status in (RunStatus.KEPT, RunStatus.NO_CHANGES)
    assert (exit_code(status, None, failed=False) == 0) == good
    assert exit_code(status, "broken", failed=False) != 0
    assert exit_code(status, "broken", failed=True) == 3


def test_a_run_that_waits_shows_what_an_approval_is_about(capsys: pytest.CaptureFixture[str]) -> None:
    router = DeviceReport(
        name="r1", platform="cisco_ios", outcome="not touched", candidate="class-map [bold]x\n exit"
    )
    idle = DeviceReport(name="r2", platform="cisco_ios", outcome="nothing to change")
    waits = RunReport(
        id="1",
        network="campus",
        intent="gold",
        status="needs_approval",
        started=datetime(2026, 1, 1, tzinfo=UTC),
        created_by="ann",
        ticket="CHG1",
        devices=(router, idle),
    )
    print_whole(waits)
    shown = capsys.readouterr().out
    for text in (
        "ann",
        "CHG1",
        "r1 would be given",
        "  class-map [bold]x",
        "r2 would be given",
        "nothing: it holds",
    ):
        assert text in shown
    print_whole(waits.model_copy(update={"status": "kept"}))
    ended = capsys.readouterr().out
    assert "class-map" not in ended
    assert "not touched" in ended


def test_a_list_tells_an_undoing_run_from_the_one_that_it_undoes(
    qosforge: Command, run: Run, tmp_path: Path
) -> None:
    with RunStore(f"sqlite:///{tmp_path}/var/runs.sqlite") as store:
        undo = store.create_run("campus", "gold", "ab" * 32, {"undo_of": run.id})
    listed = {entry["run"]: entry["rollback_of"] for entry in json.loads(qosforge("runs", "--json").stdout)}
    assert listed == {run.id: None, undo.id: run.id}
    assert qosforge("runs").stdout.count("rollback of gold") == 1
