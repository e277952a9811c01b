"""What a run does while others have its devices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qosforge.artifacts.store import FileArtifacts
from qosforge.errors import DeviceError, InputError, InputErrors, Place
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.resources import root
from qosforge.runs.record.reason import RECOVER
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import JournalAction, RunStatus
from qosforge.runs.requests.requests import Desk, Order
from qosforge.runs.workflow.context import Context, Documents
from qosforge.runs.workflow.rules import NetworkRules
from qosforge.runs.workflow.run_workflow import RunWorkflow
from qosforge.runs.workflow.steps import wait as waiting
from qosforge.settings import Settings
from tests.runs.support import WHY

from .support import computing


@pytest.fixture
def desk(store: RunStore, tmp_path: Path) -> Desk:
    return Desk(Settings(var_dir=tmp_path), store, FileArtifacts(tmp_path / "artifacts"))


@pytest.fixture
def order() -> Order:
    policy = root() / "policies" / "campus-collaboration.yaml"
    return Order(load_network(root() / "inventories" / "campus"), load_intent(policy))


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "TRY_SECONDS", 0.0)


def waits(desk: Desk, order: Order) -> Context:
    """A run that is carried out and has no device yet."""
    run, _ = desk.place(order, "ada")
    desk.store.begin_attempt(run.id, 1)
    rules = NetworkRules(desk.settings)
    documents = Documents(**run.params)
    return Context(run.id, documents, desk.store, desk.artifacts, lambda *_: None, rules, computing())


def lock(context: Context) -> object:
    return waiting.lock(context, context.store.now().isoformat())


@pytest.fixture
def stopped(desk: Desk, order: Order) -> Context:
    """A run that stopped between two states of a device; a service has not seen it yet."""
    found = waits(desk, order)
    desk.store.journal.append(found.run_id, waiting.scope(found)[0], JournalAction.TOUCHING)
    desk.store.set_status(found.run_id, RunStatus.NEEDS_RECOVERY, reason=WHY)
    return found


def refused(context: Context) -> bool:
    found = lock(context)
    assert isinstance(found, dict)
    return "errors" in found and "between two states" in found["errors"][0]["message"]


def test_what_stopped_between_two_states_is_waited_for_while_it_is_about_to_be_settled(
    desk: Desk, order: Order, stopped: Context
) -> None:
    behind = waits(desk, order)
    assert lock(behind) == {}
    assert "between two states" in desk.run(behind.run_id).waits_for
    with desk.store.stage(stopped.run_id, "rollback"):
        assert lock(behind) == {}
        desk.store.journal.append(stopped.run_id, waiting.scope(stopped)[0], JournalAction.UNDONE)
    assert lock(behind) == {"devices": waiting.scope(behind)}


@pytest.mark.usefixtures("stopped")
def test_what_nobody_settles_is_not_waited_for(desk: Desk, order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "SETTLING_SECONDS", 0)
    assert refused(waits(desk, order))


def test_what_could_not_be_settled_is_not_waited_for(desk: Desk, order: Order, stopped: Context) -> None:
    with desk.store.stage(stopped.run_id, "rollback"):
        pass
    assert refused(waits(desk, order))


def failures() -> list[dict[str, object]]:
    return [DeviceError(f"r{n} refused a line", Place(device=f"r{n}"), "mend the line").document() for n in (1, 2)]


def test_what_errors_stopped_says_all_and_that_boxes_are_put_back_first(desk: Desk, order: Order) -> None:
    clean, left = waits(desk, order), waits(desk, order)
    desk.store.journal.append(left.run_id, waiting.scope(left)[0], JournalAction.TOUCHING)
    for context in (clean, left):
        waiting.set_stopped(context, failures())
    ended = [desk.run(context.run_id) for context in (clean, left)]
    assert [run.status for run in ended] == [RunStatus.FAILED, RunStatus.NEEDS_RECOVERY]
    assert {run.reason for run in ended} == {"r1 refused a line (and 1 more)"}
    assert [run.reason_hint for run in ended] == ["mend the line", RECOVER]


class Failing:
    """An engine that does every step but the first."""

    run_workflow: RunWorkflow

    def register(self, name: str, workflow: object) -> None:
        """Nothing is taken up again."""

    def run(self, _name: str, workflow_id: str, params: dict[str, object]) -> dict[str, object]:
        return self.run_workflow._workflow(workflow_id, params)

    def run_step(self, name: str, phase: Any, *arguments: Any) -> Any:
        if name == "begin":
            raise InputErrors("two", errors=[InputError(f"r{n} is wrong", hint="mend it") for n in (1, 2)])
        return phase(*arguments)

    wait_step = run_step


def test_every_error_that_stopped_a_run_is_counted(desk: Desk, order: Order) -> None:
    engine = Failing()
    rules = NetworkRules(desk.settings)
    run_workflow = RunWorkflow(desk.store, desk.artifacts, engine, lambda *_: None, rules, computing())  # type: ignore[arg-type]
    engine.run_workflow = run_workflow
    context = waits(desk, order)
    with pytest.raises(InputErrors):
        run_workflow.carry_out(context.run_id)
    assert desk.run(context.run_id).reason == "r1 is wrong (and 1 more)"
