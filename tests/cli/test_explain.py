"""``qosforge --explain CODE``."""

from __future__ import annotations

import json

import pytest

from qosforge.cli.catalogue import ENTRIES
from qosforge.cli.main import command_line
from qosforge.finding_codes import explain, load_codes

from .conftest import Command


@pytest.mark.parametrize("code", ["mark-lost", "feature-unsupported"])
def test_a_code_is_explained(qosforge: Command, code: str) -> None:
    entry = explain(code)

    told = qosforge("--explain", code)
    assert (told.code, told.stderr) == (0, "")
    said = " ".join(told.stdout.split())
    assert said.startswith(" ".join([code, *entry.severities]))
    for text in (entry.meaning, entry.why, entry.hint, entry.example):
        assert " ".join(text.split()) in said

    document = json.loads(qosforge("--explain", code, "--json").stdout)
    texts = {name: getattr(entry, name) for name in ("meaning", "why", "hint", "example")}
    assert document == {"code": code, "severity": list(entry.severities), **texts}


def test_every_code_can_be_explained(qosforge: Command) -> None:
    for code in load_codes().codes:
        assert json.loads(qosforge("--json", f"--explain={code}").stdout)["code"] == code


@pytest.mark.parametrize(
    ("arguments", "says", "hint"),
    [
        (("--explain", "mark-losst"), "no finding has the code 'mark-losst'", "did you mean 'mark-lost'?"),
        (("--explain", "zzz"), "no finding has the code 'zzz'", "docs/findings.md"),
        (("--explain",), "requires an argument", "--help"),
        (("--explain", "mark-lost", "runs"), "--explain stands alone", "--help"),
        (("--json",), "--json belongs behind a command", "--help"),
        (("--json", "runs"), "--json belongs behind a command", "--help"),
    ],
)
def test_what_cannot_be_explained_is_reported(
    qosforge: Command, arguments: tuple[str, ...], says: str, hint: str
) -> None:
    told = qosforge(*arguments)

    assert told.code == 2
    assert says in told.stderr
    assert hint in told.stderr


def test_nothing_is_loaded_to_explain() -> None:
    assert command_line(["--explain", "lint"]).commands.keys() == ENTRIES.keys()
    assert command_line(["--explain", "mark-lost", "lint"]).commands.keys() < ENTRIES.keys()
