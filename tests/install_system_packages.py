"""``python -m tests.install_system_packages``: what tests need of the operating system, where it may be installed.

Asks nothing and never fails: tests whose packages are missing are skipped, with the command that installs them.
With names of parts it is about these alone; ``--list`` names every package instead.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable

from qosforge.system_packages import install_command, parts

# Offline, so that a server that a package brings is not started: tests start their own.
_UNATTENDED = ("env", "DEBIAN_FRONTEND=noninteractive", "SYSTEMD_OFFLINE=1")
_SECONDS = 1200
_WAIT_FOR_OTHERS = "DPkg::Lock::Timeout=300"


def main() -> None:
    """Install what is missing; one line says so, or says why it cannot be and what to do."""
    if sys.argv[1:] == ["--list"]:
        print("\n".join(dict.fromkeys(package for part in parts().values() for package in part.packages)))
        return
    names = sys.argv[1:] or list(parts())
    missing = _missing(names)
    if not missing:
        return
    command = _apt_get()
    if command is None:
        _tell_left(missing, "installing takes apt-get, and root or sudo without a password")
        return
    print(f"installing system packages for tests: {', '.join(missing)}", flush=True)
    failure = _failure([*command, "update"])
    if failure is None:
        failure = _failure([*command, "install", "--yes", "--no-install-recommends", *missing])
    left = _missing(names)
    if left:
        _tell_left(left, failure or "installed, they do not work")


def _tell_left(packages: list[str], reason: str) -> None:
    print(f"skipping tests that need {', '.join(packages)}: {reason} (to install: {install_command(packages)})")


def _missing(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(package for name in names for package in parts()[name].missing()))


def _apt_get() -> list[str] | None:
    """The command as this user may run it without being asked for a password; ``None`` where there is none."""
    if shutil.which("apt-get") is None:
        return None
    tail = [*_UNATTENDED, "apt-get", "--quiet", "--option", _WAIT_FOR_OTHERS]
    if os.geteuid() == 0:
        return tail
    head = ["sudo", "-n"]
    if shutil.which("sudo") is None or _failure([*head, *_UNATTENDED, "true"]) is not None:
        return None
    return [*head, *tail]


def _failure(command: list[str]) -> str | None:
    """What a command complained about last, where it failed."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    return (done.stdout.strip().splitlines() or [f"exit code {done.returncode}"])[-1]


if __name__ == "__main__":
    main()
