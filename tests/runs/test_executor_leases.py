from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from qosforge.database.connections import Database
from qosforge.runs.engine.executor_leases import (
    ExecutorLease,
    LeaseTimes,
    live_executors,
    new_executor_id,
    prune_executors,
)
from qosforge.runs.engine.self_fencing import SelfFence
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import JournalAction
from tests.forkserver import FORKSERVER
from tests.postgres import PostgresServer

from .support import Spawn, wait_for

UNFENCED = 60.0


@pytest.fixture
def database(store_url: str) -> Iterator[Database]:
    opened = Database(store_url)
    yield opened
    opened.close()


def lease(database: Database, lasts: float, renewed: float = 60) -> ExecutorLease:
    return ExecutorLease(database, new_executor_id(database.is_embedded), "1", LeaseTimes(lasts, UNFENCED, renewed))


def test_a_lease_is_seen_while_it_is_held(database: Database) -> None:
    own = lease(database, 40)
    own.acquire()
    (living,) = live_executors(database)
    assert (living.id, living.pid, living.workflow_version) == (own.id, os.getpid(), "1")
    assert 39 < (living.expires - living.started).total_seconds() <= 41
    own.release()
    assert live_executors(database) == []
    own.release()


def test_a_renewed_lease_outlasts_itself(database: Database) -> None:
    own = lease(database, 0.6, renewed=0.1)
    own.acquire()
    time.sleep(1)
    assert [living.id for living in live_executors(database)] == [own.id]
    assert prune_executors(database) == []
    own.release()


def test_one_that_is_not_renewed_is_buried_once(database: Database) -> None:
    dead = lease(database, 0.05)
    dead.acquire()
    time.sleep(0.1)
    assert live_executors(database) == []
    assert prune_executors(database) == [dead.id]
    assert prune_executors(database) == []
    dead.release()


def test_ids_on_a_server_are_never_used_again() -> None:
    assert len({new_executor_id(embedded=False) for _ in range(100)}) == 100
    assert all(len(new_executor_id(embedded=False)) <= 64 for _ in range(3))


def _write_after_the_lease_ran_out(url: str, run_id: str) -> None:
    with RunStore(url) as store:
        own = lease(store.database, 0.2)
        own.acquire()
        store.journal.guard = own.guard
        store.journal.append(run_id, "r1", JournalAction.ARMED)
        time.sleep(0.4)
        store.journal.append(run_id, "r1", JournalAction.TOUCHING)


def test_a_process_whose_lease_ran_out_records_no_touch(postgres_url: str) -> None:
    with RunStore(postgres_url) as store:
        run = store.create_run("campus", "itesm-paper", "f" * 64, {})
        child = FORKSERVER.Process(target=_write_after_the_lease_ran_out, args=(postgres_url, run.id))
        child.start()
        child.join(60)
        assert child.exitcode == os.EX_TEMPFAIL, "it ends before it touches"
        assert [entry.action for entry in store.journal.entries(run.id)] == [JournalAction.ARMED]


def test_nobody_takes_over_before_what_is_being_written_is_seen(postgres_url: str) -> None:
    database = Database(postgres_url)
    own = lease(database, 0.5)
    own.acquire()
    buried: list[str] = []
    burying = threading.Thread(target=lambda: buried.extend(prune_executors(database)))
    with database.write() as connection:
        own.guard(connection)
        wait_for(lambda: live_executors(database) == [], "the lease to run out")
        burying.start()
        burying.join(0.3)
        assert burying.is_alive(), "it waits for the transaction"
    burying.join(60)
    assert buried == [own.id]
    own.release()
    database.close()


FENCED = """
import sys, threading
from qosforge.database.connections import Database
from qosforge.runs.engine.executor_leases import ExecutorLease, LeaseTimes, new_executor_id
from qosforge.telemetry.logs import configure_logs
configure_logs("json")
times = LeaseTimes(lasts=5, fence=3, renewed=0.2)
ExecutorLease(Database(sys.argv[1]), new_executor_id(embedded=False), "1", times).acquire()
print("taken", flush=True)
threading.Event().wait(60)
"""


def test_a_process_says_that_the_fence_ends_it(postgres: PostgresServer, postgres_url: str, spawn: Spawn) -> None:
    child = spawn(FENCED, postgres_url)
    assert child.stdout is not None
    assert child.stdout.readline() == "taken\n"
    time.sleep(3.5)  # longer than the fence: while it is renewed nothing is told
    postgres.stop()
    try:
        _, errors = child.communicate(timeout=60)
    finally:
        postgres.start()
    assert child.returncode == -signal.SIGKILL
    (line,) = (json.loads(line) for line in errors.splitlines() if "fence" in line)
    assert line["level"] == "critical"
    assert line["executor"] == socket.gethostname()[:27] + line["executor"][-37:]
    assert 0 < line["killed_in_seconds"] < 1


def _set(seconds: list[float], close: bool) -> None:
    timer = SelfFence()
    for each in seconds:
        timer.set(each)
        time.sleep(0.2)
    if close:
        timer.close()
    time.sleep(1)


@pytest.mark.parametrize(
    ("seconds", "close", "code"),
    [([0.4], False, -signal.SIGKILL), ([0.4, 0.4, 30], False, 0), ([0.4], True, 0), ([-1], False, -signal.SIGKILL)],
)
def test_the_kernel_ends_a_process_whose_timer_was_not_set_again(
    seconds: list[float], close: bool, code: int
) -> None:
    child = FORKSERVER.Process(target=_set, args=(seconds, close))
    child.start()
    child.join(60)
    assert child.exitcode == code
