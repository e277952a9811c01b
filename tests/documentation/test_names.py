"""What the documentation names exists: commands, their options, and settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qosforge.cli.catalogue import ENTRIES
from qosforge.cli.main import every_command
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.resources import root
from qosforge.settings import Settings

ROOT = root()
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *ROOT.glob("docs/*.md"),
    *ROOT.glob("examples/**/*.md"),
    *ROOT.glob("clients/*/*.md"),
    *ROOT.glob("drivers/*.md"),
    *ROOT.glob("lab/*.md"),
]
READ_BY = ("app/**/*.py", "lab/**/*.py", "docker-compose*.yml", "examples/**/*.y*ml", "tests/**/*.py", "Makefile")
"""Files that read variables of the environment."""

_FENCED = re.compile(r"^( *)```[a-z]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_COMMAND = re.compile(r"(?:^\s*|[|&;(:/]\s*|exec \w+ )qosforge((?: +[^\s|&;)`]+)*)", re.MULTILINE)
_VARIABLE = re.compile(r"\bQOSFORGE_[A-Z][A-Z_]*[A-Z]\b")
_WORD = re.compile(r"[a-z][a-z-]*")
_OPTION = re.compile(r"--[a-z][a-z-]*")


def code(text: str) -> Iterator[str]:
    """What a page says in code: blocks without comments, with lines that go on joined, and spans."""
    for _, block in _FENCED.findall(text):
        joined = re.sub(r"\\\n\s*", " ", block)
        for line in joined.splitlines():
            yield line.partition(" #")[0].partition("$ ")[2] if line.startswith("$ ") else line.partition(" #")[0]
    yield from _SPAN.findall(_FENCED.sub("", text))


COMMANDS: Any = every_command()
FLAGS = {name for parameter in COMMANDS.params if getattr(parameter, "is_flag", False) for name in parameter.opts}


def options(command: Any) -> set[str]:
    return {
        option
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
        if option.startswith("--")
    } | {"--help"}


def wrong(words: list[str]) -> str | None:
    """Why a command line is none of the program's; ``None`` where it is, as far as it is written out."""
    command, known = COMMANDS, options(COMMANDS)
    rest = list(words)
    while rest:
        word = rest.pop(0)
        subcommands = getattr(command, "commands", {})
        if word in subcommands:
            command = subcommands[word]
            known |= options(command)
        elif option := _OPTION.match(word):
            if option[0] not in known:
                return f"{command.name} has no option {option[0]}"
            if command is COMMANDS and option[0] not in FLAGS and "=" not in word and rest:
                rest.pop(0)  # its value
        elif subcommands and _WORD.fullmatch(word):
            return f"{command.name} has no command {word}"
        elif subcommands:
            return None  # a placeholder, such as …
    return None


def lines(path: Path) -> list[list[str]]:
    """The command lines of a page, in words."""
    text = path.read_text(encoding="utf-8")
    return [found.split() for piece in code(text) for found in _COMMAND.findall(piece) if found.strip()]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_command_line_is_one(path: Path) -> None:
    faults = {" ".join(words): fault for words in lines(path) if (fault := wrong(words))}
    assert faults == {}


def test_command_lines_are_found() -> None:
    assert sum(len(lines(path)) for path in PAGES) > 200
    assert wrong(["webhook", "redeliver"]) is None
    assert wrong(["--server", "URL", "run", "p.yaml", "--wait"]) is None
    assert wrong(["compile", "policy.yaml", "--never"]) == "compile has no option --never"
    assert wrong(["web-hook", "add"]) == "qosforge has no command web-hook"


def settings() -> set[str]:
    """Names of variables that something reads."""
    named = {f"QOSFORGE_{name.upper()}" for name in Settings.model_fields}
    for pattern in READ_BY:
        for path in ROOT.glob(pattern):
            if "documentation" not in path.parts:
                named.update(_VARIABLE.findall(path.read_text(encoding="utf-8")))
    return named


def test_every_setting_that_is_documented_is_read() -> None:
    known = settings()
    assert "QOSFORGE_FOUR_EYES" in known
    unknown = {
        f"{path.name}: {name}"
        for path in PAGES
        for name in _VARIABLE.findall(path.read_text(encoding="utf-8"))
        if name.partition("__")[0] not in known and not any(one.startswith(f"{name}_") for one in known)
    }
    assert unknown == set()


def test_every_setting_is_documented() -> None:
    said = "".join(path.read_text(encoding="utf-8") for path in PAGES)
    named = {f"QOSFORGE_{name.upper()}" for name in Settings.model_fields}
    assert {name for name in named if name not in said} == set()


def test_commands_stand_in_the_groups_of_the_help() -> None:
    """Each command stands in the table of its group, and the groups stand in the help's order."""
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    parts = re.split(r"(?m)^### (.+)$", page.partition("\n## Commands\n")[2].partition("\n## ")[0])
    tables = dict(zip(parts[1::2], parts[2::2], strict=True))
    groups = list(dict.fromkeys(entry.group for entry in ENTRIES.values()))
    assert [name for name in tables if name in groups] == groups
    for entry in ENTRIES.values():
        named = {name for name in groups if re.search(rf"`qosforge {entry.name}(?: [^`]*)?`[^|]*\|", tables[name])}
        assert named == {entry.group}, entry.name


RECORDED = {"approve", "reject", "cancel", "pause", "resume", "retry", "rollback", "take-over", "wait"}
"""Commands that decide on runs: they touch the record, and no device."""
FOLLOWED = RECORDED - {"pause", "take-over", "wait"}
"""Those of them whose decision may let whoever carries out runs write to devices."""


def test_commands_that_decide_say_who_writes_to_devices() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| `qosforge ")]
    said = {name: cells[-2].strip() for cells in rows for name in re.findall(r"`qosforge ([\w-]+)", cells[1])}
    assert {name for name in RECORDED if "later" in said[name]} == FOLLOWED
    box = page.partition("```\n")[2].partition("```")[0]
    assert re.search(r"(?m)^qosforge rollback RUN\n#.*service.*\nqosforge recover$", box)


def test_both_words_of_the_mildest_severity_stand_where_severities_are_explained() -> None:
    """The pages have another one than the command line and REST."""
    for name in ("findings", "cli"):
        page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        assert any("info" in line and "note" in line for line in page.splitlines()), name


def test_the_network_of_the_page_is_one(tmp_path: Path) -> None:
    """What the page of networks shows as a whole file is one, and no other is needed beside it and the links."""
    page = (ROOT / "docs" / "devices.md").read_text(encoding="utf-8")
    text = next(block for _, block in _FENCED.findall(page) if block.startswith("# hosts.yaml\n"))
    (tmp_path / "hosts.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "links.yaml").write_text("links: []\n", encoding="utf-8")
    network = load_network(tmp_path)
    assert [device.name for device in network.devices] == ["sw1"]
    assert len(network.devices[0].interfaces) == 25


def test_the_policy_of_the_page_is_one(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "intent.md").read_text(encoding="utf-8")
    text = next(block for _, block in _FENCED.findall(page) if block.startswith("version: 1\n"))
    (tmp_path / "policy.yaml").write_text(text, encoding="utf-8")
    assert load_intent(tmp_path / "policy.yaml").intent.intent == "calls-and-files"
