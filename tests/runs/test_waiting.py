"""What a run does while others have its boxes."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.intent.loader import load_intent
from app.inventory.loader import load_network
from app.resources import root
from app.runs import waiting
from app.runs.artifacts import ArtifactStore
from app.runs.context import Context, Documents
from app.runs.desk import Desk, Order
from app.runs.rules import NetworkRules
from app.runs.store import RunStore
from app.runs.tables import JournalAction, RunStatus
from app.settings import Settings
from tests.runs.support import WHY

from .support import computing


@pytest.fixture
def desk(store: RunStore, tmp_path: Path) -> Desk:
    return Desk(Settings(var_dir=tmp_path), store, ArtifactStore(tmp_path / "artifacts"))


@pytest.fixture
def order() -> Order:
    policy = root() / "policies" / "campus-collaboration.yaml"
    return Order(load_network(root() / "inventories" / "campus"), load_intent(policy))


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "TRY_SECONDS", 0.0)


def waits(desk: Desk, order: Order) -> Context:
    """A run that is carried out and has no box yet."""
    run, _ = desk.place(order, "ada")
    desk.store.begin_attempt(run.id, 1)
    rules = NetworkRules(desk.settings)
    documents = Documents(**run.params)
    return Context(run.id, documents, desk.store, desk.artifacts, lambda *_: None, rules, computing())


def lock(context: Context) -> object:
    return waiting.lock(context, context.store.now().isoformat())


def test_what_stopped_between_two_states_is_not_waited_for(desk: Desk, order: Order) -> None:
    stopped, behind = waits(desk, order), waits(desk, order)
    desk.store.journal.append(stopped.run_id, waiting.scope(stopped)[0], JournalAction.TOUCHING)
    assert lock(behind) == {}
    desk.store.set_status(stopped.run_id, RunStatus.NEEDS_RECOVERY, reason=WHY)
    found = lock(behind)
    assert isinstance(found, dict)
    assert "between two states" in found["errors"][0]["message"]
