"""What everybody expects of a command: help, version, verbosity, completion, a list by groups."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
from importlib.metadata import version

import pytest

from qosforge.cli.catalogue import ENTRIES
from qosforge.cli.terminal import keep_foreign_logs_out
from qosforge.resources import root

from .conftest import Command

POLICY = root() / "policies" / "campus-collaboration.yaml"
QOSFORGE = [sys.executable, "-c", "from qosforge.cli.entry import main; main()"]


@pytest.mark.parametrize("words", [("-h",), ("--help",), ()])
def test_help_lists_the_commands_by_groups(qosforge: Command, words: tuple[str, ...]) -> None:
    ended = qosforge(*words)
    assert ended.code == (0 if words else 2)
    headings = [line.split()[1] for line in ended.stdout.splitlines() if line.startswith("╭─")]
    assert headings == [
        "Options",
        *(group.split()[0] for group in dict.fromkeys(e.group for e in ENTRIES.values())),
    ]


@pytest.mark.parametrize("words", [("lint", "-h"), ("user", "add", "-h"), ("lab", "up", "--help")])
def test_a_switch_has_no_type(qosforge: Command, words: tuple[str, ...]) -> None:
    ended = qosforge(*words)
    assert ended.code == 0
    assert "bool" not in ended.stdout
    switches = {"--quiet", "-q", "--verbose", "-v", "--help", "-h", "--json"}
    assert switches <= set(ended.stdout.split())


def test_the_version_is_that_of_the_package(qosforge: Command) -> None:
    assert qosforge("--version").stdout == f"qosforge {version('qosforge')}\n"
    assert json.loads(qosforge("--version", "--json").stdout) == {"version": version("qosforge")}


@pytest.mark.parametrize("words", [("-q", "diff"), ("diff", "--quiet")])
def test_quiet_tells_no_progress(qosforge: Command, words: tuple[str, ...]) -> None:
    ended = qosforge(*words, POLICY, "--network", root() / "inventories" / "campus")
    assert ended.code != 0  # no lab is up
    assert "read  " not in ended.stderr
    assert "error: " in ended.stderr
    assert "  read  " in qosforge("diff", POLICY).stderr


def test_foreign_logs_and_warnings_are_told_to_who_asks(
    qosforge: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    root_logger = logging.getLogger()
    handlers, level = root_logger.handlers, root_logger.level
    try:
        root_logger.handlers = []
        keep_foreign_logs_out()
        logging.getLogger("nornir.core").warning("Task 'x' has not been run")
        logging.getLogger("qosforge.deploy").warning("of ours")
        told = capsys.readouterr().err
        assert "has not been run" not in told
        assert "of ours" in told
        qosforge("lab", "down", "-v")
        logging.getLogger("nornir.core").warning("Task 'x' has not been run")
        assert "has not been run" in capsys.readouterr().err
    finally:
        root_logger.handlers, root_logger.level = handlers, level
        logging.captureWarnings(False)


def _complete(shell: str, line: str) -> set[str]:
    words = line.split(" ")
    environment = {
        **os.environ,
        "_QOSFORGE_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": line if shell == "bash" else "",
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    done = subprocess.run(QOSFORGE, env=environment, capture_output=True, text=True, check=True)
    if shell == "zsh":
        return set(re.findall(r'^(?:_arguments .*)?"([\w-]+)"', done.stdout, re.MULTILINE))
    return {line.partition("\t")[0] for line in done.stdout.splitlines()}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_and_options(shell: str) -> None:
    assert _complete(shell, "qosforge ru") == {"run", "runs"}
    assert _complete(shell, "qosforge lab ") == set(_below("lab"))
    assert {"--strict", "--set", "--sarif"} <= _complete(shell, "qosforge lint --s")


def _below(name: str) -> list[str]:
    from qosforge.cli.main import command_line  # noqa: PLC0415

    return list(command_line([name]).commands[name].commands)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_told_how_to_complete(shell: str) -> None:
    environment = {**os.environ, "_QOSFORGE_COMPLETE": f"source_{shell}"}
    done = subprocess.run(QOSFORGE, env=environment, capture_output=True, text=True, check=True)
    assert f"complete_{shell}" in done.stdout
