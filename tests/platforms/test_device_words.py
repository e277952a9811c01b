"""What is told of a device before it is read: secrets that it held when it was last read are known."""

from __future__ import annotations

import pytest

from qosforge.errors import DeviceError, StoreError
from qosforge.platforms.device_text import DeviceWords

pytestmark = pytest.mark.hostile

HELD = "snmp-server community PLANTED01 RO\n"


def test_what_a_device_held_when_it_was_last_read_is_kept_from_its_first_words() -> None:
    requested: list[str] = []

    def earlier() -> str:
        requested.append("once")
        return HELD

    words = DeviceWords("r1", "cisco_ios", earlier=earlier)
    assert requested == [], "nothing is asked before there is something to show"
    error = words.shown_in(DeviceError("show running-config: % Failed near 'PLANTED01'"))
    assert error.message == "show running-config: % Failed near '********'"
    assert words.shown_document({"text": "PLANTED01"}) == {"text": "********"}
    assert requested == ["once"]


def test_nobody_is_asked_once_the_device_was_read() -> None:
    words = DeviceWords("r1", "cisco_ios", earlier=lambda: pytest.fail("asked"))
    words.learn(HELD)
    assert words.shown("PLANTED01") == "********"


def test_where_nobody_can_say_the_forms_hold_and_the_next_words_ask_again() -> None:
    answers = iter([StoreError("away"), None, HELD])

    def earlier() -> str | None:
        answer = next(answers)
        if isinstance(answer, StoreError):
            raise answer
        return answer

    words = DeviceWords("r1", "cisco_ios", earlier=earlier)
    assert words.shown("enable secret 5 NEW01 near PLANTED01") == "enable secret 5 ******** near PLANTED01"
    assert words.shown("near PLANTED01") == "near PLANTED01"  # it was never read
    assert next(answers) == HELD, "and that was told for good"
