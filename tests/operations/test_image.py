"""The image: what its file promises, and that a wheel has everything the program reads."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import venv
from fnmatch import fnmatch
from pathlib import Path

import pytest

from qosforge.system_packages import parts

from .containers import ROOT, dockerfile

INSTRUCTIONS = dockerfile(ROOT / "Dockerfile")
PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^ ;\\]+)", re.MULTILINE)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
DATA = [name for names in PROJECT["tool"]["setuptools"]["data-files"].values() for name in names]


def words(name: str) -> list[list[str]]:
    return [rest for instruction, rest in INSTRUCTIONS if instruction == name]


def last_stage() -> list[tuple[str, list[str]]]:
    start = max(number for number, (name, _) in enumerate(INSTRUCTIONS) if name == "FROM")
    return INSTRUCTIONS[start:]


def test_bases_are_official_and_pinned() -> None:
    for base, *_ in words("FROM"):
        name, _, tag = base.partition(":")
        assert name in ("python", "rust")
        assert re.match(r"\d+\.\d+\.\d+-slim-bookworm@sha256:[0-9a-f]{64}$", tag)


def test_it_runs_as_nobody_in_particular_and_says_how_it_is() -> None:
    stage = dict(last_stage())
    assert stage["USER"] == ["10001:10001"]
    assert stage["STOPSIGNAL"] == ["SIGTERM"]
    assert stage["HEALTHCHECK"][-2] == "-c"
    assert stage["ENTRYPOINT"] == ["qosforge"]
    assert all("QOSFORGE_VAR_DIR=/var/lib/qosforge" in " ".join(rest) for rest in [stage["ENV"]])


def test_it_has_what_optional_parts_of_a_service_need() -> None:
    installed = next(" ".join(rest) for name, rest in last_stage() if name == "RUN").split()
    for part in parts().values():
        for package in part.packages if part.service else ():
            # The client programs are those of one release of the server.
            assert any(re.fullmatch(rf"{re.escape(package)}(-\d+)?", word) for word in installed), package


def test_nothing_is_installed_without_its_hash() -> None:
    commands = [part for rest in words("RUN") for part in " ".join(rest).split(" && ")]
    installs = [command for command in commands if "pip install" in command]
    assert len(installs) == 3
    for command in installs:
        assert "--require-hashes" in command or "--no-index --no-deps" in command
    assert not any("http" in command for command in commands)


def test_what_is_copied_is_there_and_not_ignored() -> None:
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    kept = {rule[1:] for rule in rules if rule.startswith("!")}
    assert rules[0] == "*"
    for name in kept:
        assert (ROOT / name).exists()
    for sources in words("COPY"):
        for source in sources[:-1]:
            if sources[0].startswith("--from=") or source == ".":
                continue
            assert source in kept
    assert all(pattern.split("/")[0] in kept for pattern in DATA)


@pytest.mark.needs("git")
def test_every_data_file_is_in_the_wheel() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "templates", "policies", "inventories"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    left_out = [name for name in tracked if not any(fnmatch(name, pattern) for pattern in DATA)]
    assert [name for name in left_out if Path(name).suffix != ".md"] == []


@pytest.mark.parametrize("name", ["runtime", "build"])
def test_the_image_has_the_versions_that_are_tested(name: str) -> None:
    tested = set(PIN.findall((ROOT / "requirements.lock").read_text()))
    text = (ROOT / f"requirements-{name}.lock").read_text()
    pins = PIN.findall(text)
    assert pins
    assert set(pins) <= tested
    assert text.count("==") <= text.count("--hash=sha256:")
    assert "://" not in text


def test_every_dependency_is_in_the_runtime_lock_and_no_tool_is() -> None:
    pinned = {name for name, _ in PIN.findall((ROOT / "requirements-runtime.lock").read_text())}

    def named(entries: list[str]) -> set[str]:
        return {re.split(r"[\[<>=!~]", entry)[0].replace(".", "-") for entry in entries}

    assert named(PROJECT["project"]["dependencies"]) <= pinned
    assert not pinned & {"pytest", "ruff", "mypy", "maturin", "schemathesis"}


def process(*command: object, folder: Path = ROOT, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [str(word) for word in command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.needs("git")
def test_a_wheel_runs_outside_the_checkout(tmp_path: Path) -> None:
    """As the image is made: a wheel of the working tree, in an environment of its own, started from elsewhere."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir"]
    source, wheels, env = (tmp_path / name for name in ("source", "wheels", "env"))
    source.mkdir()
    tree = process("git", "stash", "create").strip() or "HEAD"  # the working tree as Git would commit it now
    process("git", "archive", "--output", tmp_path / "tree.tar", tree)
    process("tar", "-xf", tmp_path / "tree.tar", "-C", source)
    process(*pip, "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", wheels, source)
    venv.create(env, symlinks=True)
    process(*pip, "--python", env / "bin" / "python", "install", "--no-index", "--no-deps", *wheels.iterdir())
    # What the wheel needs is borrowed from this environment, without its editable qosforge.
    site = next((env / "lib").glob("python3*")) / "site-packages"
    (site / "borrowed.pth").write_text(f"{Path(pytest.__file__).parents[1]}\n")
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment["QOSFORGE_VAR_DIR"] = str(tmp_path / "var")
    command, data = env / "bin" / "qosforge", env / "share" / "qosforge"
    policy = data / "policies" / "campus-collaboration.yaml"
    assert "policy-map" in process(command, "compile", policy, folder=tmp_path, environment=environment)
    # The emulated devices are a package of their own, which the image is without.
    assert not list(site.glob("qoslab*"))
    up = [command, "lab", "up", "--network", data / "inventories" / "campus"]
    without = subprocess.run(up, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert without.returncode == 3
    assert "pip install ./lab" in without.stderr
    named = {path.relative_to(ROOT).as_posix() for pattern in DATA for path in ROOT.glob(pattern)}
    assert {path.relative_to(data).as_posix() for path in data.rglob("*") if path.is_file()} == named
