"""Packages of the operating system that optional parts need: the list, and what of it is missing here."""

from __future__ import annotations

import ctypes
import glob
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from qosforge.resources import read_yaml

LIST = "qosforge/system_packages.yaml"
_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Probe:
    """How a package shows that it is installed; exactly one of the fields is set."""

    library: str = ""
    """File name of a shared library that can be loaded."""
    program: str = ""
    """Command that answers ``--version``."""
    files: str = ""
    """Pattern that at least one file matches."""

    def succeeds(self) -> bool:
        """Whether the package is installed and usable."""
        if self.library:
            return _loads(self.library)
        if self.program:
            return _answers(self.program)
        return bool(glob.glob(self.files))  # noqa: PTH207 (a pattern from the root, whose first parts may be any)


@dataclass(frozen=True, slots=True)
class Part:
    """An optional part of qosforge and the packages that it needs."""

    name: str
    title: str
    service: bool
    """Whether an installed service uses it; tests need every part."""
    packages: Mapping[str, Probe]

    def missing(self) -> list[str]:
        """Its packages that are not installed, in the list's order."""
        return [name for name, probe in self.packages.items() if not probe.succeeds()]


@cache
def parts() -> Mapping[str, Part]:
    """Every part by its name."""
    return {
        name: Part(
            name,
            entry["title"],
            entry["service"],
            {package: Probe(**probe) for package, probe in entry["packages"].items()},
        )
        for name, entry in read_yaml(LIST).items()
    }


def install_command(packages: Iterable[str]) -> str:
    """The command by which Debian installs packages."""
    return f"apt-get install --no-install-recommends {' '.join(packages)}"


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _answers(program: str) -> bool:
    path = shutil.which(program)
    if path is None:
        return False
    try:
        done = subprocess.run(  # noqa: S603 (found on the user's own path)
            [path, "--version"], capture_output=True, check=False, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
