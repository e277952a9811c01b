"""Errors of many devices, told once each, and the reason that they give."""

from __future__ import annotations

from datetime import UTC, datetime

from qosforge.device_names import name_devices
from qosforge.errors import ChangeRefused, DeviceError, Place
from qosforge.runs.record.end_log import error_texts
from qosforge.runs.record.gathered_errors import gather_errors
from qosforge.runs.record.reason import half_way, reason_of_errors, retry
from qosforge.runs.record.stages import Stage
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.summaries import PushSummary
from qosforge.runs.record.tables import StageOutcome


def error(device: str, message: str, hint: str = "") -> StepError:
    return StepError.of(DeviceError(message, Place(device=device), hint))


def test_the_same_of_many_devices_is_told_once_with_the_first_and_their_number() -> None:
    (one,) = gather_errors(error(f"d{n}", "away", "look") for n in range(300))
    assert str(one) == "d0 and 299 more: away (look)"
    assert (len(one.devices), one.device) == (300, "")


def test_few_devices_are_named_and_one_twice_is_one() -> None:
    assert name_devices(["a", "b", "c"]) == "a, b, c"
    (one,) = gather_errors([error("a", "away"), error("a", "away")])
    assert (one.device, one.told) == ("a", "a: away")


def test_what_most_devices_say_comes_first() -> None:
    found = gather_errors([error("a", "full"), error("b", "away"), error("c", "away")])
    assert [one.told for one in found] == ["b, c: away", "a: full"]


def test_what_is_of_no_device_stays_apart() -> None:
    found = gather_errors([StepError(message="away"), error("b", "away")])
    assert [one.told for one in found] == ["away", "b: away"]


def refusal(device: str, answer: str, line: int) -> StepError:
    message = f"the device refused the change: refused at line {line} ('qos'), {line - 1} of 9 applied: {answer}"
    return StepError.of(ChangeRefused(message, Place(device=device), "put it right", answer, "the change"))


NO_MEMORY, LOCKED = "% Error: no memory.", "% Cannot modify settings"


def test_devices_that_gave_the_same_answer_are_one_cause_however_far_each_came() -> None:
    refusals = [refusal("d3", NO_MEMORY, 6), refusal("d9", LOCKED, 1), refusal("d7", NO_MEMORY, 2)]
    (one,) = gather_errors([*refusals, refusal("d101", LOCKED, 4), refusal("d251", NO_MEMORY, 6)])
    causes = f"2 “{LOCKED}” (d9, d101)"
    assert one.told == f"5 devices refused the change: 3 “{NO_MEMORY}” (d3, d7, d251), {causes}"
    assert one.told_of(300).startswith("5 of 300 devices refused the change: 3 ")
    assert str(gather_errors(refusals[:1])[0]).startswith("d3: the device refused the change: refused at line 6")


def test_one_answer_of_many_is_told_without_a_count_of_its_own() -> None:
    (one,) = gather_errors(refusal(f"d{n}", NO_MEMORY, 1) for n in range(5))
    assert one.told == f"5 devices refused the change: “{NO_MEMORY}” (d0 and 4 more)"


def test_a_refusal_of_the_way_back_is_another_cause() -> None:
    back = ChangeRefused("no", Place(device="a"), "", NO_MEMORY, "the lines that roll the change back")
    assert len(gather_errors([StepError.of(back), refusal("a", NO_MEMORY, 1)])) == 2


def test_what_a_reason_says_of_refusals_is_told_again_by_no_stage() -> None:
    refusals = [refusal("d3", NO_MEMORY, 6), refusal("d9", LOCKED, 1)]
    reason = reason_of_errors(refusals, "push", retry("1"), 300)
    assert reason.message.startswith("2 of 300 devices refused the change: ")
    assert (reason.advice.text, reason.device) == ("put it right", "")
    now = datetime.now(UTC)
    stage = Stage("r", "push", 1, now, now, StageOutcome.DONE, PushSummary(errors=refusals), 1)
    assert list(error_texts([stage], reason.reasons)) == []


def test_what_every_device_says_is_told_of_all() -> None:
    away = [error(f"d{n}", "no address is known") for n in range(300)]
    assert reason_of_errors(away, "read", retry("1"), 300).message == "300 devices: no address is known"


def test_a_reason_says_each_error_once_and_how_many_are_left() -> None:
    away = [error(f"d{n}", "away") for n in range(296)]
    other = [error(f"x{n}", f"full {n}") for n in range(4)]
    reason = reason_of_errors([*other, *away], "read", retry("1"))
    assert reason.message == "d0 and 295 more: away; x0: full 0; x1: full 1; and 2 more errors"
    assert reason_of_errors([*other[1:], *away], "read", retry("1")).message.endswith("; and 1 more error")
    assert [(one.device, one.message) for one in reason.reasons] == [
        ("", "d0 and 295 more: away"),
        ("x0", "full 0"),
        ("x1", "full 1"),
    ]
    assert reason.device == ""


def test_what_hinders_a_rollback_on_two_devices_is_one_reason_before_why_it_was_rolled_back() -> None:
    left = reason_of_errors([error("a", "gone"), error("b", "shut")], "rollback", retry("1"))
    why = reason_of_errors([error("a", "refused")], "push", retry("1"))
    assert [one.message for one in half_way(left, why).reasons] == ["a: gone; b: shut", "refused"]
