"""Sizes of an intent: what is too long or comes to too much is an error at its line, and is not made first."""

from __future__ import annotations

import pytest

from app.errors import InputError, QosforgeError
from app.intent.loader import LoadedIntent, parse_intent

HEAD = "version: 1\nintent: sized\n"
TAIL = "apply: [{role: edge, interfaces: lan, direction: input}]\n"


def problems(text: str) -> list[QosforgeError]:
    with pytest.raises(InputError) as raised:
        parse_intent(text, "sized.yaml")
    return raised.value.problems()


def matched(match: str, more: str = "") -> LoadedIntent:
    return parse_intent(f"{HEAD}classes:\n  - name: a\n    match: {match}\n{more}{TAIL}", "sized.yaml")


NUMBERS = ("0x" + "f" * 5000, "9" * 5000, "0o" + "7" * 6000, "1" * 3000 + ".5", "1_" * 2000 + "1")


@pytest.mark.parametrize("number", NUMBERS, ids=lambda n: n[:4])
@pytest.mark.parametrize("style", ["{}", "&a {}"], ids=["plain", "anchored"])
def test_a_number_of_thousands_of_digits_is_told_at_its_line(number: str, style: str) -> None:
    written = style.format(number)
    for text, line in (
        (f"intent: sized\nversion: {written}\nclasses: [{{name: a}}]\n{TAIL}", 2),
        (f"{HEAD}classes:\n  - name: a\n    match: {{any: [{{dscp: {written}}}]}}\n{TAIL}", 5),
        (f"{HEAD}parameters: {{x: {written}}}\nclasses: [{{name: a}}]\n{TAIL}", 3),
    ):
        (problem,) = problems(text)
        assert (problem.where.file, problem.where.line) == ("sized.yaml", line)
        assert f"is a number of {len(number):,} characters" in problem.message
        assert "at most 100" in problem.mend
        assert len(str(problem)) < 300


def test_a_setting_of_thousands_of_digits_is_told_too() -> None:
    with pytest.raises(InputError, match="cannot be read as a value"):
        parse_intent(f"{HEAD}classes: [{{name: a}}]\n{TAIL}", "sized.yaml", ["x=0x" + "f" * 5000])
