"""What a run computes is bounded, and stopped with the run."""

from __future__ import annotations

import os
import resource
import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from qosforge.compute import Compute, ComputeDied, TookTooLong
from qosforge.compute_process import Limits, TookTooMuch
from qosforge.deploy.sessions import ProcessEnding
from qosforge.errors import StoreError
from qosforge.runs.engine.computing import Computing
from qosforge.runs.record.stop_signal import RunStopped, StopSignal
from qosforge.runs.record.tables import RunStatus
from tests.stopwatch import Stopwatch

from .support import Spawn, finish

STOP = StopSignal(status=RunStatus.CANCELLED, reason="cancelled by ada")


def wait(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def hoard() -> int:
    return len(bytearray(4 << 30))


@pytest.fixture
def compute() -> Iterator[Compute]:
    made = Compute(1, limits=Limits(megabytes=256))
    yield made
    made.close()


def test_a_computation_gives_what_its_function_gives(compute: Compute) -> None:
    assert Computing(compute, 30).run("run", lambda: None, wait, 0.01) == 0.01


def test_it_ends_within_seconds_of_the_run(compute: Compute) -> None:
    begun, watch = time.monotonic(), Stopwatch()
    with pytest.raises(RunStopped) as caught:
        Computing(compute, 60).run("run", lambda: STOP if time.monotonic() > begun + 2 else None, wait, 60)
    assert caught.value.stop == STOP
    assert watch.seconds < 2 + 5


def test_a_run_that_waits_for_its_turn_is_stopped_too(compute: Compute) -> None:
    computing = Computing(compute, 60)
    watch = Stopwatch()
    with pytest.raises(RunStopped):
        computing.run("run", lambda: STOP, wait, 60)
    assert watch.seconds < 5


def test_time_and_memory_are_bounded(compute: Compute) -> None:
    with pytest.raises(TookTooLong):
        Computing(compute, 2).run("run", lambda: None, wait, 60)
    with pytest.raises(TookTooMuch, match="more than 256 MB"):
        Computing(compute, 30).run("run", lambda: None, hoard)


def test_a_database_that_is_away_costs_no_computation(compute: Compute) -> None:
    asked = threading.Event()

    def stopped() -> None:
        asked.set()
        raise StoreError("the database is away")

    assert Computing(compute, 30).run("run", stopped, wait, 2.5) == 2.5
    assert asked.is_set()


def test_a_process_that_ends_leaves_what_it_computes_and_what_waits(compute: Compute) -> None:
    computing = Computing(compute, 60)
    with ThreadPoolExecutor(3) as threads:
        under_way = [
            threads.submit(computing.run, f"run-{number}", lambda: None, wait, 60.0) for number in range(3)
        ]
        time.sleep(1)
        watch = Stopwatch()
        computing.close()
        for one in under_way:
            assert isinstance(one.exception(timeout=60), ProcessEnding)
        assert watch.seconds < 4
    with pytest.raises(ProcessEnding):
        computing.run("run", lambda: None, wait, 0.01)


def die_once(marker: Path) -> str:
    if not marker.exists():
        marker.touch()
        os._exit(3)
    return "done"


def test_a_run_that_has_touched_devices_waits_for_nobody_and_outlives_a_death(tmp_path: Path) -> None:
    computing = Computing(Compute(1), 60)
    with ThreadPoolExecutor(1) as threads:
        other = threads.submit(computing.run, "other", lambda: None, wait, 60.0)
        assert computing.run_to_end("run", die_once, tmp_path / "died") == "done"
        assert not other.done()
        computing.close()
        assert isinstance(other.exception(timeout=60), ProcessEnding)


def test_a_death_in_a_process_that_goes_on_is_told(compute: Compute) -> None:
    with pytest.raises(ComputeDied):
        Computing(compute, 60).run("run", lambda: None, os._exit, 3)


def room_for_what_runs_compute() -> float:
    """Megabytes that a computation may still take, once all that runs compute with is imported."""
    from qosforge.reports.run_report import render_run_report  # noqa: PLC0415 - in the computing process
    from qosforge.runs.workflow.candidates import compile_run, validate_run  # noqa: PLC0415 - as above
    from qosforge.runs.workflow.steps.predict import predict_run  # noqa: PLC0415 - as above
    from qosforge.tester.twin_measurement import measure  # noqa: PLC0415 - as above

    assert all((predict_run, render_run_report, measure, compile_run, validate_run))
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return (most - pages * resource.getpagesize()) / (1 << 20)


def test_what_a_computation_is_made_with_is_no_part_of_its_memory() -> None:
    from qosforge.executor.executor import COMPUTED  # noqa: PLC0415 - no part of what the computing processes import

    compute = Compute(1, COMPUTED, Limits(megabytes=512))
    try:
        assert compute.call(room_for_what_runs_compute, timeout=60) > 450
    finally:
        compute.close()


COMPUTES = """
import sys, time
from pathlib import Path
from qosforge.executor import executor as module
from qosforge.settings import Settings
from tests.stopwatch import Stopwatch

folder, seconds = Path(sys.argv[1]), float(sys.argv[2])
module.DEVICES_SECONDS = 1.0
module.COMPUTED = module.FINISHING = ()

class Executor(module.Executor):
    def register(self):
        self.engine.register("computes", self.workflow)

    def workflow(self, workflow_id, params):
        self.engine.run_step("compute", self.computing.run, workflow_id, lambda: None, time.sleep, seconds)
        (folder / "done").touch()
        return {}

executor = Executor(Settings(var_dir=folder), lambda stage, line: None)
executor.start()
if seconds > 1:
    executor.engine.start("computes", "one", {})
    while not executor.computing.compute.pids:
        time.sleep(0.05)
    time.sleep(2)
else:
    while not (folder / "done").exists():
        time.sleep(0.05)
watch = Stopwatch()
print(executor.stop(), watch.seconds < 4)
"""


def test_a_process_ends_in_the_midst_of_a_computation_which_the_next_one_does_again(
    spawn: Spawn, tmp_path: Path
) -> None:
    assert finish(spawn(COMPUTES, tmp_path, 60)).split() == ["True", "True"]
    assert not (tmp_path / "done").exists()
    with closing(sqlite3.connect(tmp_path / "engine.sqlite")) as record:
        (row,) = record.execute("select status, recovery_attempts from workflow_status").fetchall()
    assert row == ("PENDING", 0)
    assert finish(spawn(COMPUTES, tmp_path, 0.1)).split() == ["True", "True"]
    assert (tmp_path / "done").exists()


STUCK = """
import sys, threading, time
from pathlib import Path
from qosforge.executor import service
from qosforge.settings import Settings

service._LAST_WORDS_SECONDS = 1.0
stop = service.Executor.stop
service.Executor.stop = lambda executor: stop(executor) and False
with service.open_service(Settings(var_dir=Path(sys.argv[1])), lambda stage, line: None):
    threading.Thread(target=time.sleep, args=(60,)).start()
print("said", flush=True)
"""


def test_a_command_ends_though_a_step_does_not(spawn: Spawn, tmp_path: Path) -> None:
    watch = Stopwatch()
    child = spawn(STUCK, tmp_path)
    output, _ = child.communicate(timeout=40)
    assert (output.split(), child.returncode) == (["said"], 3)
    assert watch.seconds < 30
