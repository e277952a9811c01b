"""The container files as data: what a compose file says once variables are filled in, and a Dockerfile's lines."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
_VARIABLE = re.compile(r"\$\{(?P<name>[A-Z_0-9]+)(?:(?P<how>:[-?])(?P<word>[^}]*))?\}")


class Unset(Exception):
    """A variable that has to be set is not."""


def compose(path: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    """A compose file with its variables filled in and its ``extends`` followed, as far as ours go."""
    document = _filled(YAML(typ="safe").load(path), environment)
    for name, service in document["services"].items():
        if "extends" in service:
            other = compose(path.parent / service["extends"]["file"], environment)
            document["services"][name] = other["services"][service["extends"]["service"]]
    return document


def _filled(node: Any, environment: Mapping[str, str]) -> Any:
    if isinstance(node, dict):
        return {key: _filled(value, environment) for key, value in node.items()}
    if isinstance(node, list):
        return [_filled(value, environment) for value in node]
    if not isinstance(node, str):
        return node

    def value(found: re.Match[str]) -> str:
        held = environment.get(found["name"], "")
        if not held and found["how"] == ":?":
            raise Unset(f"{found['name']}: {found['word']}")
        return held or (found["word"] if found["how"] == ":-" else "")

    return _VARIABLE.sub(value, node)


def dockerfile(path: Path) -> list[tuple[str, list[str]]]:
    """Every instruction with its words, continued lines joined, comments left out."""
    lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("#")]
    text = "\n".join(lines).replace("\\\n", " ")
    instructions = []
    for line in text.splitlines():
        if line.strip():
            name, _, rest = line.strip().partition(" ")
            instructions.append((name, shlex.split(rest.replace("[", " ").replace("]", " ").replace('",', '" '))))
    return instructions
