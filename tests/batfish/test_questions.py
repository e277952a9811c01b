"""Which questions are put to Batfish, and what is told of one that failed; the live tests put them."""

from __future__ import annotations

import io
import json
import socket
import sys

import pytest

from qosforge.batfish import questions
from qosforge.batfish.question_list import QUESTIONS
from qosforge.batfish.questions import last_cause, questions_about

SNAPSHOTS = {
    "before": {"r1.cfg": "hostname r1\n"},
    "after": {"r1.cfg": "hostname r1\npolicy-map A\n"},
    "classes": {},
}


def test_what_no_text_is_about_is_not_asked() -> None:
    asked = questions_about(SNAPSHOTS)
    assert set(QUESTIONS) - set(asked) == {"vlans", "ospf", "bgp", "entries", "class-issues", "classes"}
    assert all(asked[key] is QUESTIONS[key] for key in asked)


def test_what_a_change_took_away_is_asked_about() -> None:
    before = {"r1.cfg": "hostname r1\nrouter ospf 1\n"}
    assert "ospf" in questions_about({**SNAPSHOTS, "before": before})


def test_equal_snapshots_are_not_compared() -> None:
    asked = questions_about({**SNAPSHOTS, "after": SNAPSHOTS["before"]})
    assert asked
    assert not any(question.against for question in asked.values())


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("Work terminated\nlog: \nCaused by: a.B$C: first\n\tat x\nCaused by: a.B: the last\n\tat y\n", "the last"),
        ("Work terminated\nmore", "Work terminated"),
        ("", "no reason given"),
    ],
)
def test_reason_is_the_last_cause(log: str, reason: str) -> None:
    assert last_cause(log) == reason


def test_command_fails_with_one_line_where_nobody_answers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as reserved:  # bound, and listening to nobody
        reserved.bind(("127.0.0.1", 0))
        monkeypatch.setattr(
            sys, "argv", ["questions", "127.0.0.1", str(reserved.getsockname()[1]), "qosforge-test", "2"]
        )
        monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps({"snapshots": SNAPSHOTS, "computing": False})))
        with pytest.raises(SystemExit) as ended:
            questions.main()
    assert ended.value.code
    assert "\n" not in str(ended.value.code)
    assert capsys.readouterr().out == "", "the output is for answers alone"
