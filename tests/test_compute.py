"""Calls in processes of their own."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest

from qosforge.compute import Compute, ComputeDied, NotWanted, TooBusy, TookTooLong, _Process
from qosforge.compute_process import Limits, TookTooMuch
from qosforge.errors import InputError, InputErrors, Place, StoreError
from tests.stopwatch import Stopwatch


def square(number: int) -> tuple[int, int]:
    return number * number, os.getpid()


def wait(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def wrong() -> None:
    raise InputErrors(
        "two", errors=[InputError("one", Place(file="a.yaml", line=3), hint="mend it"), InputError("2")]
    )


def broken() -> None:
    raise ZeroDivisionError("deep inside")


def begin(compute: Compute) -> tuple[int, ...]:
    """Begin every process now: their ids."""
    for slot in compute._slots:
        slot.process()
    return compute.pids


@pytest.fixture(scope="module")
def compute() -> Iterator[Compute]:
    made = Compute(2)
    begin(made)
    yield made
    made.close()


def test_calls_run_elsewhere_and_at_once(compute: Compute) -> None:
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda n: compute.call(square, n, timeout=60), range(40)))
    assert [value for value, _pid in answers] == [n * n for n in range(40)]
    assert {pid for _value, pid in answers} <= set(compute.pids)
    assert os.getpid() not in compute.pids
    assert compute.inside == 0


def test_errors_come_back_whole(compute: Compute) -> None:
    with pytest.raises(InputErrors) as caught:
        compute.call(wrong, timeout=60)
    first = caught.value.problems()[0]
    assert (first.where.file, first.where.line, first.hint) == ("a.yaml", 3, "mend it")
    with pytest.raises(RuntimeError, match="ZeroDivisionError: deep inside"):
        compute.call(broken, timeout=60)


def test_a_dead_or_slow_process_is_replaced_and_others_go_on(compute: Compute) -> None:
    before = set(compute.pids)
    with ThreadPoolExecutor(1) as beside:
        going_on = beside.submit(compute.call, wait, 1.5, timeout=60)
        time.sleep(0.3)
        with pytest.raises(ComputeDied):
            compute.call(die, timeout=60)
        with pytest.raises(TookTooLong):
            compute.call(wait, 60, timeout=0.2)
        assert going_on.result() in before
    assert len(begin(compute)) == 2
    assert compute.call(square, 7, timeout=60)[0] == 49


def test_more_than_the_bound_are_reported_to_come_again() -> None:
    compute = Compute(1)
    try:
        compute.call(square, 1, timeout=60)  # it has started
        go = threading.Barrier(40)

        def ask() -> bool:
            go.wait()
            try:
                compute.call(wait, 0.4, timeout=0.3)
            except TookTooLong:
                return True
            except TooBusy:
                return False
            return True

        with ThreadPoolExecutor(40) as threads:
            begun = [threads.submit(ask) for _ in range(40)]
        assert sum(one.result() for one in begun) <= 2
        assert compute.inside == 0
    finally:
        compute.close()


def test_no_process_is_left_behind() -> None:
    made = Compute(1)
    (pid,) = begin(made)
    made.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def leave(ending: str, computation: str) -> tuple[list[int], float]:
    """Have a process end while it computes: what is left of its children after 2 s, and how long it took to end."""
    program = f"""
import threading, time
from qosforge.compute import Compute

def ask(compute, caller):
    compute.call({computation}, timeout=60, caller=caller)

compute = Compute(2)
for slot in compute._slots:
    slot.process()
