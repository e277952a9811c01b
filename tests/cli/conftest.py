"""The command line in this process: arguments in, exit code and what it printed out."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from qosforge.cli.main import main


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    stdout: str
    stderr: str


Command = Callable[..., Ended]


@pytest.fixture
def qosforge(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    """``qosforge ARGUMENTS`` with a run directory of its own."""
    monkeypatch.setenv("QOSFORGE_VAR_DIR", str(tmp_path / "var"))

    def call(*arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["qosforge", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        code = ended.value.code
        return Ended(code if isinstance(code, int) else int(code is not None), printed.out, printed.err)

    return call
