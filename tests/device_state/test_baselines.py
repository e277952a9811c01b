"""By which run's words drift of a device is told, and that runs of before cost nothing."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from qosforge.device_state.drift import find_baselines
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.resources import root
from qosforge.runs.record.expired import RETENTION_STAGE
from qosforge.runs.record.ids import new_run_id
from qosforge.runs.record.run import Run
from qosforge.runs.record.status_events import next_attempt_columns
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import ReadSummary, StageSummary, parse_summary
from qosforge.runs.record.tables import RUNS, STAGES, RunStatus
from tests.database.migrating import bring_up, take_back
from tests.runs.support import WHY, Clock
from tests.sqlite_steps import counted_steps


@pytest.fixture(scope="module")
def network() -> Network:
    return load_network(root() / "inventories" / "campus")


class Runs:
    """Runs whose devices say a word each, a minute apart; the word stands for the artifact's id."""

    def __init__(self, store: RunStore, clock: Clock) -> None:
        self._store, self._clock = store, clock

    def begin(self, network: str = "campus") -> Run:
        return self._store.create_run(network, "p", "f" * 64, {})

    def say(self, run: Run, stage: str, texts: dict[str, str], **more: object) -> None:
        self._clock.forward(60)
        with self._store.stage(run.id, stage, parse_summary(stage, {"running": texts, "errors": [], **more})):
            pass

    def end(self, run: Run, status: RunStatus = RunStatus.KEPT) -> None:
        self._clock.forward(60)
        self._store.set_status(run.id, status, reason=None if status is RunStatus.KEPT else WHY)


@pytest.fixture
def runs(store: RunStore, clock: Clock) -> Runs:
    return Runs(store, clock)


def told(store: RunStore, network: Network, *devices: str) -> dict[str, tuple[str, str]]:
    found = find_baselines(store, network, devices or None)
    return {name: (one.run.id, one.artifact) for name, one in found.items()}


def test_a_settled_run_says_what_its_devices_should_hold(store: RunStore, network: Network, runs: Runs) -> None:
    kept, elsewhere = runs.begin(), runs.begin("elsewhere")
    runs.say(kept, "read", {"r1": "before", "s2950": "as it is", "taken-away": "x"})
    runs.say(kept, "read-back", {"r1": "after"})
    runs.say(elsewhere, "read", {"r1": "there"})
    assert told(store, network) == {}
    runs.end(kept)
    runs.end(elsewhere)
    undone = runs.begin()
    runs.say(undone, "read", {"r1": "undone", "s2950": "undone"})
    runs.end(undone, RunStatus.ROLLED_BACK)
    assert told(store, network) == {"r1": (kept.id, "after"), "s2950": (kept.id, "as it is")}
    assert told(store, network, "r1") == {"r1": (kept.id, "after")}


def test_a_device_that_was_left_out_is_as_it_was_put_back(store: RunStore, network: Network, runs: Runs) -> None:
    kept = runs.begin()
    for stage, word in (("read", "before"), ("read-back", "after"), ("rollback", "put back")):
        runs.say(kept, stage, {"r1": word})
    runs.end(kept)
    assert told(store, network) == {"r1": (kept.id, "put back")}


def test_what_an_attempt_of_before_put_back_does_not_count_once_the_run_is_kept(
    store: RunStore, network: Network, runs: Runs
) -> None:
    run = runs.begin()
    for stage, word in (("read", "before"), ("read-back", "after"), ("rollback", "before")):
        runs.say(run, stage, {"r1": word})
    runs.end(run, RunStatus.ROLLED_BACK)
    store.change(run.id, lambda now, _: next_attempt_columns("push", now))
    runs.say(run, "read", {"r1": "before"}, taken_over=1)
    runs.say(run, "read-back", {"r1": "after"})
    runs.end(run)
    assert told(store, network) == {"r1": (run.id, "after")}


def test_a_run_that_settled_last_by_what_it_read_earlier_changes_nothing(
    store: RunStore, network: Network, runs: Runs
) -> None:
    changes, slow = runs.begin(), runs.begin()
    runs.say(slow, "read", {"r1": "before", "r2": "first seen"})
    runs.say(changes, "read-back", {"r1": "after"})
    runs.end(changes)
    runs.end(slow, RunStatus.NO_CHANGES)
    assert told(store, network) == {"r1": (changes.id, "after"), "r2": (slow.id, "first seen")}


def test_a_store_of_before_is_gone_through_once(
    store: RunStore, network: Network, runs: Runs, store_url: str
) -> None:
    older, run, undone = runs.begin(), runs.begin(), runs.begin()
    runs.say(older, "read", {"r1": "older", "r2": "older"})
    runs.end(older, RunStatus.NO_CHANGES)
    for stage, word in (("read", "before"), ("read-back", "after"), ("rollback", "before")):
        runs.say(run, stage, {"r1": word})
    store.change(run.id, lambda now, _: next_attempt_columns("push", now))
    runs.say(run, "read", {"r1": "before"}, taken_over=1)
    runs.say(run, "read-back", {"r1": "after"})
    runs.say(run, "read", {"r1": "again"}, taken_over=1)
    runs.end(run)
    runs.say(undone, "read", {"r1": "undone"})
    runs.end(undone, RunStatus.ROLLED_BACK)
    given_up = runs.begin()
    runs.say(given_up, "read", {"r1": "gone", "s2950": "gone"})
    runs.end(given_up)
    with store.stage(given_up.id, RETENTION_STAGE, StageSummary()):
        pass
    take_back(store.database, "0012")
    bring_up(store_url)
    with RunStore(store_url) as newer:
        assert told(newer, network) == {"r1": (run.id, "after"), "r2": (older.id, "older")}


def _fill(store: RunStore, run: Run, stage: str, count: int) -> None:
    """Copies of a run and a stage of it."""
    with store.database.write() as connection:
        one = dict(connection.execute(sa.select(RUNS).where(RUNS.c.id == run.id)).one()._mapping)
        its = dict(connection.execute(sa.select(STAGES).where(STAGES.c.run_id == run.id)).one()._mapping)
        ids = [new_run_id() for _ in range(count)]
        connection.execute(sa.insert(RUNS), [{**one, "id": copy} for copy in ids])
        connection.execute(sa.insert(STAGES), [{**its, "name": stage, "run_id": copy} for copy in ids])


def test_runs_of_before_are_not_gone_through(sqlite_url: str, network: Network) -> None:
    with RunStore(sqlite_url) as store:
        run = store.create_run("campus", "p", "f" * 64, {})
        with store.stage(run.id, "read", ReadSummary(running={"r1": "here"})):
            pass
        store.set_status(run.id, RunStatus.KEPT)
        steps = []
        for count in (10, 1_000):
            _fill(store, run, "read", count)
            with counted_steps(store.database) as counted:
                assert told(store, network)["r1"] == (run.id, "here")
            steps += counted
    assert 0 < steps[1] <= 1.1 * steps[0], steps
