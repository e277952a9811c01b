"""Which events of a run are listed, by what is looked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from qosforge.runs.record.events import Event
from qosforge.runs.record.reason import RECOVER, Reason
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import StageSummary
from qosforge.runs.record.tables import JournalAction, RunStatus
from qosforge.web.views.run_events import EventSearch, RunEvents


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore(f"sqlite:///{tmp_path}/runs.sqlite") as found:
        yield found


@pytest.fixture
def run(store: RunStore) -> str:
    """A run that read two devices, was refused by one, and could not reach it when it was to be rolled back."""
    run = store.create_run("campus", "gold", "f" * 64, {}).id
    with store.stage(run, "read", StageSummary()):
        store.events.progress(run, "read", "two devices")
        store.events.device(run, "core-1", "read")
        store.events.device(run, "edge-1", "read")
    with store.stage(run, "push", StageSummary()):
        store.journal.append(run, "edge-1", JournalAction.TOUCHING)
        store.journal.append(run, "edge-1", JournalAction.FAILED, note="the table is full")
    with store.stage(run, "rollback", StageSummary()) as back:
        store.journal.append(run, "edge-1", JournalAction.UNDOING)
        back.errors = [StepError(device="edge-1", message="cannot be reached")]
    store.set_status(
        run, RunStatus.NEEDS_RECOVERY, reason=Reason("cannot be reached", "rollback", RECOVER, "edge-1")
    )
    return run


def listed(store: RunStore, run: str, search: EventSearch, most: int = 1_000) -> RunEvents:
    return RunEvents(store.events, run, store.stages(run), ("core-1", "edge-1"), search, most)


def words(events: list[Event]) -> list[str]:
    """What each tells, oldest first."""
    told = []
    for event in reversed(events):
        data = event.data
        told.append(
            " ".join(str(data[key]) for key in ("device", "action", "stage", "outcome", "status") if data.get(key))
        )
    return told


def test_a_step_has_the_events_of_its_devices(store: RunStore, run: str) -> None:
    found = listed(store, run, EventSearch(step="push"))
    assert words(found.shown) == ["push", "edge-1 touching", "edge-1 failed", "push done"]
    assert found.steps == ("read", "push", "rollback")
    assert words(listed(store, run, EventSearch(step="rollback")).shown) == [
        "rollback",
        "edge-1 undoing",
        "rollback done",
    ]


def test_a_device_has_the_steps_that_failed_at_it_and_the_end_that_it_caused(store: RunStore, run: str) -> None:
    assert words(listed(store, run, EventSearch(device="EDGE")).shown) == [
        "edge-1 read",
        "edge-1 touching",
        "edge-1 failed",
        "edge-1 undoing",
        "rollback done",
        "needs_recovery",
    ]
    assert words(listed(store, run, EventSearch(device="core")).shown) == ["core-1 read"]


def test_errors_are_what_failed_and_a_bad_end(store: RunStore, run: str) -> None:
    found = listed(store, run, EventSearch(errors=True))
    assert words(found.shown) == ["edge-1 failed", "rollback done", "needs_recovery"]
    assert [found.has_failed(event) for event in found.shown] == [False, True, False]
    assert (found.found, found.count > 3) == (3, True)


def test_what_is_looked_for_is_told_where_it_may_be_older_than_what_is_looked_through(
    store: RunStore, run: str
) -> None:
    found = listed(store, run, EventSearch(device="core"), most=5)
    assert (found.shown, found.found, found.is_cut) == ([], 0, True)
    assert not listed(store, run, EventSearch(device="core")).is_cut
    assert not listed(store, run, EventSearch(), most=5).is_cut


def test_the_address_says_what_is_looked_for() -> None:
    search = EventSearch("edge & core", "read-back", errors=True, listed="newest")
    assert search.query_of_all == "tab=events&device=edge+%26+core&step=read-back&errors=only&events=all"
    assert EventSearch().parameters == []
