"""Runs and the audit log name who ran a command, also where the account has no name."""

from __future__ import annotations

import getpass
import os

import pytest

from qosforge.cli.account import account


def test_an_account_has_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "ada")
    assert account() == "ada"


@pytest.mark.parametrize("error", [KeyError("getpwuid(): uid not found: 12345"), OSError("no name")])
def test_one_without_a_name_has_its_number(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def unknown() -> str:
        raise error

    monkeypatch.setattr(getpass, "getuser", unknown)
    assert account() == f"uid {os.getuid()}"
