"""The order of the loop's steps, on an engine that answers for them."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from app import errors
from app.runs.loop import _Course
from app.runs.tables import RunStatus

ANSWERS: dict[str, Any] = {
    "read": {"running": {"r1": "a", "r3": "b"}, "errors": []},
    "prepare": {"refused": False, "devices": {"r1": {"empty": False}, "r3": {"empty": False}}},
    "measure-before": {"outcome": "broken"},
    "push": {"running": {"r1": "c", "r3": "d"}, "errors": []},
    "counters": {"errors": []},
    "measure-after": {"outcome": "met"},
    "keep": {"errors": []},
    "roll-back": {"running": {}, "errors": []},
}


class Steps:
    """Records the steps; an answer that is an error is raised."""

    def __init__(self, **answers: object) -> None:
        self.answers = {**ANSWERS, **{name.replace("_", "-"): answer for name, answer in answers.items()}}
        self.done: list[str] = []

    def run_step(self, name: str, step: Callable[..., Any], *arguments: object) -> Any:
        del step, arguments
        answer = self.answers.get(name, {})
        if isinstance(answer, BaseException):
            raise answer
        self.done.append(name)
        return answer


def course(steps: Steps) -> Any:
    context: Any = SimpleNamespace(documents=SimpleNamespace(measure=True))
    engine: Any = steps
    return _Course(context, engine)


def test_a_good_run_is_kept_and_gives_the_boxes_back() -> None:
    steps = Steps()
    assert course(steps).go()["status"] == RunStatus.KEPT
    assert steps.done[-4:] == ["measure-after", "keep", "status-kept", "release"]


@pytest.mark.parametrize("at", ["push", "counters", "measure-after", "keep"])
def test_an_interrupted_run_leaves_the_steps_in_order_for_the_one_that_goes_on(at: str) -> None:
    whole = Steps()
    course(whole).go()
    cut = Steps(**{at: KeyboardInterrupt()})
    with pytest.raises(KeyboardInterrupt):
        course(cut).go()
    assert cut.done == whole.done[: whole.done.index(at)]


def test_a_step_that_fails_for_good_gives_the_boxes_back() -> None:
    steps = Steps(push=errors.StoreError("the store is gone"))
    with pytest.raises(errors.StoreError):
        course(steps).go()
    assert steps.done[-1] == "release"


@pytest.mark.parametrize("outcome", ["broken", "inconclusive"])
def test_anything_but_met_is_rolled_back(outcome: str) -> None:
    longer = {f"measure_after_x{n}": {"outcome": outcome} for n in (2, 4)}
    steps = Steps(measure_after={"outcome": outcome}, **longer)
    ended = course(steps).go()
    assert (ended["status"], ended["verdict"]) == (RunStatus.ROLLED_BACK, outcome)
    assert "keep" not in steps.done
    assert [s for s in steps.done if s.startswith("measure-after-x")] == (
        ["measure-after-x2", "measure-after-x4"] if outcome == "inconclusive" else []
    )


def test_a_box_that_cannot_be_confirmed_takes_the_whole_run_back() -> None:
    steps = Steps(keep={"errors": [{"device": "r3", "message": "it went back by itself", "mend": None}]})
    ended = course(steps).go()
    assert ended["status"] == RunStatus.ROLLED_BACK
    assert steps.done[-4:] == ["keep", "roll-back", "status-rolled_back", "release"]


@pytest.mark.parametrize("at", ["counters", "measure_after"])
def test_a_tester_that_fails_after_the_push_takes_the_run_back(at: str) -> None:
    steps = Steps(**{at: errors.TesterError("the twin refuses the scenario")})
    ended = course(steps).go()
    assert (ended["status"], ended["verdict"]) == (RunStatus.ROLLED_BACK, None)
    assert ended["errors"][0]["message"] == "the twin refuses the scenario"
    assert steps.done[-3:] == ["roll-back", "status-rolled_back", "release"]


def test_a_tester_that_fails_before_the_push_ends_the_run_untouched() -> None:
    steps = Steps(measure_before=errors.TesterError("no traffic is described"))
    assert course(steps).go()["status"] == RunStatus.FAILED
    assert steps.done == ["status-running", "read", "prepare", "status-failed"]
