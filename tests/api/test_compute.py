"""Calls in processes of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.api.compute import Compute, ComputeDied, TooBusy, TookTooLong
from app.errors import InputError, InputErrors, Place


def square(number: int) -> tuple[int, int]:
    return number * number, os.getpid()


def wait(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def wrong() -> None:
    raise InputErrors(
        "two", errors=[InputError("one", Place(file="a.yaml", line=3), mend="mend it"), InputError("2")]
    )


def broken() -> None:
    raise ZeroDivisionError("deep inside")


@pytest.fixture(scope="module")
def compute() -> Iterator[Compute]:
    made = Compute(2)
    made.start()
    yield made
    made.close()


def test_calls_run_elsewhere_and_at_once(compute: Compute) -> None:
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda n: compute.call(square, n, timeout=20), range(40)))
    assert [value for value, _pid in answers] == [n * n for n in range(40)]
    assert {pid for _value, pid in answers} <= set(compute.pids)
    assert os.getpid() not in compute.pids
    assert compute.inside == 0


def test_errors_come_back_whole(compute: Compute) -> None:
    with pytest.raises(InputErrors) as caught:
        compute.call(wrong, timeout=20)
    first = caught.value.problems()[0]
    assert (first.where.file, first.where.line, first.mend) == ("a.yaml", 3, "mend it")
    with pytest.raises(RuntimeError, match="ZeroDivisionError: deep inside"):
        compute.call(broken, timeout=20)


def test_a_dead_or_slow_process_is_replaced_and_others_go_on(compute: Compute) -> None:
    before = set(compute.pids)
    with ThreadPoolExecutor(1) as beside:
        going_on = beside.submit(compute.call, wait, 1.5, timeout=20)
        time.sleep(0.3)
        with pytest.raises(ComputeDied):
            compute.call(die, timeout=20)
        with pytest.raises(TookTooLong):
            compute.call(wait, 60, timeout=0.2)
        assert going_on.result() in before
    compute.start()
    assert len(compute.pids) == 2
    assert compute.call(square, 7, timeout=20)[0] == 49


def test_more_than_the_bound_are_told_to_come_again() -> None:
    compute = Compute(1)
    try:
        compute.call(square, 1, timeout=20)  # it has started
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
    made.start()
    (pid,) = made.pids
    made.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_no_process_outlives_a_killed_service() -> None:
    program = "from app.api.compute import Compute; c = Compute(1); c.start(); print(*c.pids, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as service:
        assert service.stdout is not None
        child = int(service.stdout.readline())
        service.kill()
        service.wait()
        deadline = time.monotonic() + 20
        while Path(f"/proc/{child}").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
