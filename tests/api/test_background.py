"""Long computations beside requests."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from qosforge.api import background
from qosforge.api.background import Background, Lane, Progress
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
def made() -> Iterator[Background]:
    background_ = Background(short=20, long=60, limits=Limits(megabytes=100))
    yield background_
    background_.close()


@pytest.mark.hostile
@pytest.mark.parametrize("lane", ["short", "long"])
def test_no_lane_takes_more_memory_than_the_settings_say(made: Background, lane: Lane) -> None:
    made.ask("small", hoard, 10, person="eve", lane=lane)
    made.ask("large", hoard, 900, person="eve", lane=lane)
    assert ended(made, "small").result == 10 << 20
    assert isinstance(ended(made, "large").error, TookTooMuch)


def ended(made: Background, key: str) -> Progress:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = made.known(key)
        if found is not None and found.ended:
            return found
        time.sleep(0.02)
    raise AssertionError(f"{key} did not end")


def begun(made: Background, key: str) -> None:
    deadline = time.monotonic() + 60
    while made.known(key) == Progress("waiting"):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_computation_is_begun_once_and_its_result_kept(made: Background) -> None:
    assert made.ask("a", slow, 0.2, "done", person="eve").state == "waiting"
    assert made.ask("a", slow, 0.0, "another", person="bob").state in ("waiting", "computing")
    assert ended(made, "a").result == "done"
    assert made.ask("a", slow, 0.0, "another", person="eve").result == "done"


def test_errors_are_told_and_what_nobody_expected_tells_no_secret(made: Background) -> None:
    made.ask("wrong", wrong, person="eve")
    made.ask("broken", broken, person="eve")
    made.ask("unsendable", slow, threading.Lock(), person="eve")
    told = ended(made, "wrong").error
    assert isinstance(told, InputError)
    assert told.hint == "name another"
    assert "secret" not in str(ended(made, "broken").error)
    assert ended(made, "unsendable").state == "failed"
    assert made.ask("broken", slow, 0.0, "well", person="eve").state == "waiting", (
        "asked for again, it begins again"
    )
    assert ended(made, "broken").result == "well"


def test_a_topic_gives_up_what_waits_for_it_but_not_what_is_computed(made: Background) -> None:
    made.ask("first", slow, 0.5, "first", person="eve", topic="page")
    begun(made, "first")
    for key in ("second", "shared", "third"):
        made.ask(key, slow, 0.0, key, person="eve", topic="page")
        if key == "shared":
            made.ask(key, slow, 0.0, key, person="bob", topic="page")
    made.ask("of bob", slow, 0.0, "of bob", person="bob", topic="page")
    assert made.known("second") is None
    for key in ("third", "first", "shared", "of bob"):
        assert ended(made, key).result == key


def test_what_is_short_does_not_wait_behind_what_is_long(made: Background) -> None:
    made.ask("long", slow, 30.0, "", person="eve", lane="long")
    begun(made, "long")
    made.ask("short", slow, 0.0, "short", person="eve")
    assert ended(made, "short").result == "short"
    assert made.known("long") == Progress("computing")


def test_many_of_one_person_hold_up_nobody_elses(made: Background, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "MOST_WAITING", 3)
    made.ask("first", slow, 1.0, "", person="eve")
    begun(made, "first")
    for number in range(3):
        made.ask(str(number), slow, 30.0 * (number > 0), "", person="eve")
    with pytest.raises(TooBusy):
        made.ask("3", slow, 0.0, "", person="eve")
    made.ask("of bob", slow, 0.0, "of bob", person="bob")
    assert ended(made, "of bob").result == "of bob"
    assert made.known("2") == Progress("waiting")


@pytest.mark.parametrize(("limit", "most"), [("KEPT", 2), ("KEPT_BYTES", 2500)])
def test_the_oldest_ended_are_given_up(
    made: Background, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    monkeypatch.setattr(background, limit, most)
    for number in range(4):
        made.ask(str(number), slow, 0.0, "x" * 1000, person="eve")
        ended(made, str(number))
    assert [made.known(str(number)) is not None for number in range(4)] == [False, False, True, True]
