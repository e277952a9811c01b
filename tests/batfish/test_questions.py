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
from qosforge.batfish.questions import QUESTIONS, ask

SNAPSHOTS = {"before": {"r1.cfg": "hostname r1\n"}, "after": {"r1.cfg": "hostname r1\npolicy-map A\n"}}


class _Lines:
    """A cell that is no JSON, as pybatfish's are."""

    def __str__(self) -> str:
        return "configs/r1.cfg:[1]"


class _Played:
    """Records what a session is asked; every question answers with the text of its snapshot."""

    def __init__(self, host: str, port: int) -> None:
        self.address = (host, port)
        self.uploaded: dict[str, str] = {}
        self.networks: list[str] = []
        self.timeout = 0.0
        self.fails = False
        self.q: Any = type(
            "Questions", (), {name: staticmethod(lambda: self._Question(self)) for name in QUESTIONS}
        )

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
        def __init__(self, session: _Played) -> None:
            self.session = session

        def answer(self, *, snapshot: str) -> _Played._Question:
            self.text = self.session.uploaded[snapshot]
            return self

        def frame(self) -> _Played._Question:
            return self

        def to_dict(self, form: str) -> list[dict[str, object]]:
            assert form == "records"
            return [{"Text": self.text, "Lines": _Lines()}]


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> _Played:
    played = _Played("", 0)

    def opened(host: str, port: int, timeout: float) -> _Played:
        played.address, played.timeout = (host, port), timeout
        return played

    monkeypatch.setattr("pybatfish.client.session.Session", opened)
    return played


def test_every_question_is_put_to_every_snapshot(session: _Played) -> None:
    answers = ask("localhost", 9996, SNAPSHOTS, network="qosforge-test", seconds=10)
    assert session.address == ("localhost", 9996)
    assert {(s, q): rows[0]["Text"] for s, r in answers.items() for q, rows in r.items()} == {
        (snapshot, question): files["r1.cfg"] for snapshot, files in SNAPSHOTS.items() for question in QUESTIONS
    }
    assert session.networks == ["qosforge-test"]
    assert session.timeout == 5, "a request that hangs leaves time for another"


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, session: _Played) -> _Played:
    monkeypatch.setattr(sys, "argv", ["questions", "localhost", "9996", "qosforge-test", "10"])
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(SNAPSHOTS)))
    return session


@pytest.mark.usefixtures("command")
def test_command_prints_answers_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    questions.main()
    answers = json.loads(capsys.readouterr().out)
    assert answers["after"]["parseWarning"] == [
        {"Text": SNAPSHOTS["after"]["r1.cfg"], "Lines": "configs/r1.cfg:[1]"}
    ]


def test_command_fails_with_one_line(command: _Played) -> None:
    command.fails = True
    with pytest.raises(SystemExit) as ended:
        questions.main()
    assert ended.value.code == "Work terminated abnormally"