threading.Thread(target=ask, args=(compute, "a"), daemon=True).start()
time.sleep(1.5)
print(*compute.pids, flush=True)
input()
"""
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as service:
        assert service.stdout is not None
        assert service.stdin is not None
        try:
            children = [int(pid) for pid in service.stdout.readline().split()]
            assert len(children) == 2
            watch = Stopwatch()
            if ending == "killed":
                service.kill()
            else:
                service.stdin.write(b"\n")
                service.stdin.close()
            service.wait(60)
            took = watch.seconds
            while any(Path(f"/proc/{child}").exists() for child in children) and watch.seconds < took + 2:
                time.sleep(0.05)
            return [child for child in children if Path(f"/proc/{child}").exists()], took
        finally:
            service.kill()
            with suppress(ProcessLookupError):  # the group outlives its leader
                os.killpg(service.pid, signal.SIGKILL)


@pytest.mark.parametrize("ending", ["killed", "ended"])
@pytest.mark.parametrize("computation", ["time.sleep, 60", "sum, range(10**11)"])
def test_no_computation_outlives_its_service(ending: str, computation: str) -> None:
    left, took = leave(ending, computation)
    assert left == []
    assert took < 3


def test_no_process_outlives_a_killed_service() -> None:
    program = (
        "import os; from qosforge.compute import Compute; c = Compute(1); c.call(os.getpid, timeout=60); "
        "print(*c.pids, flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as service:
        assert service.stdout is not None
        child = int(service.stdout.readline())
        service.kill()
        service.wait()
        deadline = time.monotonic() + 60
        while Path(f"/proc/{child}").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)


SERVER = """
import os, signal, threading, time
from pathlib import Path
from qosforge.compute import Compute, ComputeDied
from where_imported import imported_in

def parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])

compute = Compute(1, ("where_imported",))
imported_by, process = compute.call(imported_in, timeout=60)
server = parent(process)
print(imported_by == server, parent(server) == os.getpid())

signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background has it ignored
threading.Timer(0.5, os.killpg, (0, signal.SIGTERM)).start()
threading.Timer(0.5, os.killpg, (0, signal.SIGINT)).start()
try:
    compute.call(time.sleep, 1.5, timeout=60)
except KeyboardInterrupt:
    print("interrupted")
print(parent(compute.call(os.getpid, timeout=60)) == server)

threading.Timer(0.5, os.kill, (server, signal.SIGKILL)).start()
try:
    compute.call(time.sleep, 60, timeout=60)
except ComputeDied:
    print("died")
