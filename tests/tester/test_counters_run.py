"""The counters as a part of a run: what the phase keeps, and what a contradiction does to a push."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qosforge.artifacts.store import FileArtifacts
from qosforge.deploy.transaction import running
from qosforge.emulation import start_lab
from qosforge.inventory.loader import load_network
from qosforge.inventory.overlay import state_folder
from qosforge.runs.record.resolved_run import ResolvedRun
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import JournalAction, RunStatus
from qosforge.runs.views.report import run_report
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.rules import NetworkRules
from qosforge.runs.workflow.steps import counters
from qosforge.runs.workflow.steps.prepare import store_texts
from qosforge.settings import Settings
from qoslab import control
from tests.runs.support import computing
from tests.system.command import Command

from .conftest import INVENTORY, ROOT, Campus

POLICY = ROOT / "policies" / "campus-collaboration.yaml"


@pytest.fixture
def context(campus: Campus, tmp_path: Path) -> Iterator[Context]:
    """A run that stands after its read-back."""
    artifacts = FileArtifacts(tmp_path / "artifacts")
    with RunStore(f"sqlite:///{tmp_path / 'runs.sqlite'}") as store:
        resolved = ResolvedRun(
            network_name="campus",
            policy="campus-collaboration",
            policy_version="0" * 64,
            intent_file=str(POLICY),
            intent_artifact=artifacts.put_text(POLICY.read_text()),
            network_artifact=artifacts.put_text(campus.network.model_dump_json(by_alias=True)),
            lab=str(campus.state),
        )
        run, _ = store.add_run(resolved, "ada")
        rules = NetworkRules(Settings(var_dir=tmp_path))
        made = Context(run.id, run.resolved, store, artifacts, lambda _stage, _line: None, rules, computing())
        yield made
        made.close()


def held(context: Context, *names: str) -> dict[str, str]:
    """What the devices hold, as the read-back leaves it."""
    outcomes = context.fleet.run(names, lambda _name, driver: running(driver))
    return store_texts(context, outcomes)


def test_a_clean_phase_keeps_every_note_and_a_line_for_the_report(context: Context) -> None:
    result = counters.check_counters(context, held(context, "r1", "s2950"))
    assert result.errors == []
    notes: list[dict[str, Any]] = context.artifacts.get_json(result.notes)
    assert {note["device"] for note in notes} == {"r1", "s2950"}
    assert {(n["queue"], n["grew"]) for n in notes if n["device"] == "r1" and n["direction"] == "output"} == {
        ("voice-video", 2000),
        ("web-and-file", 1000),
        ("class-default", 1000),
    }
    (stage,) = run_report(context.store, context.artifacts, context.run_id).stages
    assert stage.summary == "6 classes and queues of 1 devices counted; no counters by class: s2950"


def test_a_contradiction_is_an_error_and_a_row_of_the_journal(context: Context, campus: Campus) -> None:
    control.plant(campus.state, "r1", "ignore_priority")
    try:
        result = counters.check_counters(context, held(context, "r1", "r2"))
    finally:
        control.plant(campus.state, "r1", "clear")
    assert [error.device for error in result.errors] == ["r1"]
    assert "priority queue took 0" in result.errors[0].message
    (row,) = context.store.journal.entries(context.run_id)
    assert (row.device, row.action) == ("r1", JournalAction.FAILED)


def test_a_device_that_cannot_be_asked_is_an_error(context: Context, campus: Campus) -> None:
    after = held(context, "r1")
    missing = {"ers5510": context.artifacts.put_text(_with_another_filter(campus))}
    result = counters.check_counters(context, after | missing)
    assert [error.device for error in result.errors] == ["ers5510"]
    assert {note["device"] for note in context.artifacts.get_json(result.notes)} == {"r1"}


def _with_another_filter(campus: Campus) -> str:
    """The 5510's configuration with a policy that the device does not have."""
    text = str(control.request(campus.state, {"op": "running", "box": "ers5510"})["running"])
    lines = text.splitlines()
    at = max(i for i, line in enumerate(lines) if line.startswith("qos policy "))
    words = lines[at].split()
    number = int(words[2])
    element = f"qos ip-element {number + 1} addr-type ipv4 ds-field 10"
    classifier = (
        f"qos classifier {number + 1} set-id {number + 1} name more element-type ip element-id {number + 1}"
    )
    policy = lines[at].replace(str(number), str(number + 1)).replace(words[-1], str(int(words[-1]) - 1))
    return "\n".join([*lines[: at + 1], element, classifier, policy, *lines[at + 1 :]]) + "\n"


def test_a_push_whose_counters_contradict_is_rolled_back(tmp_path: Path) -> None:
    network = load_network(INVENTORY)
    state = state_folder(tmp_path, network.name)
    start_lab(network, INVENTORY, state)
    try:
        before = {device.name: _running(state, device.name) for device in network.devices}
        control.plant(state, "r3", "ignore_priority")
        environment = {"QOSFORGE_VAR_DIR": str(tmp_path), "QOSFORGE_BATFISH_HOST": ""}
        pushed = Command(["push", str(POLICY), "--json"], environment, tmp_path / "printed").wait()
        after = {device.name: _running(state, device.name) for device in network.devices}
    finally:
        control.stop(state)
    assert pushed.code == 3, pushed.stderr
    told = json.loads(pushed.stdout)
    assert told["status"] == RunStatus.ROLLED_BACK
    assert [error["device"] for error in told["errors"]] == ["r3"]
    assert "priority queue took 0" in told["errors"][0]["message"]
    assert after == before


def _running(state: Path, device: str) -> str:
    return str(control.request(state, {"op": "running", "box": device})["running"])
