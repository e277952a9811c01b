"""Executors as processes on PostgreSQL: killed, stopped, upgraded, and a server that goes away."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from qosforge.runs.engine.executor_leases import LEASE_TIMES, LeaseTimes, live_executors
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import RunStatus
from tests.forkserver import FORKSERVER, computing_process
from tests.postgres import PostgresServer
from tests.stopwatch import Stopwatch

from .executor_process import HASTY, work
from .support import wait_for

Start = Callable[..., ForkServerProcess]


@pytest.fixture
def store(postgres_url: str) -> Iterator[RunStore]:
    with RunStore(postgres_url) as opened:
        yield opened


@pytest.fixture
def start(tmp_path: Path, postgres_url: str) -> Iterator[Start]:
    """Start an executor and wait until it works; what still lives at the end is killed."""
    children: list[ForkServerProcess] = []

    def begin(version: str = "1", times: LeaseTimes = HASTY) -> ForkServerProcess:
        ours, theirs = FORKSERVER.Pipe()
        child = computing_process(work, tmp_path, postgres_url, version, times, theirs)
        child.start()
        children.append(child)
        theirs.close()
        assert ours.recv()
        ours.close()
        return child

    yield begin
    for child in children:
        child.kill()
        child.join(timeout=60)


def send(child: ForkServerProcess, number: signal.Signals) -> None:
    assert child.pid is not None
    os.kill(child.pid, number)


def place(store: RunStore, *, wait: bool = False, **params: str) -> Run:
    return store.create_run("campus", "itesm-paper", "f" * 64, {"wait": wait, **params})


def ended(store: RunStore, *runs: Run) -> Callable[[], bool]:
    return lambda: all(store.get_run(run.id).status is RunStatus.KEPT for run in runs)


def log(folder: Path) -> list[str]:
    file = folder / "log"
    return file.read_text().splitlines() if file.exists() else []


def count(folder: Path, beginning: str) -> int:
    return sum(line.startswith(beginning) for line in log(folder))


def test_a_dead_executors_runs_go_on_elsewhere(store: RunStore, start: Start, tmp_path: Path) -> None:
    first = start()
    run, waiting = place(store, wait=True), place(store, wait=True)
    wait_for(lambda: count(tmp_path, "touch ") == 2, "both runs to touch their device")
    first.kill()
    start()
    (tmp_path / "go").touch()
    later = place(store)
    wait_for(ended(store, run, waiting, later), "the survivor to end every run")
    for one in (run, waiting):
        assert count(tmp_path, f"begin {one.id}") == 1, "a finished step is not repeated"
        assert count(tmp_path, f"touch {one.id}") == 2, "one cut short is"
        assert count(tmp_path, f"end {one.id}") == 1
    assert len(live_executors(store.database)) == 1, "the dead one's lease is gone"


def test_a_dead_executors_run_that_holds_a_box_goes_on_though_others_wait_in_every_place(
    store: RunStore, start: Start, tmp_path: Path
) -> None:
    first = start()
    holder = place(store, wait=True, box="r1")
    wait_for(lambda: count(tmp_path, "touch ") == 1, "the run to touch its device")
    others = [place(store, box="r1") for _ in range(3)]
    wait_for(lambda: all(count(tmp_path, f"waits {run.id}") for run in others), "others to wait in its process")
    start()
    more = [place(store, box="r1") for _ in range(4)]
    wait_for(lambda: all(count(tmp_path, f"waits {run.id}") for run in more), "others to wait in the other one")
    first.kill()
    (tmp_path / "go").touch()
    wait_for(ended(store, holder, *others, *more), "the survivor to end every run", 40)
    assert count(tmp_path, f"begin {holder.id}") == 1


def test_a_stopped_executor_is_dead_before_its_runs_are_taken(
    store: RunStore, start: Start, tmp_path: Path
) -> None:
    first = start()
    run = place(store, wait=True)
    wait_for(lambda: count(tmp_path, "touch ") == 1, "the run to touch its device")
    send(first, signal.SIGSTOP)
    start()
    wait_for(lambda: not first.is_alive(), "the fence")
    assert first.exitcode == -signal.SIGKILL
    assert count(tmp_path, "touch ") == 1, "nobody took over from a process that lived"
    (tmp_path / "go").touch()
    wait_for(ended(store, run), "the other to end the run")


def test_a_graceful_stop_hands_over_at_once(store: RunStore, start: Start, tmp_path: Path) -> None:
    first = start(times=LEASE_TIMES)
    run = place(store, wait=True)
    wait_for(lambda: count(tmp_path, "touch ") == 1, "the run to touch its device")
    second = start(times=LEASE_TIMES)
    send(first, signal.SIGTERM)
    time.sleep(0.3)
    (tmp_path / "go").touch()
    watch = Stopwatch()
    wait_for(lambda: count(tmp_path, f"end {run.id}") == 1, "the other to end the run")
    assert watch.seconds < LEASE_TIMES.lasts, "sooner than a lease runs out"
    first.join(timeout=60)
    assert first.exitcode == 0
    assert log(tmp_path)[1:] == [log(tmp_path)[1], f"touched {run.id}", f"end {run.id}"], (
        "the step was not cut short"
    )
    assert second.is_alive()


def test_the_server_may_be_restarted_underneath(
    store: RunStore, start: Start, tmp_path: Path, postgres: PostgresServer
) -> None:
    # The server is away for longer than a hasty lease lasts.
    children = [start(times=LEASE_TIMES), start(times=LEASE_TIMES)]
    before = [place(store, wait=True) for _ in range(3)]
    wait_for(lambda: count(tmp_path, "touch ") == 3, "the runs to touch their devices")
    postgres.restart(signal.SIGQUIT)
    (tmp_path / "go").touch()
    after = [place(store) for _ in range(3)]
    wait_for(ended(store, *before, *after), "every run to end", 40)
    assert all(child.is_alive() for child in children)
    assert count(tmp_path, "end ") == 6, "none twice"


def test_a_run_that_outlived_an_upgrade_is_settled_and_begins_again(
    store: RunStore, start: Start, tmp_path: Path
) -> None:
    old = start("0")
    run = place(store, wait=True)
    wait_for(lambda: count(tmp_path, "touch ") == 1, "the run to touch its device")
    old.kill()
    (tmp_path / "go").touch()
    start("1")
    wait_for(ended(store, run), "the new release to end the run", 40)
    assert store.get_run(run.id).attempt == 2
    assert [line.split(" by ")[0] for line in log(tmp_path)[2:]] == [
        f"settled {run.id}",
        f"begin {run.id}:2",
        f"touch {run.id}:2",
        f"touched {run.id}:2",
        f"end {run.id}:2",
    ]
