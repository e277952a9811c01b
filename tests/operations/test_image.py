"""The image: what its file promises."""

from __future__ import annotations

import re
import tomllib

import pytest

from qosforge.system_packages import parts

from .containers import ROOT, dockerfile

INSTRUCTIONS = dockerfile(ROOT / "Dockerfile")
PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^ ;\\]+)", re.MULTILINE)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
WHEEL = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]


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
    assert len(installs) == 4
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
    assert {name.split("/")[0] for name in (*WHEEL["only-include"], *WHEEL["force-include"])} <= kept


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

    own = {f"qosforge-{name}" for name in ("browser", "napalm-drivers", "twin")}
    assert named(PROJECT["project"]["dependencies"]) - own <= pinned
    assert not pinned & {"pytest", "ruff", "mypy", "maturin", "schemathesis"}
