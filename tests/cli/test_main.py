"""What all commands have in common: JSON on request, an interrupt told with its remedy, documented exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qosforge.cli import local_runs
from qosforge.cli.catalogue import ENTRIES, ListedCommand
from qosforge.cli.main import command_line, every_command
from qosforge.resources import root

from .conftest import Command

POLICY = root() / "policies" / "campus-collaboration.yaml"


def _leaves(command: Any, name: str = "qosforge") -> Iterator[tuple[str, Any]]:
    children = getattr(command, "commands", None)
    if children is None:
        yield name, command
        return
    for child in children.values():
        yield from _leaves(child, f"{name} {child.name}")


LEAVES = dict(_leaves(every_command()))


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_can_speak_json_and_is_documented(name: str) -> None:
    assert "--json" in [option for parameter in LEAVES[name].params for option in parameter.opts]
    words = name.removeprefix("qosforge ").split()
    page = (root() / "docs" / "cli.md").read_text()
    named = all(f"`{word}`" in page or f"qosforge {word}" in page or f"lab {word}" in page for word in words)
    assert name in page or named


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=lambda entry: entry.name)
def test_a_command_brings_its_own_module_alone(entry: ListedCommand) -> None:
    group = command_line(["--", entry.name])
    assert set(group.commands) == {one.name for one in ENTRIES.values() if one.module == entry.module}


def test_the_list_of_commands_says_what_they_say_of_themselves() -> None:
    commands = every_command().commands
    assert list(ENTRIES) == sorted(commands, key=list(ENTRIES).index)
    for entry in ENTRIES.values():
        own = " ".join(str(commands[entry.name].help).split())
        assert own.partition(". ")[0].rstrip(".") + "." == entry.summary


@pytest.mark.parametrize("command", ["run", "push"])
def test_an_interrupt_says_how_to_go_on(qosforge: Command, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(local_runs, "open_service", interrupted)
    ended = qosforge(command, POLICY, "--json")
    assert ended.code == 130
    assert "goes on with `qosforge recover`, or the next run or push" in ended.stderr
    assert "`qosforge cancel RUN` ends it" in ended.stderr
    assert json.loads(ended.stdout)["errors"][0]["message"] == "interrupted"


@pytest.mark.parametrize(
    "arguments", [("lab", "down"), ("lab", "clean"), ("runs",), ("recover",), ("lint", POLICY), ("compile", POLICY)]
)
def test_a_good_command_prints_one_document(qosforge: Command, arguments: tuple[object, ...]) -> None:
    ended = qosforge(*arguments, "--json")
    assert ended.code == 0
    json.loads(ended.stdout)


def test_no_runs_are_reported_in_words(qosforge: Command) -> None:
    assert qosforge("runs").stdout == "no runs yet\n"


@pytest.mark.parametrize(
    ("arguments", "document"),
    [
        (("user", "add", "ann", "--role", "admin"), {"added": "ann"}),
        (("user", "grant", "ann", "viewer", "--network", "campus"), {"granted": "viewer to ann"}),
    ],
)
def test_what_was_done_is_a_document_too(
    qosforge: Command, arguments: tuple[str, ...], document: dict[str, str]
) -> None:
    if arguments[1] != "add":
        assert qosforge("user", "add", "ann").code == 0
    assert json.loads(qosforge(*arguments, "--json").stdout) == document


@pytest.mark.parametrize("words", [("user", "grant", "ann", "viewer"), ("token", "create", "ann")], ids=" ".join)
def test_rights_on_a_network_that_is_not_there_are_told(qosforge: Command, words: tuple[str, ...]) -> None:
    assert qosforge("user", "add", "ann", "--role", "viewer").code == 0
    ended = qosforge(*words, "--network", "campsu", "--network", "campus")
    assert ended.code == 0
    assert ended.stderr.count("there is no network") == 1
    assert "there is no network 'campsu' yet: did you mean 'campus'?" in ended.stderr


def test_what_nobody_expected_is_reported_without_its_traceback(
    qosforge: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("qosforge.cli.main.print_explanation", lambda *_, **__: {}["unexpected"])
    ended = qosforge("--explain", "scope-empty", "--json")
    assert ended.code == 3
    assert "Traceback" not in ended.stderr + ended.stdout
    (kept,) = tmp_path.glob("qosforge-*.txt")
    assert str(kept) in json.loads(ended.stdout)["errors"][0]["hint"]
    assert "KeyError: 'unexpected'" in kept.read_text()
    assert kept.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("policy", "list"),
        ("policy", "list", "--json"),
        ("experiment", "list", "--json"),  # more than a stream holds back
    ],
    ids=" ".join,
)
def test_a_reader_that_goes_away_is_no_fault(words: tuple[str, ...]) -> None:
    command = [sys.executable, "-c", "from qosforge.cli.entry import main; main()", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=root()) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait() == (1 if words == ("--help",) else 3)  # help is printed by a library's own console
