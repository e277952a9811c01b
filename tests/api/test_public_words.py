"""The words that people and programs see: one for each thing, and the field's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer
from typer.main import get_command

from qosforge.api.application import create_app
from qosforge.api.backend import Backend
from qosforge.cli.main import application
from qosforge.finding_codes import page
from qosforge.resources import root

KEYS = {"mend", "asked", "will_be", "asked_percent", "will_be_percent", "box", "boxes"}
"""What was said before `hint`, `requested`, `applied` and `device`."""
WORDS = re.compile(r"\b(mend|mends|mended|will_be|box|boxes)\b", re.IGNORECASE)
_SAID = re.compile(r"""_\(\s*"((?:[^"\\]|\\.)*)"|ngettext\(\s*"([^"]*)",\s*"([^"]*)\"""")
"""Texts of a template that are shown to people."""


def keys(document: Any) -> Iterator[str]:
    """The keys of a document, at every depth."""
    match document:
        case dict():
            for key, value in document.items():
                yield key
                yield from keys(value)
        case list():
            for value in document:
                yield from keys(value)


def helps(command: Any, context: Any) -> Iterator[str]:
    """The help of a command and of all below it; those of the lab, whose devices are boxes, apart."""
    yield command.get_help(context)
    for name, below in getattr(command, "commands", {}).items():
        if name != "lab":
            yield from helps(below, type(context)(below, info_name=name, parent=context))


def test_the_schema_has_no_other_words(backend: Backend) -> None:
    document = create_app(backend).openapi()
    names = set(keys(document))
    assert {"hint", "requested", "applied"} <= names
    assert not names & KEYS
    assert WORDS.findall(str(document)) == []


def test_help_has_no_other_words() -> None:
    command = get_command(application(["--help"]))
    texts = list(helps(command, typer.Context(command, info_name="qosforge")))
    assert len(texts) > 60
    assert [text for text in texts if WORDS.search(text)] == []


def test_pages_and_findings_have_no_other_words() -> None:
    templates = [*root().glob("app/qosforge/web/templates/**/*.j2"), *root().glob("app/qosforge/reports/*.j2")]
    said = [
        (path.name, " ".join(found))
        for path in templates
        for found in _SAID.findall(path.read_text(encoding="utf-8"))
    ]
    assert len(said) > 500
    assert [text for text in said if WORDS.search(text[1])] == []
    assert WORDS.findall(page()) == []
