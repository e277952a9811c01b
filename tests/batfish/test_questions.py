"""The process that talks to Batfish, with pybatfish's session played by the test."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from pybatfish.exception import BatfishException

from qosforge.batfish import questions
from qosforge.batfish.question_list import QUESTIONS
from qosforge.batfish.questions import ask

SNAPSHOTS = {
    "before": {"r1.cfg": "hostname r1\n"},
    "after": {"r1.cfg": "hostname r1\npolicy-map A\n"},
    "classes": {},
}


class _Played:
    """Records what a session is asked; every question answers with the texts of its snapshots."""

    def __init__(self, host: str, port: int) -> None:
        self.address = (host, port)
        self.uploaded: dict[str, str] = {}
        self.networks: list[str] = []
        self.timeout = 0.0
        self.fails = False
        self.fails_at, self.log = "", "java.lang.OutOfMemoryError"
        names = {question.name for question in QUESTIONS.values()}
        self.q: Any = type("Questions", (), {name: self._asked(name) for name in names})

    def _asked(self, name: str) -> Any:
        return staticmethod(lambda **_: self._Question(self, name))

    def set_network(self, name: str) -> str:
        self.networks.append(name)
        sys.stdout.write("a client that talks\n")
        return name

    def init_snapshot(self, folder: str, *, name: str, overwrite: bool) -> None:
        assert overwrite
        if self.fails:
            raise BatfishException("Work terminated abnormally\na log of many lines")
        self.uploaded[name] = (Path(folder) / "configs" / "r1.cfg").read_text(encoding="utf-8")

    class _Question:
        def __init__(self, session: _Played, name: str) -> None:
            self.session, self.name = session, name

        def answer(self, *, snapshot: str, reference_snapshot: str | None = None) -> _Played._Question:
            if self.name == self.session.fails_at:
                raise BatfishException(self.session.log)
            other = self.session.uploaded[reference_snapshot] if reference_snapshot else None
            self.rows = [{"Text": self.session.uploaded[snapshot], "Other": other}]
            return self

        def dict(self) -> dict[str, Any]:
            return {"answerElements": [{"rows": self.rows}]}


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> _Played:
    played = _Played("", 0)

    def opened(host: str, port: int, timeout: float) -> _Played:
        played.address, played.timeout = (host, port), timeout
        return played

    monkeypatch.setattr("pybatfish.client.session.Session", opened)
    return played


def test_questions_are_put_to_their_snapshots(session: _Played) -> None:
    answers = ask("localhost", 9996, SNAPSHOTS, network="qosforge-test", seconds=10)
    assert session.address == ("localhost", 9996)
    for key, rows in answers["rows"].items():
        question = QUESTIONS[key]
        assert rows[0]["Text"] == SNAPSHOTS[question.of]["r1.cfg"]
        assert rows[0]["Other"] == (SNAPSHOTS[question.against]["r1.cfg"] if question.against else None)
    assert answers["failed"] == {}
    assert session.networks == ["qosforge-test"]
    assert session.timeout == 5, "a request that hangs leaves time for another"


def test_what_no_text_is_about_is_not_asked(session: _Played) -> None:
    asked = set(ask("localhost", 9996, SNAPSHOTS, network="qosforge-test", seconds=10)["rows"])
    assert set(QUESTIONS) - asked == {"vlans", "ospf", "bgp", "entries", "class-issues", "classes"}
    same = {**SNAPSHOTS, "after": SNAPSHOTS["before"]}
    asked = set(ask("localhost", 9996, same, network="qosforge-test", seconds=10)["rows"])
    assert not any(QUESTIONS[key].against for key in asked)


def test_question_that_fails_leaves_the_others(session: _Played) -> None:
    session.fails_at = "routes"
    answers = ask("localhost", 9996, SNAPSHOTS, network="qosforge-test", seconds=10)
    assert answers["failed"] == {"routes": "java.lang.OutOfMemoryError"}
    assert {"reachability", "interfaces"} <= set(answers["rows"])


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("Work terminated\nlog: \nCaused by: a.B$C: first\n\tat x\nCaused by: a.B: the last\n\tat y\n", "the last"),
        ("Work terminated\nmore", "Work terminated"),
        ("", "no reason given"),
    ],
)
def test_reason_is_the_last_cause(session: _Played, log: str, reason: str) -> None:
    session.fails_at, session.log = "routes", log
    assert ask("localhost", 9996, SNAPSHOTS, network="n", seconds=10)["failed"] == {"routes": reason}


def test_network_that_no_packet_enters_has_no_paths_to_compare(session: _Played) -> None:
    session.fails_at = "differentialReachability"
    session.log = "Caused by: a.B: no matching startLocation is present and active in both snapshots\n\tat x"
    answers = ask("localhost", 9996, SNAPSHOTS, network="n", seconds=10)
    assert (answers["rows"]["reachability"], answers["failed"]) == ([], {})


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, session: _Played) -> _Played:
    monkeypatch.setattr(sys, "argv", ["questions", "localhost", "9996", "qosforge-test", "10"])
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps({"snapshots": SNAPSHOTS, "computing": False})))
    return session


@pytest.mark.usefixtures("command")
def test_command_prints_answers_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    questions.main()
    answers = json.loads(capsys.readouterr().out)
    assert answers["rows"]["references"] == [{"Text": SNAPSHOTS["after"]["r1.cfg"], "Other": None}]
    assert "interfaces" in answers["rows"]
    assert answers["rows"].keys().isdisjoint({"routes", "reachability"}), "nobody asked it to compute forwarding"


def test_command_fails_with_one_line(command: _Played) -> None:
    command.fails = True
    with pytest.raises(SystemExit) as ended:
        questions.main()
    assert ended.value.code == "Work terminated abnormally"
