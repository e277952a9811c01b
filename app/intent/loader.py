"""Load an intent; every problem found is reported, each with its file, line and column."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from app.errors import InputError, InputErrors, Place
from app.intent.applications import Catalogue, load_catalogue
from app.intent.models import Intent
from app.intent.yaml_source import Document, Path_, dotted, parse_document, read_document


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
    try:
        intent = Intent.model_validate(document.data)
    except ValidationError as error:
        problems = [_problem(document, details) for details in error.errors()]
        raise InputErrors("not a valid intent", Place(file=document.file), "", problems) from None
    problems = list(_unknown_applications(intent, document, catalogue))
    if problems:
        raise InputErrors("not a valid intent", Place(file=document.file), "", problems)
    canonical = intent.model_dump_json(by_alias=True)
    return LoadedIntent(intent, document, hashlib.sha256(canonical.encode()).hexdigest(), catalogue)


def _unknown_applications(intent: Intent, document: Document, catalogue: Catalogue) -> list[InputError]:
    problems = []
    for i, entry in enumerate(intent.classes):
        for j, term in enumerate(entry.match.any if entry.match else ()):
            for application in term.application:
                if application not in catalogue:
                    near = get_close_matches(application, list(catalogue), n=1)
                    mend = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(catalogue)}"
                    place = document.place(("classes", i, "match", "any", j, "application"))
                    problems.append(InputError(f"unknown application {application!r}", place, mend))
    return problems


def _problem(document: Document, details: ErrorDetails) -> InputError:
    path = _real_path(document.data, details["loc"])
    kind = details["type"]
    if kind == "extra_forbidden":
        siblings = _known_keys(path)
        near = get_close_matches(str(path[-1]), siblings, n=1)
        mend = f"did you mean {near[0]!r}?" if near else "remove it"
        return InputError(f"unknown key {str(path[-1])!r}", document.place(path), mend)
    if kind == "missing":
        return InputError(f"missing key {str(details['loc'][-1])!r}", document.place(path, dotted(path)), "add it")
    message = details["msg"].removeprefix("Value error, ")
    if kind != "value_error":
        message = f"{message} (found {_short(details['input'])})"
    return InputError(message, document.place(path), "")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _real_path(data: Any, loc: tuple[int | str, ...]) -> Path_:
    """The part of Pydantic's location that exists in the document (it adds names of its own for unions)."""
    path: list[str | int] = []
    for part in loc:
        if (isinstance(data, dict) and part in data) or (
            isinstance(data, list) and isinstance(part, int) and part < len(data)
        ):
            data = data[part]
            path.append(part)
    return tuple(path)


def _known_keys(path: Path_) -> list[str]:
    """Every key the language knows, for suggesting the one that was meant."""
    schema = Intent.model_json_schema()
    keys = set(schema.get("properties", {}))
    for definition in schema.get("$defs", {}).values():
        keys |= set(definition.get("properties", {}))
    return sorted(keys)
