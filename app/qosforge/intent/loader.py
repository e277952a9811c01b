"""Load an intent; every problem found is reported, each with its file, line and column."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from qosforge.errors import InputError, InputErrors, Place
from qosforge.findings import Finding
from qosforge.intent.applications import Catalogue, extend_catalogue, load_catalogue
from qosforge.intent.conflicts import find_conflicts
from qosforge.intent.includes import FolderFiles, IncludeSource, Sheets, TextFiles, WrittenIntent
from qosforge.intent.models import RESERVED_CLASS, Intent, TrafficClass
from qosforge.intent.parameters import Parameter, Resolution, read_settings, spot, unknown_settings
from qosforge.intent.problems import as_problem
from qosforge.intent.yaml_source import Path_, YamlDocument, parse_document, read_document
from qosforge.units import WRITTEN

MOST_PROBLEMS = 100
"""Problems of one reading that are told."""


@dataclass(frozen=True)
class LoadedIntent:
    """An intent, where its parts stand, and its version (the SHA-256 of its canonical form).

    ``included`` are the texts of the files it includes, ``settings`` the parameters set beside it: with its own
    text they are all that `parse_intent` needs to make it again. ``findings`` are about how it is put together.
    """

    intent: Intent
    document: YamlDocument
    version: str
    catalogue: Catalogue
    included: Mapping[str, str]
    settings: tuple[str, ...]
    findings: tuple[Finding, ...]

    @cached_property
    def _places(self) -> dict[tuple[str, int | None], Place]:
        """Places of classes by name and line, and by name alone: then ``default`` is the outermost."""
        places: dict[tuple[str, int | None], Place] = {}
        level: list[tuple[Path_, Sequence[TrafficClass]]] = [(("classes",), self.intent.classes)]
        while level:
            for path, classes in level:
                for at, entry in enumerate(classes):
                    place = self.document.place((*path, at))
                    places.setdefault((entry.name, place.line), place)
                    if entry.name != RESERVED_CLASS or path == ("classes",):
                        places[entry.name, None] = place
            level = [
                ((*path, at, "treatment", "children"), entry.treatment.children)
                for path, classes in level
                for at, entry in enumerate(classes)
                if entry.treatment.children
            ]
        return places

    def class_place(self, name: str, line: int | None = None) -> Place | None:
        """Where the class of this name stands, in the intent's file or in one that it includes.

        Of several ``default`` it is the one at ``line``, else the outermost.
        """
        return self._places.get((name, line)) or self._places.get((name, None))


def load_intent(path: Path, settings: Sequence[str] = ()) -> LoadedIntent:
    """Load and check the intent in ``path``, with what it includes; ``settings`` are parameters, ``name=value``.

    Raises:
        InputError: the file cannot be read or is not YAML.
        InputErrors: it is not a valid intent; carries every problem found.
    """
    return _check_document(read_document(path), FolderFiles(), settings)


def parse_intent(
    text: str, name: str, settings: Sequence[str] = (), included: Mapping[str, str] | None = None
) -> LoadedIntent:
    """Check an intent given as text; ``name`` stands for its file in messages, ``included`` has what it includes.

    Raises:
        InputError, InputErrors: as `load_intent`.
    """
    return _check_document(parse_document(text, name), TextFiles(included or {}), settings)


@dataclass(frozen=True)
class Assembled:
    """An intent with its includes and parameters put in, right or wrong, and what is wrong with these.

    It is not ``complete`` where a file that is included could not be read.
    """

    document: YamlDocument
    problems: list[InputError]
    findings: list[Finding]
    resolution: Resolution
    declared: Mapping[str, Parameter]
    complete: bool
    included: Mapping[str, str]


def assemble(own: YamlDocument, source: IncludeSource, settings: Sequence[str]) -> Assembled:
    """Put in what a document includes, and its parameters; ``settings`` are those given beside it.

    Raises:
        InputError: it is no mapping, or the parameters come to too much text.
    """
    if not isinstance(own.data, dict):
        raise InputError("is not an intent: a mapping is expected", own.place(()), "see policies/")
    sheets = Sheets(source)
    sheets.take(own)
    declared = sheets.parameters()
    given, refused = read_settings(settings)
    resolution = Resolution({**declared, **given}, {*sheets.broken, *refused})
    document, findings = sheets.merged(resolution)
    problems = [*sheets.problems, *refused.values(), *resolution.problems]
    if sheets.complete:  # else what is missing would only be told again by what refers to it
        problems += resolution.unknown
        problems += unknown_settings(given, declared, resolution.used)
    included = {sheet.file: sheet.text for sheet, _ in sheets.order[:-1]}
    return Assembled(document, problems, findings, resolution, declared, sheets.complete, included)


def _check_document(own: YamlDocument, source: IncludeSource, settings: Sequence[str]) -> LoadedIntent:
    assembled = assemble(own, source, settings)
    document, resolution, problems = assembled.document, assembled.resolution, list(assembled.problems)
    catalogue = load_catalogue()
    intent: Intent | None = None
    wrong: Iterator[InputError] = iter(())
    try:
        intent = Intent.model_validate(document.data, context=WRITTEN)
    except ValidationError as error:
        # What concerns the intent as a whole has no location there: it is found below, with its place.
        wrong = (
            as_problem(document, details, WrittenIntent)
            for details in error.errors()
            if details["loc"] and not _follows(details, assembled.complete)
        )
    if assembled.complete:
        wrong = chain(wrong, find_conflicts(document, catalogue))
    # One by one: of ten thousand wrong values no more are looked at than are told.
    found = (resolution.explained(p) for p in wrong if spot(p.where) not in resolution.failed)
    problems += islice(found, max(0, MOST_PROBLEMS + 1 - len(problems)))
    if problems or intent is None:
        raise InputErrors("not a valid intent", Place(file=own.file), "", _limit_problems(problems, own.file))
    return LoadedIntent(
        intent,
        document,
        hashlib.sha256(intent.model_dump_json(by_alias=True).encode()).hexdigest(),
        extend_catalogue(catalogue, intent.applications),
        assembled.included,
        tuple(settings),
        (*assembled.findings, *resolution.unused(assembled.declared)),
    )


def _follows(details: ErrorDetails, complete: bool) -> bool:
    """Whether a problem only follows from others: a list too short because entries are wrong, or not included."""
    if details["type"] == "too_short":
        return bool(len(details["input"]) >= details["ctx"]["min_length"])
    return details["type"] == "missing" and not complete


def _limit_problems(problems: list[InputError], first: str) -> list[InputError]:
    """As many problems as a person reads, in order; a last one says that there are more."""
    told = _in_order(problems[:MOST_PROBLEMS], first)
    if len(problems) > MOST_PROBLEMS:
        hint = "correct these first"
        told.append(InputError(f"more than {MOST_PROBLEMS} problems: the others are not told", Place(first), hint))
    return told


def _in_order(problems: list[InputError], first: str) -> list[InputError]:
    """Problems as they stand: those of the intent's own file before those of what it includes."""

    def key(problem: InputError) -> tuple[bool, str, int, int]:
        place = problem.where
        return place.file != first, place.file or "", place.line or 0, place.column or 0

    return sorted(problems, key=key)
