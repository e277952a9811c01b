"""Logging in by telnet: what devices and console servers ask, and who is told to be refused."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from cli_candidate import telnet
from cli_candidate.telnet import log_in
from netmiko.exceptions import NetmikoAuthenticationException


class Asking:
    """A connection to what says the next text after each answer."""

    TELNET_RETURN = "\r\n"
    username = "lab"
    password = "word"

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = iter(texts)
        self._due = next(self._texts)
        self.answers: list[str] = []

    def read_channel(self) -> str:
        said, self._due = self._due, ""
        return said

    def write_channel(self, text: str) -> None:
        self.answers.append(text)
        self._due = next(self._texts)


@pytest.mark.parametrize(
    ("texts", "answers"),
    [
        (["User Access Verification\r\n\r\nUsername: ", "lab\r\nPassword: ", "\r\nBox#"], ["lab\r", "word\r"]),
        (["\r\nPassword: ", "\r\nBox>"], ["word\r"]),
        (["Login: ", "lab\r\nPassword: ", "\r\n\r\nE300>"], ["lab\r", "word\r"]),
        (["\r\nBox#"], []),
        (["", "\r\nUser name: ", "Password: ", "\r\nBox#"], ["\r\n", "lab\r", "word\r"]),
        (["Would you like to enter the initial configuration dialog? [yes/no]: ", "\r\nRouter>"], ["no\r"]),
    ],
    ids=["ios", "line-password", "ftos", "no-login", "console-server", "not-configured"],
)
def test_what_is_asked_is_answered(monkeypatch: pytest.MonkeyPatch, texts: list[str], answers: list[str]) -> None:
    monkeypatch.setattr(telnet, "_PRESS_SECONDS", 0.1)
    connection = Asking(texts)
    log_in(connection)
    assert connection.answers == answers


@pytest.mark.parametrize(
    "texts",
    [
        ["Username: ", "Password: ", "\r\n% Login invalid\r\n\r\nUsername: "],
        ["Password: ", "\r\nPassword: "],
        ["Password required, but none set\r\n"],
    ],
    ids=["name-again", "password-again", "none-set"],
)
def test_what_is_asked_again_was_refused(texts: list[str]) -> None:
    with pytest.raises(NetmikoAuthenticationException):
        log_in(Asking(texts))
