"""Odd but plausible usage: one clear message, the documented exit code, no traceback; JSON where asked for."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from qosforge.resources import root

from .conftest import Command

POLICY = root() / "policies" / "campus-collaboration.yaml"
CAMPUS = root() / "inventories" / "campus"

CASES: dict[str, tuple[list[object], int, str]] = {
    "no such command": (["nosuch"], 2, "No such command 'nosuch'"),
    "no such option": (["lint", POLICY, "--nosuch"], 2, "No such option: --nosuch"),
    "no policy": (["compile"], 2, "Missing argument 'POLICY'"),
    "no such network": (["lint", POLICY, "--network", "{tmp}/none"], 2, "{tmp}/none: no such network"),
    "no such device to compile": (["compile", POLICY, "--device", "r9"], 2, "campus has no device 'r9'"),
    "no such device to compare": (["diff", POLICY, "-d", "r1", "-d", "r9"], 2, "campus has no device 'r9'"),
    "output into a file": (
        ["compile", POLICY, "--output", "{tmp}/file"],
        2,
        "{tmp}/file/r1.cfg: cannot be written",
    ),
    "a seed below zero": (["measure", POLICY, "--seed", "-1"], 2, "Invalid value for '--seed'"),
    "a seed of 65 bits": (["run", POLICY, "--seed", str(2**64)], 2, "Invalid value for '--seed'"),
    "no runs at all": (["runs", "--limit", "0"], 2, "Invalid value for '--limit'"),
    "no such run": (["show", "abc"], 2, "there is no run 'abc'"),
    "a lab whose clock stands": (["lab", "up", "--clock-scale", "0"], 2, "Invalid value for '--clock-scale'"),
    "nothing to measure": (["run", root() / "policies" / "itesm-paper.yaml"], 2, "verify: no check judges a class"),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_reported_once_and_as_json(qosforge: Command, tmp_path: Path, case: str) -> None:
    given, code, says = CASES[case]
    (tmp_path / "file").touch()
    arguments = [str(argument).format(tmp=tmp_path) for argument in given]
    says = says.format(tmp=tmp_path)

    told = qosforge(*arguments)
    assert (told.code, told.stdout) == (code, "")
    assert sum(says in line for line in told.stderr.splitlines() if line.startswith("error: ")) == 1

    as_json = qosforge(*arguments, "--json")
    assert (as_json.code, as_json.stderr) == (told.code, told.stderr)
    problems = json.loads(as_json.stdout)["errors"]
    assert len(problems) == told.stderr.count("error: ")
    assert all(problem["message"] in told.stderr for problem in problems)


def test_what_all_devices_lack_is_told_once_and_of_each_as_json(qosforge: Command) -> None:
    told = qosforge("measure", POLICY)
    assert (told.code, told.stdout, told.stderr.count("error: ")) == (3, "", 1)
    problems = json.loads(qosforge("measure", POLICY, "--json").stdout)["errors"]
    devices = [problem["device"] for problem in problems]
    assert len(devices) > 7
    assert f"error: {', '.join(devices)}: no address is known" in " ".join(told.stderr.split())


@pytest.mark.parametrize(
    ("given", "told_by"),
    [
        (["nosuch"], "qosforge --help"),
        (["lab", "nosuch"], "qosforge lab --help"),
        (["lab", "up", "--nosuch"], "qosforge lab up --help"),
        (["device", "add", "sw1"], "qosforge device add --help"),
    ],
)
def test_a_wrong_word_is_referred_to_the_help_of_its_command(
    qosforge: Command, given: list[str], told_by: str
) -> None:
    ended = qosforge(*given)
    assert ended.code == 2
    assert f"see `{told_by}`" in ended.stderr
    assert qosforge(*told_by.split()[1:]).code == 0


HINTS: dict[str, tuple[list[object], str, str]] = {
    "a policy with its ending": (
        ["policy", "new", "a.yaml"],
        "NAME: 'a.yaml' ends with '.yaml'",
        "leave that out: the file is a.yaml anyway",
    ),
    "a hidden policy": (["policy", "new", ".a"], "NAME: '.a' begins with '.'", "begin with a letter"),
    "an option as a policy": (["policy", "new", "--", "-x"], "NAME: '-x' begins with '-'", "begin with a letter"),
    "a policy elsewhere": (["policy", "new", "a/b"], "NAME: 'a/b' has '/'", "letters, digits, '-' and '_'"),
    "a policy without a name": (["policy", "new", ""], "NAME: nothing is written here", "begin with a letter"),
    "no configuration": (["import", "{tmp}/none"], "{tmp}/none: cannot be read: No such file", "check the path"),
    "a folder of configurations": (
        ["import", "{tmp}"],
        "{tmp}: is a folder",
        "name its files, one a device; `qosforge network import FOLDER` takes a whole one",
    ),
    "a row of a check": (["doctor", "disk"], "there is no check 'disk'", "its row is of the check 'run directory'"),
    "a network's row": (["doctor", "network campus"], "there is no check", "its row is of the check 'networks'"),
    "a part's row": (["doctor", "pdf"], "there is no check 'pdf'", "its row is of the check 'optional parts'"),
    "no role": (["user", "add", "x", "--role", "god"], "for '--role': 'god' is not one of", "user add --help"),
    "a file as a folder": (
        ["compile", POLICY, "-d", "r1", "-o", "/dev/full"],
        "/dev/full/r1.cfg: cannot be written: /dev/full is a file",
        "name a folder",
    ),
    "a date as a name": (
        ["lint", "{tmp}/date.yaml"],
        "intent: 2020-01-01 is a date, not text",
        'write it in quotes: "2020-01-01"',
    ),
}


@pytest.mark.parametrize("case", HINTS)
def test_what_is_wrong_is_said_with_what_helps(qosforge: Command, tmp_path: Path, case: str) -> None:
    given, says, hint = HINTS[case]
    (tmp_path / "date.yaml").write_text("version: 1\nintent: 2020-01-01\nclasses: []\napply: []\n")
    ended = qosforge(*(str(argument).format(tmp=tmp_path) for argument in given))
    told = " ".join(ended.stderr.split())
    assert ended.code == 2
    assert says.format(tmp=tmp_path) in told
    assert hint in told


def test_a_bare_command_prints_its_help(qosforge: Command) -> None:
    ended = qosforge()
    assert ended.code == 2
    assert "compile" in ended.stdout
    assert ended.stderr == ""


def test_a_network_without_traffic_compiles(qosforge: Command, tmp_path: Path) -> None:
    network = shutil.copytree(CAMPUS, tmp_path / "campus")
    (network / "traffic.yaml").unlink()
    assert qosforge("compile", POLICY, "-n", network, "-d", "r1").code == 0
    judged = qosforge("validate", POLICY, "-n", network)
    assert judged.code == 0, judged.text
    assert "verify-no-traffic" in judged.stdout
    assert qosforge("validate", POLICY, "-n", network, "--strict").code == 1
    begun = qosforge("run", POLICY, "-n", network)
    assert begun.code == 2
    assert "compile, validate, diff and push" in begun.stderr
    assert "qosforge network traffic" in begun.stderr


def test_only_the_chosen_devices_are_written(qosforge: Command, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    assert qosforge("compile", POLICY, "-d", "r1", "-d", "e300", "-o", folder).code == 0
    assert sorted(path.name for path in folder.iterdir()) == ["e300.cfg", "r1.cfg"]
    assert "policy-map" in (folder / "r1.cfg").read_text()


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("QOSFORGE_DATABASE_URL", "mysql://u:hidden@127.0.0.1/x", "the run store cannot live in mysql"),
        ("QOSFORGE_DATABASE_URL", "foo", "the database URL cannot be read"),
        ("QOSFORGE_BATFISH_PORT", "foo", "QOSFORGE_BATFISH_PORT"),
        ("QOSFORGE_VAR_DIR", "/proc/x", "/proc/x: cannot create the run directory"),
    ],
)
def test_settings_that_cannot_be_used(
    qosforge: Command, monkeypatch: pytest.MonkeyPatch, name: str, value: str, says: str
) -> None:
    monkeypatch.setenv(name, value)
    ended = qosforge("runs", "--json")
    assert ended.code == 2
    assert f"error: {says}" in ended.stderr
    assert "hidden" not in ended.stdout + ended.stderr
    assert len(json.loads(ended.stdout)["errors"]) == 1


@pytest.mark.parametrize("text", ["{", "[]", "{}"])
def test_a_lab_with_damaged_credentials_does_not_start(qosforge: Command, tmp_path: Path, text: str) -> None:
    path = tmp_path / "var" / "lab" / "campus" / "credentials.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    ended = qosforge("lab", "up")
    assert ended.code == 2
    assert f"error: {path}: does not hold the lab's credentials" in ended.stderr
