"""Runs that wait for boxes of runs that wait for a process: one has to make place for the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.intent.loader import load_intent
from app.inventory.loader import load_network
from app.resources import root
from app.runs import waiting
from app.runs.artifacts import DatabaseArtifacts
from app.runs.context import Context, Documents
from app.runs.desk import Desk, Order
from app.runs.rules import NetworkRules
from app.runs.slots import Slot
from app.runs.store import RunStore
from app.runs.tables import JournalAction, RunStatus
from app.settings import Settings


@pytest.fixture
def store(postgres_url: str) -> Iterator[RunStore]:
    with RunStore(postgres_url, executor="worker") as opened:
        yield opened


@pytest.fixture
def desk(store: RunStore, tmp_path: Path) -> Desk:
    return Desk(Settings(var_dir=tmp_path), store, DatabaseArtifacts(store.database))


@pytest.fixture
def order() -> Order:
    policy = root() / "policies" / "campus-collaboration.yaml"
    return Order(load_network(root() / "inventories" / "campus"), load_intent(policy))


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "TRY_SECONDS", 0.0)


def waits(desk: Desk, order: Order, *, queued: bool = True) -> Context:
    """A run that is carried out and has no box yet."""
    run, _ = desk.place(order, "ada")
    desk.store.begin_attempt(run.id, 1)
    rules = NetworkRules(desk.settings)
    documents = Documents(**run.params)
    return Context(run.id, documents, desk.store, desk.artifacts, lambda *_: None, rules, queued=queued)


def lock(context: Context) -> object:
    return waiting.lock(context, context.store.now().isoformat())


def test_a_dead_workers_run_finds_a_place(desk: Desk, order: Order) -> None:
    first = waits(desk, order)
    assert desk.store.leases.acquire(first.run_id, waiting.scope(first), 600)
    behind, alone = waits(desk, order), waits(desk, order, queued=False)
    slot = Slot(desk.store.database, "worker", "2")
    slot._database.transact(slot._insert)
    assert lock(behind) == {}, "its holder is at work"
    slot._database.transact(lambda connection: connection.exec_driver_sql("DELETE FROM executors"))
    assert lock(behind) == {"aside": True}
    assert lock(alone) == {}, "it is in nobody's way"
    waiting.step_aside(behind)
    again = desk.run(behind.run_id)
    assert (again.status, again.attempt, again.waits_for) == (RunStatus.PENDING, 2, "")
    waiting.step_aside(behind)
    assert desk.run(behind.run_id) == again


def test_so_does_what_settles_its_boxes(desk: Desk, order: Order) -> None:
    first, behind = waits(desk, order), waits(desk, order)
    desk.store.journal.append(first.run_id, waiting.scope(first)[0], JournalAction.TOUCHING)
    assert lock(behind) == {}
    assert desk.store.next_attempt(desk.run(first.run_id))
    assert lock(behind) == {"aside": True}
