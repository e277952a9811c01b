"""Background jobs: the short and the long queue."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from qosforge.api.jobs import queue
from qosforge.api.jobs.queue import JobProgress, JobQueues, QueueName
from qosforge.compute import TooBusy
from qosforge.compute_process import Limits, TookTooMuch
from qosforge.errors import InputError


def slow(seconds: float, answer: str) -> str:
    time.sleep(seconds)
    return answer


def hoard(megabytes: int) -> int:
    return len(bytearray(megabytes << 20))


def wrong() -> None:
    raise InputError("no such thing", hint="name another")


def broken() -> None:
    raise KeyError("a secret")


@pytest.fixture
def queues() -> Iterator[JobQueues]:
    queues = JobQueues(short=20, long=60, limits=Limits(megabytes=100))
    yield queues
    queues.close()


@pytest.mark.hostile
@pytest.mark.parametrize("queue_name", ["short", "long"])
def test_no_queue_takes_more_memory_than_the_settings_say(queues: JobQueues, queue_name: QueueName) -> None:
    queues.submit("small", hoard, 10, person="eve", queue=queue_name)
    queues.submit("large", hoard, 900, person="eve", queue=queue_name)
    assert ended(queues, "small").result == 10 << 20
    assert isinstance(ended(queues, "large").error, TookTooMuch)


def ended(queues: JobQueues, key: str) -> JobProgress:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = queues.progress(key)
        if found is not None and found.ended:
            return found
        time.sleep(0.02)
    raise AssertionError(f"{key} did not end")


def begun(queues: JobQueues, key: str) -> None:
    deadline = time.monotonic() + 60
    while queues.progress(key) == JobProgress("waiting"):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_computation_is_begun_once_and_its_result_kept(queues: JobQueues) -> None:
    assert queues.submit("a", slow, 0.2, "done", person="eve").state == "waiting"
    assert queues.submit("a", slow, 0.0, "another", person="bob").state in ("waiting", "computing")
    assert ended(queues, "a").result == "done"
    assert queues.submit("a", slow, 0.0, "another", person="eve").result == "done"


def test_errors_are_reported_and_what_nobody_expected_tells_no_secret(queues: JobQueues) -> None:
    queues.submit("wrong", wrong, person="eve")
    queues.submit("broken", broken, person="eve")
    queues.submit("unsendable", slow, threading.Lock(), person="eve")
    told = ended(queues, "wrong").error
    assert isinstance(told, InputError)
    assert told.hint == "name another"
    assert "secret" not in str(ended(queues, "broken").error)
    assert ended(queues, "unsendable").state == "failed"
    assert queues.submit("broken", slow, 0.0, "well", person="eve").state == "waiting", (
        "asked for again, it begins again"
    )
    assert ended(queues, "broken").result == "well"


def test_a_newer_job_of_a_topic_drops_the_waiting_one_but_not_the_running_one(queues: JobQueues) -> None:
    queues.submit("first", slow, 0.5, "first", person="eve", topic="page")
    begun(queues, "first")
    for key in ("second", "shared", "third"):
        queues.submit(key, slow, 0.0, key, person="eve", topic="page")
        if key == "shared":
            queues.submit(key, slow, 0.0, key, person="bob", topic="page")
    queues.submit("of bob", slow, 0.0, "of bob", person="bob", topic="page")
    assert queues.progress("second") is None
    for key in ("third", "first", "shared", "of bob"):
        assert ended(queues, key).result == key


def test_a_short_job_does_not_wait_behind_a_long_one(queues: JobQueues) -> None:
    queues.submit("long", slow, 30.0, "", person="eve", queue="long")
    begun(queues, "long")
    queues.submit("short", slow, 0.0, "short", person="eve")
    assert ended(queues, "short").result == "short"
    assert queues.progress("long") == JobProgress("computing")


def test_many_jobs_of_one_person_do_not_hold_up_those_of_another(
    queues: JobQueues, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "MAX_WAITING_PER_PERSON", 3)
    queues.submit("first", slow, 1.0, "", person="eve")
    begun(queues, "first")
    for number in range(3):
        queues.submit(str(number), slow, 30.0 * (number > 0), "", person="eve")
    with pytest.raises(TooBusy):
        queues.submit("3", slow, 0.0, "", person="eve")
    queues.submit("of bob", slow, 0.0, "of bob", person="bob")
    assert ended(queues, "of bob").result == "of bob"
    assert queues.progress("2") == JobProgress("waiting")


@pytest.mark.parametrize(("limit", "most"), [("MAX_RESULTS", 2), ("MAX_RESULT_BYTES", 2500)])
def test_the_oldest_results_are_dropped(
    queues: JobQueues, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    monkeypatch.setattr(queue, limit, most)
    for number in range(4):
        queues.submit(str(number), slow, 0.0, "x" * 1000, person="eve")
        ended(queues, str(number))
    assert [queues.progress(str(number)) is not None for number in range(4)] == [False, False, True, True]
