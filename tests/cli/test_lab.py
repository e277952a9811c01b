"""The commands of the lab without the emulated devices: they say so, and nothing else needs them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from qosforge.emulation import emulated_devices
from qosforge.resources import root

from .conftest import Command

CAMPUS = root() / "inventories" / "campus"


@pytest.fixture(autouse=True)
def without_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "qoslab", None)


@pytest.mark.parametrize("command", ["up", "down", "clean"])
def test_a_command_says_how_the_lab_is_installed(qosforge: Command, command: str) -> None:
    ended = qosforge("lab", command, "--network", CAMPUS)
    assert (ended.code, ended.stdout) == (3, "")
    assert "the package qoslab, are not installed" in " ".join(ended.stderr.split())
    assert "pip install 'qosforge[lab]'" in ended.stderr


def test_a_network_is_not_taken_for_emulated(tmp_path: Path) -> None:
    assert not emulated_devices(tmp_path)


def test_help_does_not_need_it(qosforge: Command) -> None:
    assert qosforge("lab", "--help").code == 0