imported_by, process = compute.call(imported_in, timeout=60)
print(imported_by == parent(process) != server)
"""


def test_processes_are_forks_of_a_server_that_only_its_own_death_ends(tmp_path: Path) -> None:
    (tmp_path / "where_imported.py").write_text(
        "import os\n\nPROCESS = os.getpid()\n\n\ndef imported_in():\n    return PROCESS, os.getpid()\n"
    )
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", SERVER],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        start_new_session=True,
    )
    assert done.stdout.splitlines() == ["True True", "interrupted", "True", "died", "True"], done.stderr


def test_a_process_has_the_environment_in_which_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("one", "two"):
        monkeypatch.setenv("QOSFORGE_NAME_OF_A_TEST", value)
        with closing(Compute(1)) as compute:
            assert compute.call(os.getenv, "QOSFORGE_NAME_OF_A_TEST", timeout=60) == value
    monkeypatch.delenv("QOSFORGE_NAME_OF_A_TEST")
    with closing(Compute(1)) as compute:
        assert compute.call(os.getenv, "QOSFORGE_NAME_OF_A_TEST", timeout=60) is None


def hoard(megabytes: int) -> int:
    return len(bytearray(megabytes << 20))


def abort() -> None:
    os.abort()


def spin() -> None:
    while True:
        pass


def test_memory_beyond_the_limit_is_named_and_the_next_call_is_well() -> None:
    compute = Compute(1, limits=Limits(megabytes=256))
    try:
        assert compute.call(hoard, 100, timeout=60) == 100 << 20
        for greedy in (lambda: compute.call(hoard, 4000, timeout=60), lambda: compute.call(abort, timeout=60)):
            with pytest.raises(TookTooMuch, match="more than 256 MB of memory"):
                greedy()
        assert compute.call(square, 3, timeout=60)[0] == 9
    finally:
        compute.close()


KEPT: list[object] = []


def keep(megabytes: int) -> int:
    KEPT.append(bytearray(megabytes << 20))
    return os.getpid()


def test_what_calls_leave_behind_takes_nothing_from_the_next_one() -> None:
    compute = Compute(1, limits=Limits(megabytes=256))
    try:
        processes = [compute.call(keep, 50, timeout=60) for _ in range(12)]
    finally:
        compute.close()
    assert 1 < len(set(processes)) < len(processes)


def keep_many(number: int) -> int:
    """Keep so many lists; how often garbage was looked for meanwhile."""
    before = gc.get_stats()[0]["collections"]
    KEPT.append([[] for _ in range(number)])
    return gc.get_stats()[0]["collections"] - before


def test_garbage_is_looked_for_between_calls() -> None:
    compute = Compute(1)
    try:
        compute.call(square, 1, timeout=60)  # what it imports it keeps, too
        assert [compute.call(keep_many, 20_000, timeout=60) for _ in range(9)] == [0] * 9
    finally:
        compute.close()


def test_processor_time_beyond_the_limit_is_named() -> None:
    compute = Compute(1, limits=Limits(cpu_seconds=1))
    try:
        with pytest.raises(TookTooMuch, match="more than 1 s of processor time"):
            compute.call(spin, timeout=60)
        assert compute.call(square, 3, timeout=60)[0] == 9
    finally:
        compute.close()


def test_a_call_that_nobody_wants_any_more_is_stopped(compute: Compute) -> None:
    begun, watch = time.monotonic(), Stopwatch()
    with pytest.raises(NotWanted):
        compute.call(wait, 60, timeout=60, unwanted=lambda: time.monotonic() > begun + 1)
    assert watch.seconds < 1 + 4


def test_many_calls_of_one_caller_do_not_hold_up_another(compute: Compute) -> None:
    with ThreadPoolExecutor(13) as threads:
        heavy = [threads.submit(compute.call, wait, 1.0, timeout=60, caller="busy") for _ in range(12)]
        time.sleep(0.3)
        assert compute.call(square, 5, timeout=60, caller="other")[0] == 25
        assert sum(one.done() for one in heavy) < 6  # its process may have to begin first
        pids = {one.result() for one in heavy}
    assert len(pids) == 1  # one process is left for others
    assert compute.inside == 0


def test_a_brief_call_may_take_what_is_left_for_others(compute: Compute, tmp_path: Path) -> None:
    over = tmp_path / "over"
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(compute.call, wait_for, over, timeout=60, caller="one")
        while compute.idle == 2:
            time.sleep(0.01)
        assert compute.idle == 1
        waiting = threads.submit(compute.call, square, 2, timeout=60, caller="one")
        assert compute.call(square, 3, timeout=60, caller="one", brief=True)[0] == 9
        assert not waiting.done()  # one process is left for others
        over.touch()
        assert waiting.result()[0] == 4
        first.result()
    assert compute.idle == 2


def test_with_one_process_callers_take_turns() -> None:
    compute = Compute(1)
    try:
        compute.call(square, 1, timeout=60)
        with ThreadPoolExecutor(9) as threads:
            heavy = [threads.submit(compute.call, wait, 0.4, timeout=60, caller="busy") for _ in range(8)]
            time.sleep(0.2)
            compute.call(square, 5, timeout=60, caller="other")
            assert sum(one.done() for one in heavy) <= 2
            for one in heavy:
                one.result()
    finally:
        compute.close()


def test_closing_in_the_midst_of_calls_ends_them_and_every_process() -> None:
    for _ in range(5):
        made = Compute(2)
        pids = begin(made)
        with ThreadPoolExecutor(2) as threads:
            calls = [threads.submit(made.call, wait, 60, timeout=60, caller=str(n)) for n in range(2)]
            time.sleep(0.2)
            made.close()
            for call in calls:
                assert isinstance(call.exception(timeout=60), ComputeDied)
        for pid in pids:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)


def away() -> bool:
    raise StoreError("the database is away")


def interrupted() -> bool:
    raise KeyboardInterrupt


@pytest.mark.parametrize(("unwanted", "error"), [(away, StoreError), (interrupted, KeyboardInterrupt)])
def test_what_a_broken_off_call_would_have_given_is_nobody_elses_answer(
    unwanted: Callable[[], bool], error: type[BaseException]
) -> None:
    compute = Compute(1)
    try:
        compute.call(square, 1, timeout=60)
        with pytest.raises(error):
            compute.call(wait, 1.5, timeout=60, unwanted=unwanted)
        assert compute.call(square, 3, timeout=60)[0] == 9
    finally:
        compute.close()


def test_a_call_can_be_broken_off_while_it_waits_for_its_turn() -> None:
    compute = Compute(1)
    try:
        with ThreadPoolExecutor(1) as beside:
            going_on = beside.submit(compute.call, wait, 2.5, timeout=60, caller="a")
            time.sleep(0.3)
            with pytest.raises(StoreError):
                compute.call(square, 2, timeout=60, caller="b", unwanted=away)
            going_on.result()
        assert compute.inside == 0
        assert compute.call(square, 3, timeout=60)[0] == 9
    finally:
        compute.close()


def test_a_process_that_died_while_idle_costs_no_call() -> None:
    compute = Compute(1)
    try:
        _, pid = compute.call(square, 1, timeout=60)
        os.kill(pid, signal.SIGKILL)
        time.sleep(0.2)
        answer, other = compute.call(square, 3, timeout=60)
        assert answer == 9
        assert other != pid
    finally:
        compute.close()


def no_pickle() -> object:
    return lambda: None


class Unreadable:
    def __reduce__(self) -> tuple[object, ...]:
        return (int, ("not a number",))


def length(text: bytes) -> int:
    return len(text)


def test_what_cannot_be_handed_over_is_an_error_and_no_death() -> None:
    compute = Compute(1)
    try:
        _, pid = compute.call(square, 1, timeout=60)
        with pytest.raises(RuntimeError, match="pickle"):
            compute.call(no_pickle, timeout=60)
        with pytest.raises(RuntimeError, match="not a number"):
            compute.call(length, Unreadable(), timeout=60)  # type: ignore[arg-type]
        assert compute.call(square, 3, timeout=60) == (9, pid)
    finally:
        compute.close()


def test_arguments_and_results_count_as_memory() -> None:
    compute = Compute(1, limits=Limits(megabytes=128))
    try:
        with pytest.raises(TookTooMuch, match="more than 128 MB"):
            compute.call(length, bytes(300 << 20), timeout=60)
        with pytest.raises(TookTooMuch, match="more than 128 MB"):
            compute.call(bytes, 100 << 20, timeout=60)
        assert compute.call(square, 3, timeout=60)[0] == 9
    finally:
        compute.close()


def test_processes_begin_and_are_stopped_by_many_threads_at_once() -> None:
    def once(_number: int) -> None:
        _Process((), Limits()).stop()

    before = len(list(Path("/proc/self/fd").iterdir()))
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(once, range(300)))
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 5


def test_closing_goes_on_whatever_one_process_does(monkeypatch: pytest.MonkeyPatch) -> None:
    compute = Compute(3)
    pids = begin(compute)
    stop = _Process.stop

    def failing(process: _Process) -> None:
        stop(process)
        if process.pid == pids[0]:
            raise OSError("as never seen")

    monkeypatch.setattr(_Process, "stop", failing)
    with pytest.raises(OSError, match="as never seen"):
        compute.close()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_who_always_waits_is_not_passed_by_who_comes_and_goes() -> None:
    compute = Compute(1)
    served: list[str] = []
    over = threading.Event()

    def ask(caller: str) -> None:
        while not over.is_set():
            compute.call(square, 1, timeout=60, caller=caller)
            served.append(caller)
            if len(served) >= 200:
                over.set()

    try:
        compute.call(square, 1, timeout=60)
        with ThreadPoolExecutor(6) as threads:
            for asked in [threads.submit(ask, caller) for caller in "aabcde"]:
                asked.result()
    finally:
        compute.close()
    shares = Counter(served)
    assert min(shares.values()) > 20, shares
