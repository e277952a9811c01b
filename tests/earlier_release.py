"""An earlier state of this project as a program: its own code, platforms and devices, taken from the history."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

from tests.checkout import ROOT

BEFORE = "app/qosforge/database/migrations/versions/r0011_words.py"
"""The state before this migration came stands for the last release, until there is one.

It has revision 0010, and the words for the status of runs that 0011 replaces.
"""
_MAIN = "from qosforge.cli.entry import main; main()"


class EarlierRelease:
    """Commands of an earlier release, in processes of their own; they use today's packages of others."""

    def __init__(self, folder: Path, settings: dict[str, str]) -> None:
        """Take its files into ``folder``; ``settings`` are environment variables of its commands."""
        self.folder = folder
        self._settings = settings
        commit = _commit()
        assert commit is not None
        folder.mkdir(parents=True)
        tree = folder / "tree.tar"
        _git("archive", "--output", str(tree), commit)
        subprocess.run(["tar", "-xf", tree, "-C", folder], check=True)
        tree.unlink()
        self._name_plugins()

    def _name_plugins(self) -> None:
        """Its platforms and devices are found by the metadata of an installed distribution."""
        project = tomllib.loads((self.folder / "pyproject.toml").read_text())["project"]
        metadata = self.folder / "app" / f"qosforge-{project['version']}.dist-info"
        metadata.mkdir()
        named = f"Name: qosforge\nVersion: {project['version']}\n"
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\n{named}")
        lines = []
        for group, entries in project["entry-points"].items():
            lines += [f"[{group}]", *(f"{name} = {target}" for name, target in entries.items())]
        (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")

    def run(self, *words: object, **settings: str) -> str:
        """What a command prints; it has to end well."""
        path = os.pathsep.join(str(self.folder / name) for name in ("app", "drivers"))
        done = subprocess.run(
            [sys.executable, "-c", _MAIN, *map(str, words)],
            cwd=self.folder,
            env={**os.environ, **self._settings, **settings, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def has_earlier_release() -> bool:
    """Whether the repository's history goes back to it: that of a shallow clone or of an archive does not."""
    return _commit() is not None


@cache
def _commit() -> str | None:
    try:
        added = _git("log", "--diff-filter=A", "--format=%H", "--", BEFORE).split()
        return _git("rev-parse", "--verify", f"{added[-1]}^").strip() if added else None
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout
