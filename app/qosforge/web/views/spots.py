"""Where in a form something stands, and which problems are told there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from qosforge.intent.policy_analysis import PolicyProblem
from qosforge.intent.yaml_source import Path_


@dataclass
class Spot:
    """A part of the form: the path of what it shows in the policy's own text, and the problems found there."""

    path: Path_
    problems: list[PolicyProblem] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The id of its element."""
        return element_id(self.path)


@dataclass
class Field(Spot):
    """An input: ``raw`` is what is written (``None``: nothing), ``resolved`` the same without parameters."""

    raw: Any = None
    resolved: Any = None

    @property
    def text(self) -> str:
        """What is written, as an input shows it."""
        return shown(self.raw)

    @property
    def refers(self) -> bool:
        """Whether a parameter stands here."""
        return isinstance(self.raw, str) and "${" in self.raw

    @property
    def stands_for(self) -> str:
        """The value with parameters put in."""
        return shown(self.resolved)

    @property
    def values(self) -> tuple[str, ...]:
        """The value as a list of texts."""
        return texts(self.resolved)

    @property
    def elaborate(self) -> bool:
        """Whether more is written than an input can show."""
        return isinstance(self.raw, dict) or (
            isinstance(self.raw, list) and any(isinstance(entry, dict | list) for entry in self.raw)
        )


class Spots:
    """The parts of one form, by their paths."""

    def __init__(self) -> None:
        self._by_path: dict[Path_, Spot] = {}

    def spot(self, path: Path_) -> Spot:
        """A part that takes problems."""
        return self._by_path.setdefault(path, Spot(path))

    def adopt(self, made: Spot) -> None:
        """Let a part that was made elsewhere take problems."""
        self._by_path[made.path] = made

    def field(self, path: Path_, raw: Any = None, resolved: Any = None) -> Field:
        """An input."""
        made = Field(path, raw=raw, resolved=raw if resolved is None else resolved)
        self._by_path[path] = made
        return made

    def put(self, problems: Iterable[PolicyProblem]) -> list[tuple[PolicyProblem, Spot | None]]:
        """Put each problem where it belongs: at the nearest part; ``None`` where no part is about it."""
        return [(problem, self._told(problem)) for problem in problems]

    def _told(self, problem: PolicyProblem) -> Spot | None:
        for length in range(len(problem.path) if problem.path is not None else 0, 0, -1):
            spot = self._by_path.get((problem.path or ())[:length])
            if spot is not None:
                spot.problems.append(problem)
                return spot
        return None


def element_id(path: Path_) -> str:
    """The id of the element about what stands at a path."""
    return "f-" + "-".join(quote(str(part), safe="") for part in path)


def at(data: Any, path: Path_) -> Any:
    """What stands at a path; ``None`` where nothing does."""
    for part in path:
        if isinstance(data, list) and isinstance(part, int) and 0 <= part < len(data):
            data = data[part]
        else:
            data = data.get(part) if isinstance(data, dict) else None
    return data


def shown(value: Any) -> str:
    """A value in one line: a list by commas."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return ", ".join(f"{key}: {shown(entry)}" for key, entry in value.items())
    return ", ".join(map(shown, value)) if isinstance(value, list) else str(value)


def texts(value: Any) -> tuple[str, ...]:
    """A value, or a list of them, as texts."""
    entries = value if isinstance(value, list) else [] if value is None else [value]
    return tuple(shown(entry) for entry in entries)
