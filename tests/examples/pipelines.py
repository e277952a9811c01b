"""The pipelines of ``examples/`` carried out as their platforms do: shell lines in order, in one job's environment.

Steps that are the platforms' own (``uses:`` and ``artifacts:``) are not carried out.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.checkout import PYTHONPATH

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
GITHUB = EXAMPLES / "github" / "qosforge.yml"
ACTION = EXAMPLES / "github" / "action" / "action.yml"
GITLAB = EXAMPLES / "gitlab" / ".gitlab-ci.yml"
COMPONENT = EXAMPLES / "gitlab" / "templates" / "qosforge.yml"
_YAML = YAML(typ="safe", pure=True)
LOCAL_ACTION = "./.github/actions/qosforge"

_EXPRESSION = re.compile(r"\$\{\{ (vars|secrets|env|inputs)\.([\w-]+) \}\}")
_INPUT = re.compile(r"\$\[\[ inputs\.([\w-]+) \]\]")
_VARIABLE = re.compile(r"\$(\w+)")
_DOES = re.compile(r"(always\(\) && )?inputs\.do == '(\w+)'")
_DOES_NOT = re.compile(r"!contains\(fromJSON\('(\[[^']*\])'\), inputs\.do\)")


@dataclass(frozen=True)
class Step:
    """One shell script of a job with its own variables; ``always``: also after a step that failed."""

    script: str
    always: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)


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
    return _YAML.load(path.read_text(encoding="utf-8"))


def github_job(name: str, project: Mapping[str, str]) -> Job:
    """A job of the GitHub workflow, with the steps of the action that it uses."""
    document = read(GITHUB)
    variables = dict(document["env"])
    (step,) = (each for each in document["jobs"][name]["steps"] if each["uses"] == LOCAL_ACTION)
    given = {key: _put_in(value, {**project, **variables}) for key, value in step["with"].items()}
    return Job(action_steps(given), variables)


def action_steps(given: Mapping[str, str]) -> tuple[Step, ...]:
    """The shell steps of the action that these inputs choose."""
    action = read(ACTION)
    unknown = given.keys() - action["inputs"].keys()
    missing = {name for name, one in action["inputs"].items() if one.get("required")} - given.keys()
    assert not unknown, unknown
    assert not missing, missing
    inputs = {name: given.get(name, one.get("default", "")) for name, one in action["inputs"].items()}
    return tuple(
        Step(
            step["run"],
            step["if"].startswith("always()"),
            {key: _put_in(value, inputs) for key, value in step.get("env", {}).items()},
        )
        for step in action["runs"]["steps"]
        if "run" in step and _is_chosen(step["if"], inputs["do"])
    )


def _is_chosen(condition: str, do: str) -> bool:
    if (found := _DOES_NOT.fullmatch(condition)) is not None:
        return do not in json.loads(found[1])
    found = _DOES.fullmatch(condition)
    assert found is not None, f"a condition that this cannot read: {condition}"
    return found[2] == do


def _put_in(text: str, values: Mapping[str, str]) -> str:
    return _EXPRESSION.sub(lambda found: values[found[2]], text)


def gitlab_job(name: str, project: Mapping[str, str], **more: str) -> Job:
    """A job of the component that the GitLab pipeline includes, with ``more`` inputs: its lines share one shell."""
    (include,) = read(GITLAB)["include"]
    assert EXAMPLES / "gitlab" / include["local"] == COMPONENT
    job = component(**include["inputs"], **more)[f"qosforge:{name}"]
    steps = (Step("\n".join(job["script"])),)
    # A GitLab job sees the project's own variables by their names.
    variables = {k: _VARIABLE.sub(lambda m: project[m[1]], v) for k, v in job["variables"].items()}
    return Job(steps, {**project, **variables})


def component(**given: str) -> Any:
    """The jobs of the GitLab component with its inputs put in."""
    head, _, body = COMPONENT.read_text(encoding="utf-8").partition("\n---\n")
    known = _YAML.load(head)["spec"]["inputs"]
    assert not given.keys() - known.keys(), given
    inputs = {name: given[name] if name in given else one["default"] for name, one in known.items()}
    return _YAML.load(_INPUT.sub(lambda found: inputs[found[1]], body))


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
            command,
            cwd=folder,
            env={**environment, **step.variables},
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        good = good and ended.returncode == 0
        printed += ended.stdout + ended.stderr
    return Ended(good, printed)
