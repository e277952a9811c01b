"""The fields and other parts of a form by their paths in the policy, and the problems shown at each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from qosforge.intent.policy_analysis import PolicyProblem
from qosforge.intent.yaml_source import Path_

_PARAMETER = re.compile(r"\$\{([^}]*)\}")


@dataclass
class FormPart:
    """A part of the form: its path in the policy's own text, and the problems found there."""

    path: Path_
    problems: list[PolicyProblem] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The id of its HTML element."""
        return element_id(self.path)

    def is_in(self, other: FormPart) -> bool:
        """Whether it is the other one, or a part of it."""
        return self.path[: len(other.path)] == other.path


@dataclass
class FormField(FormPart):
    """An input: ``raw`` is the written value (``None``: absent), ``resolved`` that with parameters resolved."""

    raw: Any = None
    resolved: Any = None

    @property
    def text(self) -> str:
        """The written value, as an input shows it."""
        return format_value(self.raw)

    @property
    def refers(self) -> bool:
        """Whether the value refers to a parameter."""
        return isinstance(self.raw, str) and "${" in self.raw

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters that the value refers to."""
        return tuple(_PARAMETER.findall(self.raw)) if isinstance(self.raw, str) else ()

    @property
    def stands_for(self) -> str:
        """The value with parameters resolved."""
        return format_value(self.resolved)

    @property
    def values(self) -> tuple[str, ...]:
        """The value as a list of texts."""
        return format_values(self.resolved)

    @property
    def elaborate(self) -> bool:
        """Whether the value is too complex for an input."""
        return isinstance(self.raw, dict) or (
            isinstance(self.raw, list) and any(isinstance(entry, dict | list) for entry in self.raw)
        )


class FormParts:
    """The parts of one form, by their paths."""

    def __init__(self) -> None:
        self._by_path: dict[Path_, FormPart] = {}

    def part(self, path: Path_) -> FormPart:
        """The part of a path, which problems can be attached to; made where there is none."""
        return self._by_path.setdefault(path, FormPart(path))

    def register(self, part: FormPart) -> None:
        """Add a part that was made elsewhere."""
        self._by_path[part.path] = part

    def field(self, path: Path_, raw: Any = None, resolved: Any = None) -> FormField:
        """Add an input."""
        added = FormField(path, raw=raw, resolved=raw if resolved is None else resolved)
        self._by_path[path] = added
        return added

    def attach(self, problems: Iterable[PolicyProblem]) -> list[tuple[PolicyProblem, FormPart | None]]:
        """Attach each problem to the nearest part of its path; ``None`` where there is none."""
        return [(problem, self._attach(problem)) for problem in problems]

    def _attach(self, problem: PolicyProblem) -> FormPart | None:
        for length in range(len(problem.path) if problem.path is not None else 0, 0, -1):
            part = self._by_path.get((problem.path or ())[:length])
            if part is not None:
                part.problems.append(problem)
                return part
        return None


def element_id(path: Path_) -> str:
    """The id of the HTML element for a path."""
    return "f-" + "-".join(quote(str(part), safe="") for part in path)


def at(data: Any, path: Path_) -> Any:
    """The value at a path; ``None`` where there is none."""
    for part in path:
        if isinstance(data, list) and isinstance(part, int) and 0 <= part < len(data):
            data = data[part]
        else:
            data = data.get(part) if isinstance(data, dict) else None
    return data


def format_value(value: Any) -> str:
    """A value in one line: a list by commas."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return ", ".join(f"{key}: {format_value(entry)}" for key, entry in value.items())
    return ", ".join(map(format_value, value)) if isinstance(value, list) else str(value)


def format_values(value: Any) -> tuple[str, ...]:
    """A value, or a list of them, as texts."""
    entries = value if isinstance(value, list) else [] if value is None else [value]
    return tuple(format_value(entry) for entry in entries)
