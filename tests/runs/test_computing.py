"""What a run computes is bounded, and stopped with the run."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from app.compute import Compute, Limits, TookTooLong, TookTooMuch
from app.runs.computing import Computing, Stopped

STOP = {"status": "cancelled", "reason": "cancelled by ada"}


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
    assert Computing(compute, 30).done("run", lambda: None, wait, 0.01) == 0.01


def test_it_ends_within_seconds_of_the_run(compute: Compute) -> None:
    begun = time.monotonic()
    with pytest.raises(Stopped) as caught:
        Computing(compute, 60).done("run", lambda: STOP if time.monotonic() > begun + 2 else None, wait, 60)
    assert caught.value.stop == STOP
    assert time.monotonic() - begun < 2 + 5


def test_a_run_that_waits_for_its_turn_is_stopped_too(compute: Compute) -> None:
    computing = Computing(compute, 60)
    begun = time.monotonic()
    with pytest.raises(Stopped):
        computing.done("run", lambda: STOP, wait, 60)
    assert time.monotonic() - begun < 5


def test_time_and_memory_are_bounded(compute: Compute) -> None:
    with pytest.raises(TookTooLong):
        Computing(compute, 2).done("run", lambda: None, wait, 60)
    with pytest.raises(TookTooMuch, match="more than 256 MB"):
        Computing(compute, 30).done("run", lambda: None, hoard)
