"""Long computations beside requests."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from app.api import background
from app.api.background import Background, Progress
from app.api.compute import TooBusy
from app.errors import InputError


def slow(seconds: float, answer: str) -> str:
    time.sleep(seconds)
    return answer


def wrong() -> None:
    raise InputError("no such thing", mend="name another")


def broken() -> None:
    raise KeyError("a secret")


@pytest.fixture
def made() -> Iterator[Background]:
    background_ = Background(timeout=20)
    yield background_
    background_.close()


def ended(made: Background, key: str) -> Progress:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        found = made.known(key)
        if found is not None and found.ended:
            return found
        time.sleep(0.02)
    raise AssertionError(f"{key} did not end")


def test_a_computation_is_begun_once_and_its_result_kept(made: Background) -> None:
    assert made.ask("a", slow, 0.2, "done").state == "waiting"
    assert made.ask("a", slow, 0.0, "another").state in ("waiting", "computing")
    assert ended(made, "a").result == "done"
    assert made.ask("a", slow, 0.0, "another").result == "done"
    made.forget("a")
    made.ask("a", slow, 0.0, "another")
    assert ended(made, "a").result == "another"


def test_errors_are_told_and_what_nobody_expected_tells_no_secret(made: Background) -> None:
    made.ask("wrong", wrong)
    made.ask("broken", broken)
    told = ended(made, "wrong").error
    assert isinstance(told, InputError)
    assert told.mend == "name another"
    assert "secret" not in str(ended(made, "broken").error)


def test_a_topic_gives_up_what_waits_for_it_but_not_what_is_computed(made: Background) -> None:
    made.ask("first", slow, 0.5, "first", topic="page")
    deadline = time.monotonic() + 20
    while made.known("first") == Progress("waiting"):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    made.ask("second", slow, 0.0, "second", topic="page")
    made.ask("third", slow, 0.0, "third", topic="page")
    assert made.known("second") is None
    assert ended(made, "third").result == "third"
    assert ended(made, "first").result == "first"


def test_so_many_wait_and_no_more(made: Background, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "MOST_WAITING", 2)
    for number in range(3):
        made.ask(str(number), slow, 5.0, "")
        if number == 0:
            while made.known("0") == Progress("waiting"):
                time.sleep(0.01)
    with pytest.raises(TooBusy):
        made.ask("3", slow, 0.0, "")


def test_the_oldest_ended_are_given_up(made: Background, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "KEPT", 2)
    for number in range(4):
        made.ask(str(number), slow, 0.0, "")
        ended(made, str(number))
    assert [made.known(str(number)) is not None for number in range(4)] == [False, False, True, True]
