"""The system's packages: the list, what installs them, and what a test run says where they are missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import astuple
from pathlib import Path

import pytest

from qosforge.system_packages import Part, Probe, parts
from tests import install_system_packages

ROOT = Path(__file__).parents[1]
PACKAGE = "some-package"


def test_every_package_of_the_list_has_one_probe() -> None:
    probes = [probe for part in parts().values() for probe in part.packages.values()]
    assert all(sum(map(bool, astuple(probe))) == 1 for probe in probes)
    listed = {package for part in parts().values() for package in part.packages}
    assert {"libpango-1.0-0", "libharfbuzz-subset0", "chromium", "postgresql"} <= listed


def test_a_probe_tells_what_can_be_used(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\nexit 127\n")  # as a program whose libraries are missing
    broken.chmod(0o755)
    good = (Probe(library="libc.so.6"), Probe(program=sys.executable), Probe(files="/bin/s?"))
    bad = (Probe(library="libno-such.so.1"), Probe(program="no-such-program"), Probe(files="/no/such/*"))
    assert [probe.succeeds() for probe in (*good, *bad, Probe(program=str(broken)))] == [True] * 3 + [False] * 4


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that lacks one package; returns the folder with its programs."""
    part = Part("some", "some tests", False, {PACKAGE: Probe(files=str(tmp_path / "installed"))})
    monkeypatch.setattr(install_system_packages, "parts", lambda: {"some": part})
    monkeypatch.setattr(sys, "argv", ["install_system_packages"])
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("sh", "env", "touch", "true"):
        (programs / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(programs))
    return programs


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def apt_get(folder: Path, on_install: str) -> None:
    program(folder, "apt-get", f'case "$*" in *install*{PACKAGE}*) {on_install};; esac')


def printed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    install_system_packages.main()
    return capsys.readouterr().out.splitlines()


def account(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: number)


def test_root_installs_once_and_says_so(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    account(monkeypatch, 0)
    apt_get(machine, f"touch {machine.parent / 'installed'}")
    assert printed(capsys) == [f"installing system packages for tests: {PACKAGE}"]
    assert printed(capsys) == []


def test_a_user_with_sudo_installs_without_being_asked(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    account(monkeypatch, 1000)
    apt_get(machine, f"touch {machine.parent / 'installed'}")
    program(machine, "sudo", '[ "$1" = -n ] || exit 1\nshift\nexec "$@"')
    assert len(printed(capsys)) == 1
    assert (machine.parent / "installed").exists()


@pytest.mark.parametrize("sudo", [None, "echo a password is required; exit 1"])
def test_a_user_without_the_right_is_told_the_command(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], sudo: str | None
) -> None:
    account(monkeypatch, 1000)
    apt_get(machine, f"touch {machine.parent / 'installed'}")
    if sudo is not None:
        program(machine, "sudo", sudo)
    (line,) = printed(capsys)
    assert line.startswith(f"skipping tests that need {PACKAGE}")
    assert f"apt-get install --no-install-recommends {PACKAGE}" in line
    assert not (machine.parent / "installed").exists()


@pytest.mark.parametrize(
    ("on_install", "reason"),
    [("echo E: no network; exit 100", "E: no network"), ("true", "installed, they do not work")],
)
def test_what_cannot_be_installed_is_told_and_ends_nothing(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], on_install: str, reason: str
) -> None:
    account(monkeypatch, 0)
    apt_get(machine, on_install)
    _, line = printed(capsys)
    assert line.startswith(f"skipping tests that need {PACKAGE}: {reason}")


def pytest_run(*arguments: str, **settings: str) -> tuple[int, list[str]]:
    """Exit code and lines of a test run of its own."""
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "QOSFORGE_BATFISH_HOST")}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=environment | settings, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout.splitlines()


def test_the_last_lines_say_what_was_not_run() -> None:
    # In a process of its own, as `make test` runs them.
    _, lines = pytest_run("-n", "1", "tests/batfish/test_live_failures.py")
    assert lines[-1].startswith("not run: ")
    assert "against Batfish: QOSFORGE_BATFISH_HOST is not set (to run them: docker compose" in lines[-1]


def test_a_test_without_its_package_is_skipped_by_name_and_fails_in_ci() -> None:
    name = "tests/web/test_browser_first_page.py"
    code, lines = pytest_run(name, PATH="/nowhere")
    assert code == 0
    assert any(line.startswith(f"SKIPPED {name}::test_") and "missing chromium" in line for line in lines)
    assert lines[-1].startswith("not run: 2 tests: tests of the pages in a browser: missing chromium")
    assert "apt-get install --no-install-recommends chromium" in lines[-1]
    # Of a file that imports little.
    code, lines = pytest_run("tests/lab/test_virtual_time.py", "-k", "guest", PATH="/nowhere", CI="true")
    assert code == 1
    assert any("missing qemu-system-x86" in line for line in lines)
