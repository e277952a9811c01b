"""Load an intent; every problem found is reported, each with its file, line and column."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from app.errors import InputError, InputErrors, Place
from app.intent.applications import Catalogue, load_catalogue
from app.intent.conflicts import find_conflicts
from app.intent.models import Intent
from app.intent.problems import as_problem
from app.intent.yaml_source import Document, parse_document, read_document
from app.units import WRITTEN


@dataclass(frozen=True)
class LoadedIntent:
    """An intent, where its parts stand, and its version (the SHA-256 of its canonical form)."""

    intent: Intent
    document: Document
    version: str
    catalogue: Catalogue

    def class_line(self, name: str) -> int | None:
        """Line of the class of this name in the intent's file."""
        for position, entry in enumerate(self.intent.classes):
            if entry.name == name:
                return self.document.place(("classes", position)).line
        return None


def load_intent(path: Path) -> LoadedIntent:
    """Load and check the intent in ``path``.

    Raises:
        InputError: the file cannot be read or is not YAML.
        InputErrors: it is not a valid intent; carries every problem found.
    """
    return check_document(read_document(path))


def parse_intent(text: str, name: str) -> LoadedIntent:
    """Check an intent given as text; ``name`` stands for its file in messages.

    Raises:
        InputError, InputErrors: as `load_intent`.
    """
    return check_document(parse_document(text, name))


def check_document(document: Document) -> LoadedIntent:
    """Check a parsed document against the language.

    Raises:
        InputErrors: it is not a valid intent; carries every problem found.
    """
    if not isinstance(document.data, dict):
        raise InputError("is not an intent: a mapping is expected", document.place(()), "see policies/")
    catalogue = load_catalogue()
    problems: list[InputError] = []
    intent: Intent | None = None
    try:
        intent = Intent.model_validate(document.data, context=WRITTEN)
    except ValidationError as error:
        # What concerns the intent as a whole has no location there: it is found below, with its place.
        problems = [as_problem(document, details, Intent) for details in error.errors() if details["loc"]]
    problems += find_conflicts(document, catalogue)
    if problems or intent is None:
        problems.sort(key=lambda problem: (problem.where.line or 0, problem.where.column or 0))
        raise InputErrors("not a valid intent", Place(file=document.file), "", problems)
    canonical = intent.model_dump_json(by_alias=True)
    return LoadedIntent(intent, document, hashlib.sha256(canonical.encode()).hexdigest(), catalogue)
