from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from qosforge.errors import StoreError
from qosforge.runs.record.leases import DeviceLocked, LeaseLost
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import JournalAction, RunStatus

from .support import WHY, Clock, Spawn, finish

TAKE = """
import sys
import time
from qosforge.runs.record.leases import DeviceLocked
from qosforge.runs.record.store import RunStore
with RunStore(sys.argv[1]) as store:
    run = store.create_run("campus", "p", "v", {})
    print("ready", flush=True)
    sys.stdin.readline()
    taken = refused = 0
    while taken < 30:
        try:
            store.leases.acquire(run.id, ["r1", "r2", "r3"], 60)
        except DeviceLocked:
            refused += 1
        else:
            holders = {lease.run_id for lease in store.leases.active()}
            assert holders == {run.id}, holders
            taken += 1
            time.sleep(0.002)
            store.leases.release(run.id)
        time.sleep(0.001)
print(refused)
"""


@pytest.fixture
def other(store: RunStore) -> Run:
    return store.create_run("campus", "itesm-paper", "f" * 64, {})


def devices(store: RunStore) -> list[tuple[str, str]]:
    return [(lease.device, lease.run_id) for lease in store.leases.active()]


def test_a_run_gets_all_its_boxes(store: RunStore, run: Run, clock: Clock) -> None:
    leases = store.leases.acquire(run.id, ["r2", "r1", "r2"], 60)
    assert [lease.device for lease in leases] == ["r1", "r2"]
    assert {lease.expires for lease in leases} == {clock.moment + timedelta(seconds=60)}
    assert {(lease.network, lease.pid, lease.executor) for lease in leases} == {("campus", os.getpid(), "embedded")}
    assert store.leases.active("campus") == leases


@pytest.mark.parametrize("status", [status for status in RunStatus if status.final])
def test_a_run_that_is_over_keeps_no_box_from_others(
    store: RunStore, run: Run, other: Run, status: RunStatus
) -> None:
    store.leases.acquire(run.id, ["r1"], 60)
    store.set_status(run.id, status, reason=WHY)
    store.leases.acquire(other.id, ["r1", "r2"], 60)
    assert devices(store) == [("r1", other.id), ("r2", other.id)]


def test_a_box_that_a_run_left_touched_is_not_given_away_when_the_run_is_over(
    store: RunStore, run: Run, other: Run
) -> None:
    store.leases.acquire(run.id, ["r1"], 60)
    store.journal.append(run.id, "r1", JournalAction.TOUCHING)
    store.set_status(run.id, RunStatus.FAILED, reason=WHY)
    with pytest.raises(DeviceLocked, match="between two states"):
        store.leases.acquire(other.id, ["r1"], 60)


def test_another_run_gets_all_or_nothing(store: RunStore, run: Run, other: Run) -> None:
    store.leases.acquire(run.id, ["r2"], 60)
    with pytest.raises(DeviceLocked, match=f"run {run.id} .* holds r2") as caught:
        store.leases.acquire(other.id, ["r1", "r2", "r3"], 60)
    assert caught.value.where.device == "r2"
    assert devices(store) == [("r2", run.id)]


def test_the_same_run_takes_over_from_itself(store: RunStore, run: Run, clock: Clock) -> None:
    store.leases.acquire(run.id, ["r1"], 60)
    clock.forward(30)
    store.leases.acquire(run.id, ["r1", "r2"], 60)
    clock.forward(59)
    assert devices(store) == [("r1", run.id), ("r2", run.id)]


def test_a_name_in_another_network_is_another_box(store: RunStore, run: Run) -> None:
    store.leases.acquire(run.id, ["r1"], 60)
    elsewhere = store.create_run("cern", "p", "v", {})
    store.leases.acquire(elsewhere.id, ["r1"], 60)
    assert [lease.run_id for lease in store.leases.active("cern")] == [elsewhere.id]


def test_a_released_box_is_free(store: RunStore, run: Run, other: Run) -> None:
    store.leases.acquire(run.id, ["r1"], 60)
    store.leases.release(other.id)
    assert devices(store) == [("r1", run.id)], "only its own leases are given back"
    store.leases.release(run.id)
    store.leases.acquire(other.id, ["r1"], 60)
    assert devices(store) == [("r1", other.id)]


def test_a_lease_runs_out(store: RunStore, run: Run, other: Run, clock: Clock) -> None:
    store.leases.acquire(run.id, ["r1"], 60)
    clock.forward(60)
    assert store.leases.active() == []
    store.leases.acquire(other.id, ["r1"], 60)
    with pytest.raises(LeaseLost, match="does not hold r1 any more"):
        store.leases.renew(run.id, ["r1"], 60)


def test_a_renewed_lease_does_not(store: RunStore, run: Run, other: Run, clock: Clock) -> None:
    store.leases.acquire(run.id, ["r1"], 60)
    clock.forward(59)
    store.leases.renew(run.id, ["r1"], 60)
    clock.forward(59)
    with pytest.raises(DeviceLocked):
        store.leases.acquire(other.id, ["r1"], 60)


def test_a_lease_that_went_to_nobody_is_renewed_late(store: RunStore, run: Run, clock: Clock) -> None:
    store.leases.acquire(run.id, ["r1"], 60)
    clock.forward(600)
    store.leases.renew(run.id, ["r1"], 60)
    assert devices(store) == [("r1", run.id)]


def test_losing_one_box_renews_none(store: RunStore, run: Run, other: Run, clock: Clock) -> None:
    store.leases.acquire(run.id, ["r1", "r2"], 60)
    clock.forward(60)
    store.leases.acquire(other.id, ["r2"], 60)
    with pytest.raises(LeaseLost, match="does not hold r2") as caught:
        store.leases.renew(run.id, ["r1", "r2"], 60)
    assert caught.value.where.device == "r2"
    assert devices(store) == [("r2", other.id)]


def test_a_box_left_between_two_states_waits_for_its_run(
    store: RunStore, run: Run, other: Run, clock: Clock
) -> None:
    store.leases.acquire(run.id, ["r1", "r2"], 60)
    store.journal.append(run.id, "r1", JournalAction.TOUCHING)
    clock.forward(3600)
    with pytest.raises(DeviceLocked, match="left r1 between two states"):
        store.leases.acquire(other.id, ["r1", "r2"], 60)
    store.leases.acquire(other.id, ["r2"], 60)
    store.leases.acquire(run.id, ["r1"], 60)
    store.journal.append(run.id, "r1", JournalAction.UNDONE)
    store.leases.release(run.id)
    store.leases.acquire(other.id, ["r1"], 60)


def test_an_unknown_run_gets_nothing(store: RunStore) -> None:
    with pytest.raises(StoreError, match="there is no run"):
        store.leases.acquire("01890000-0000-7000-8000-000000000000", ["r1"], 60)


def test_of_many_threads_one_wins(store: RunStore) -> None:
    runs = [store.create_run("campus", "p", "v", {}) for _ in range(8)]

    def take(run: Run) -> str | None:
        try:
            store.leases.acquire(run.id, ["r1", "r2"], 60)
        except DeviceLocked:
            return None
        return run.id

    with ThreadPoolExecutor(8) as pool:
        winners = [winner for winner in pool.map(take, runs) if winner]
    assert len(winners) == 1
    assert devices(store) == [("r1", winners[0]), ("r2", winners[0])]


def test_two_processes_never_hold_a_box_together(store_url: str, spawn: Spawn) -> None:
    children = [spawn(TAKE, store_url) for _ in range(2)]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    refused = [int(finish(child)) for child in children]
    assert sum(refused) > 0, "they never met"
