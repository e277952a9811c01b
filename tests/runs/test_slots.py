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
from qosforge.runs.engine.executor_leases import Slot, SlotTimes, bury, executors, new_executor
from qosforge.runs.engine.self_fencing import DeadMan
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


def slot(database: Database, lasts: float, renewed: float = 60) -> Slot:
    return Slot(database, new_executor(database.is_embedded), "1", SlotTimes(lasts, UNFENCED, renewed))


def test_a_slot_is_seen_while_it_is_held(database: Database) -> None:
    held = slot(database, 40)
    held.take()
    (living,) = executors(database)
    assert (living.id, living.pid, living.workflow_version) == (held.id, os.getpid(), "1")
    assert 39 < (living.expires - living.started).total_seconds() <= 41
    held.release()
    assert executors(database) == []
    held.release()


def test_a_renewed_slot_outlasts_itself(database: Database) -> None:
    held = slot(database, 0.6, renewed=0.1)
    held.take()
    time.sleep(1)
    assert [living.id for living in executors(database)] == [held.id]
    assert bury(database) == []
    held.release()


def test_one_that_is_not_renewed_is_buried_once(database: Database) -> None:
    dead = slot(database, 0.05)
    dead.take()
    time.sleep(0.1)
    assert executors(database) == []
    assert bury(database) == [dead.id]
    assert bury(database) == []
    dead.release()


def test_ids_on_a_server_are_never_used_again() -> None:
    assert len({new_executor(embedded=False) for _ in range(100)}) == 100
    assert all(len(new_executor(embedded=False)) <= 64 for _ in range(3))


def _write_after_the_slot_ran_out(url: str, run_id: str) -> None:
    with RunStore(url) as store:
        held = slot(store.database, 0.2)
        held.take()
        store.journal.guard = held.guard
        store.journal.append(run_id, "r1", JournalAction.ARMED)
        time.sleep(0.4)
        store.journal.append(run_id, "r1", JournalAction.TOUCHING)


def test_a_process_whose_slot_ran_out_records_no_touch(postgres_url: str) -> None:
    with RunStore(postgres_url) as store:
        run = store.create_run("campus", "itesm-paper", "f" * 64, {})
        child = FORKSERVER.Process(target=_write_after_the_slot_ran_out, args=(postgres_url, run.id))
        child.start()
        child.join(60)
        assert child.exitcode == os.EX_TEMPFAIL, "it ends before it touches"
        assert [entry.action for entry in store.journal.entries(run.id)] == [JournalAction.ARMED]


def test_nobody_takes_over_before_what_is_being_written_is_seen(postgres_url: str) -> None:
    database = Database(postgres_url)
    held = slot(database, 0.5)
    held.take()
    buried: list[str] = []
    burying = threading.Thread(target=lambda: buried.extend(bury(database)))
    with database.write() as connection:
        held.guard(connection)
        wait_for(lambda: executors(database) == [], "the slot to run out")
        burying.start()
        burying.join(0.3)
        assert burying.is_alive(), "it waits for the transaction"
    burying.join(60)
    assert buried == [held.id]
    held.release()
    database.close()


FENCED = """
import sys, threading
from qosforge.database.connections import Database
from qosforge.runs.engine.executor_leases import Slot, SlotTimes, new_executor
from qosforge.telemetry.logs import configure_logs
configure_logs("json")
Slot(Database(sys.argv[1]), new_executor(embedded=False), "1", SlotTimes(lasts=5, fence=3, renewed=0.2)).take()
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
    timer = DeadMan()
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
