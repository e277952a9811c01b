"""The words that people and programs see: one for each thing, and the field's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer

from qosforge.api.application import create_app
from qosforge.api.backend import Backend
from qosforge.cli.main import every_command
from qosforge.finding_codes import page
from qosforge.resources import root

KEYS = {"mend", "asked", "will_be", "asked_percent", "will_be_percent", "box", "boxes"}
"""What was said before `hint`, `requested`, `applied` and `device`."""
WORDS = re.compile(r"\b(mend|mends|mended|will_be|box|boxes)\b", re.IGNORECASE)
RUNS = re.compile(
    r"\b(roll-backs?|ways? back|taken back|tak(e|es|ing) (it|them|that|what|the change|a change)( \w+)? back|"
    r"asked_by|requested_by|who_paid|who paid|outside testers?|log of calls|nothing_to_do|"
    r"order(s|ed|ing)?( a| the| new)* runs?|ask(s|ed|ing)? for( a| the| new)* runs?|run (is|was) asked for|"
    r"refus(e|es|ed|ing) (a|the|this|that) runs?)\b",
    re.IGNORECASE,
)
"""What was said of runs before `reject`, `rollback`, `created_by`, `trade_offs` and audit log."""
RUN_KEYS = {"asked_by", "requested_by", "who_paid", "paid"}
VALUES = {"refused", "nothing_to_do", "roll-back", "outside"}
"""Values of statuses, steps and choices that were renamed."""
HEADINGS = {
    "What each link does",
    "What it sends",
    "What it must keep",
    "Were the objectives met?",
    "How near each device comes to it",
    "What was worked out for the devices",
    "Worked out",
    "Entered",
    "Read back",
    "Counted",
    "In the end",
    "nothing to do",
    "Log",
    "Judged by",
    "Asked by",
    "asked by %(who)s",
}
"""Whole texts of pages and headings of documents that were renamed."""
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


def choices(document: Any) -> Iterator[str]:
    """The values that a document allows in one place, at every depth."""
    match document:
        case dict():
            yield from (str(value) for value in document.get("enum", ()) if isinstance(value, str))
            for value in document.values():
                yield from choices(value)
        case list():
            for value in document:
                yield from choices(value)


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
    assert not names & (KEYS | RUN_KEYS)
    assert WORDS.findall(str(document)) == []
    assert RUNS.findall(str(document)) == []
    assert not VALUES & set(choices(document))
    actions = {path.rpartition("/")[2] for path in document["paths"] if "/runs/{run_id}/" in path}
    assert {"reject", "rollback"} <= actions
    assert not actions & {"refuse", "roll-back"}


def test_help_has_no_other_words() -> None:
    command = every_command()
    texts = list(helps(command, typer.Context(command, info_name="qosforge")))
    assert len(texts) > 60
    assert [text for text in texts if WORDS.search(text)] == []
    assert [found[0] for text in texts if (found := RUNS.search(" ".join(text.split())))] == []
    assert {"reject", "rollback"} <= getattr(command, "commands", {}).keys()
    assert not {"refuse", "roll-back"} & getattr(command, "commands", {}).keys()


def test_pages_and_findings_have_no_other_words() -> None:
    templates = [*root().glob("app/qosforge/web/templates/**/*.j2"), *root().glob("app/qosforge/reports/*.j2")]
    said = [
        (path.name, " ".join(found))
        for path in templates
        for found in _SAID.findall(path.read_text(encoding="utf-8"))
    ]
    assert len(said) > 500
    assert [text for text in said if WORDS.search(text[1]) or RUNS.search(text[1])] == []
    assert [text for text in said if text[1].strip() in HEADINGS] == []
    assert WORDS.findall(page()) == []
    assert RUNS.findall(page()) == []


def test_documents_have_no_other_words() -> None:
    pages = [root() / "README.md", *root().glob("docs/*.md"), *root().glob("examples/**/*.md")]
    texts = {path.name: path.read_text(encoding="utf-8") for path in pages}
    assert len(texts) > 30
    said = {name: found[0] for name, text in texts.items() if (found := RUNS.search(" ".join(text.split())))}
    assert said == {}
    headings = {
        (name, line.strip("# "))
        for name, text in texts.items()
        for line in text.splitlines()
        if line.startswith("#")
    }
    assert [heading for heading in headings if heading[1] in HEADINGS] == []
