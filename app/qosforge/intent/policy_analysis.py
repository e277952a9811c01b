"""Analyse a policy's text for a form: its data and problems, whether it is valid or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from qosforge.errors import InputError, QosforgeError
from qosforge.intent.includes import TextFiles
from qosforge.intent.loader import LoadedIntent, assemble
from qosforge.intent.policy_source import PolicySource, load_policy
from qosforge.intent.share_totals import LevelTotals, total_shares
from qosforge.intent.yaml_source import Path_, Position, YamlDocument, dotted, parse_document


@dataclass(frozen=True)
class PolicyProblem:
    """What is wrong, and where: ``path`` is in the policy's own data, ``None`` where it stands elsewhere."""

    path: Path_ | None
    message: str
    hint: str
    line: int | None
    column: int | None
    file: str | None


@dataclass(frozen=True)
class PolicyAnalysis:
    """A policy's text as far as it can be understood.

    ``data`` is what its own text says (``None``: it is no YAML), ``merged`` the same with includes and parameters
    put in (``None``: they could not be), ``loaded`` the intent where nothing is wrong.
    """

    file: str
    data: Any | None
    loaded: LoadedIntent | None
    problems: tuple[PolicyProblem, ...]
    merged: Any | None
    _document: YamlDocument | None

    @cached_property
    def share_totals(self) -> tuple[LevelTotals, ...]:
        """What the classes of every level ask for together, those that are sound."""
        return () if self.merged is None else tuple(total_shares(self.merged))

    def origin(self, path: Path_) -> tuple[str, Path_ | None]:
        """The file that a part of ``merged`` stands in, and its path there where that is the policy's own text."""
        if self._document is None:
            return self.file, None
        home, own = self._document.home(path)
        return home.file, own if home.file == self.file else None


def analyse_policy(source: PolicySource) -> PolicyAnalysis:
    """Read a policy that may be wrong in any way."""
    loaded: LoadedIntent | None = None
    problems: list[QosforgeError] = []
    try:
        loaded = load_policy(source)
    except InputError as error:
        problems = error.problems()
    own = _own(source)
    document = loaded.document if loaded else _merged(own, source) if own else None
    paths = _paths(own) if own else {}
    return PolicyAnalysis(
        file=source.file,
        data=own.data if own else None,
        loaded=loaded,
        problems=tuple(_problem(problem, source.file, paths) for problem in problems),
        merged=document.data if document else None,
        _document=document,
    )


def _own(source: PolicySource) -> YamlDocument | None:
    try:
        return parse_document(source.text, source.file)
    except InputError:
        return None


def _merged(own: YamlDocument, source: PolicySource) -> YamlDocument | None:
    try:
        return assemble(own, TextFiles(source.texts()), source.settings()).document
    except InputError:
        return None


def _paths(own: YamlDocument) -> Mapping[Position, list[Path_]]:
    """The paths of values and keys by where they stand, outer ones first."""
    paths: dict[Position, list[Path_]] = {}
    for marks in (own.marks, own.keys):
        for path, position in marks.items():
            paths.setdefault(position, []).append(path)
    return {position: sorted(set(found), key=len) for position, found in paths.items()}


def _problem(problem: QosforgeError, file: str, paths: Mapping[Position, list[Path_]]) -> PolicyProblem:
    where = problem.where
    own = where.file == file and where.line is not None and where.column is not None
    found = paths.get((where.line or 0, where.column or 0), []) if own else []
    # Several values begin at one place: it is the one that the problem names, or the nearest around it.
    named = [path for path in found if _leads_to(dotted(path), where.path or "")]
    path = named[-1] if named else found[0] if found else None
    return PolicyProblem(path, problem.message, problem.hint, where.line, where.column, where.file)


def _leads_to(outer: str, inner: str) -> bool:
    return inner == outer or (inner.startswith(outer) and (not outer or inner[len(outer)] in ".["))
