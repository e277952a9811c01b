from __future__ import annotations

import pytest
import sqlalchemy as sa

from qosforge.database.connections import database_url
from qosforge.runs.record.journal import JournalEntry
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import JournalAction as Did

from .support import Clock

BEFORE, DELTA, INVERSE = "b" * 64, "d" * 64, "1" * 64


def touch(store: RunStore, run: Run, device: str, *actions: Did) -> list[JournalEntry]:
    return [store.journal.append(run.id, device, action) for action in actions]


def test_rows_come_back_in_order_with_their_artifacts(store: RunStore, run: Run, clock: Clock) -> None:
    first = store.journal.append(run.id, "r1", Did.TOUCHING, before=BEFORE, delta=DELTA, inverse=INVERSE)
    clock.forward(1)
    second = store.journal.append(run.id, "r2", Did.ARMED, note="reload in 10")
    assert store.journal.entries(run.id) == [first, second]
    assert store.journal.entries(run.id, "r2") == [second]
    assert second.seq > first.seq
    assert (first.before, first.delta, first.inverse, first.note) == (BEFORE, DELTA, INVERSE, "")
    assert (second.at - first.at).total_seconds() == 1


@pytest.mark.parametrize("verb", ["UPDATE journal SET note = 'x'", "DELETE FROM journal"])
def test_the_database_itself_refuses_a_change(store: RunStore, run: Run, store_url: str, verb: str) -> None:
    touch(store, run, "r1", Did.TOUCHING)
    engine = sa.create_engine(database_url(store_url))
    with pytest.raises(sa.exc.DBAPIError, match="append-only"), engine.begin() as plain:
        plain.execute(sa.text(verb))
    engine.dispose()


def test_a_row_belongs_to_a_run(store: RunStore) -> None:
    with pytest.raises(sa.exc.IntegrityError):
        store.journal.append("01890000-0000-7000-8000-000000000000", "r1", Did.TOUCHING)


@pytest.mark.parametrize(
    ("actions", "is_open"),
    [
        ([], False),
        ([Did.ARMED], True),
        ([Did.TOUCHING], True),
        ([Did.ARMED, Did.TOUCHING, Did.TOUCHED, Did.READ_BACK], True),
        ([Did.TOUCHING, Did.FAILED], True),
        ([Did.TOUCHING, Did.TOUCHED, Did.CONFIRMED], False),
        ([Did.TOUCHING, Did.TOUCHED, Did.UNDOING, Did.INVERSE_APPLIED], True),
        ([Did.TOUCHING, Did.TOUCHED, Did.UNDOING, Did.INVERSE_APPLIED, Did.READ_BACK, Did.UNDONE], False),
        ([Did.TOUCHING, Did.TOUCHED, Did.CONFIRMED, Did.UNDOING], True),
        ([Did.READ_BACK], False),
        ([Did.FAILED], False),
    ],
)
def test_what_leaves_a_box_open(store: RunStore, run: Run, actions: list[Did], is_open: bool) -> None:
    touch(store, run, "r1", *actions)
    assert [open_.device for open_ in store.journal.open_touches(run.id)] == (["r1"] if is_open else [])


def test_an_open_touch_knows_how_to_finish(store: RunStore, run: Run, clock: Clock) -> None:
    store.journal.append(run.id, "r1", Did.TOUCHING, before="0" * 64, delta="0" * 64, inverse="0" * 64)
    touch(store, run, "r1", Did.CONFIRMED)
    clock.forward(5)
    opened = store.journal.append(run.id, "r1", Did.TOUCHING, before=BEFORE, delta=DELTA, inverse=INVERSE)
    clock.forward(5)
    touch(store, run, "r1", Did.TOUCHED)
    (open_,) = store.journal.open_touches(run.id)
    assert (open_.network, open_.action, open_.since) == ("campus", Did.TOUCHED, opened.at)
    assert (open_.before, open_.delta, open_.inverse) == (BEFORE, DELTA, INVERSE)


def test_artifacts_of_a_settled_touch_are_not_taken_for_the_next(store: RunStore, run: Run) -> None:
    store.journal.append(run.id, "r1", Did.TOUCHING, before=BEFORE, inverse=INVERSE)
    touch(store, run, "r1", Did.UNDONE, Did.TOUCHING)
    (open_,) = store.journal.open_touches(run.id)
    assert (open_.before, open_.inverse) == (None, None)


def test_boxes_and_runs_are_kept_apart(store: RunStore, run: Run) -> None:
    other = store.create_run("cern", "p", "v", {})
    touch(store, run, "r1", Did.TOUCHING)
    touch(store, other, "r1", Did.TOUCHING)
    touch(store, run, "r2", Did.TOUCHING, Did.UNDONE)
    touch(store, other, "r1", Did.CONFIRMED)
    assert [(o.run_id, o.device) for o in store.journal.open_touches()] == [(run.id, "r1")]
    assert store.journal.open_touches(other.id) == []
