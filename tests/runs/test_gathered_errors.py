"""Errors of many devices, told once each, and the reason that they give."""

from __future__ import annotations

from qosforge.device_names import name_devices
from qosforge.errors import DeviceError, Place
from qosforge.runs.record.gathered_errors import gather_errors
from qosforge.runs.record.reason import half_way, reason_of_errors, retry
from qosforge.runs.record.step_error import StepError


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
