"""The pipelines of ``examples/`` carried out as their platforms do: shell lines in order, in one job's environment.

Steps that are the platforms' own (``uses:`` and ``artifacts:``) are not carried out.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.checkout import PYTHONPATH

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / "examples" / "github" / "qosforge.yml"
GITLAB = ROOT / "examples" / "gitlab" / ".gitlab-ci.yml"

_EXPRESSION = re.compile(r"\$\{\{ (vars|secrets)\.(\w+) \}\}")
_VARIABLE = re.compile(r"\$(\w+)")


@dataclass(frozen=True)
class Step:
    """One shell script of a job; ``always``: also after a step that failed."""

    script: str
    always: bool = False


@dataclass(frozen=True)
class Job:
    """A job's scripts and the variables that it sets; values refer to those of the project."""

    steps: tuple[Step, ...]
    variables: Mapping[str, str]


@dataclass(frozen=True)
class Ended:
    """How a job ended."""

    good: bool
    printed: str


def read(path: Path) -> Any:
    """A pipeline's document."""
    return YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))


def github_job(name: str, project: Mapping[str, str]) -> Job:
    """A job of the GitHub workflow."""
    document = read(GITHUB)
    job = document["jobs"][name]
    steps = tuple(Step(s["run"], s.get("if") == "always()") for s in job["steps"] if "run" in s)
    variables = {**document["env"], **job.get("env", {})}
    return Job(steps, {k: _EXPRESSION.sub(lambda m: project[m[2]], v) for k, v in variables.items()})


def gitlab_job(name: str, project: Mapping[str, str]) -> Job:
    """A job of the GitLab pipeline: its lines share one shell."""
    document = read(GITLAB)
    job = document[name]
    variables = {**document["variables"], **job.get("variables", {})}
    steps = (Step("\n".join(job["script"])),)
    # A GitLab job sees the project's own variables by their names.
    return Job(steps, {**project, **{k: _VARIABLE.sub(lambda m: project[m[1]], v) for k, v in variables.items()}})


def carry_out(job: Job, folder: Path, more: Mapping[str, str]) -> Ended:
    """Run a job's scripts in ``folder``; ``more`` are the variables that the platform gives."""
    environment = {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": PYTHONPATH,
        "HOME": str(folder),
        **job.variables,
        **more,
    }
    good, printed = True, ""
    for step in job.steps:
        if not good and not step.always:
            continue
        command = ["bash", "-eo", "pipefail", "-c", step.script]
        ended = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=180, check=False
        )
        good = good and ended.returncode == 0
        printed += ended.stdout + ended.stderr
    return Ended(good, printed)
