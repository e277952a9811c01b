"""The text of a device: nothing prints, logs, stores or sends it as it is, and few modules may open it."""

from __future__ import annotations

import ast
import copy
import io
import json
import logging
import pickle
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from multiprocessing.reduction import ForkingPickler
from typing import Any

import jinja2
import pytest
import sqlalchemy as sa
import structlog
from pydantic import BaseModel, ConfigDict, PydanticSchemaGenerationError, TypeAdapter, ValidationError
from rich.console import Console

from qosforge.device_state.last_known import LastKnown
from qosforge.platforms.device_text import MOST_CHARACTERS, DeviceText, DeviceWords, words_of
from qosforge.platforms.secret_forms import MASK
from qosforge.resources import SOURCES, root

pytestmark = pytest.mark.hostile

SECRET = "PLANTED000"
SAID = f"hostname sw1\nsnmp-server community {SECRET} RW\n\x1b[31mbanner \u202e[bold]x[/bold]\n"

MAY_OPEN = {
    "qosforge/platforms/device_text.py": "the type itself",
    # Parse it:
    "qosforge/platforms/cached_parse.py": "into a plan",
    "qosforge/compiler/candidate.py": "into lines to enter, and lines to put back",
    "qosforge/compiler/merged_configuration.py": "into the tree that lines are merged into",
    "qosforge/deploy/inspection.py": "into what a device is, all of which is shown through its door",
    "qosforge/tester/counters/comparison.py": "into counters",
    "qosforge/discovery/crawler.py": "into facts, by the readers that it is given to",
    "qosforge/discovery/port_traffic.py": "into counters of ports",
    "qosforge/discovery/stations.py": "into facts, by the readers that it is given to",
    "qosforge/deploy/seed_sessions.py": "into the kind of a command line; a configuration's secrets, for its door",
    # Compare it:
    "qosforge/deploy/transaction.py": "line by line, with what has to be put back",
    "qosforge/deploy/unsaved.py": "running with startup",
    "qosforge/runs/views/report.py": "for the difference, which is shown through its door",
    # Keep it whole, for operators of its network and for going back:
    "qosforge/artifacts/store.py": "as an artifact",
}


def text() -> DeviceText:
    return DeviceWords("sw1", "cisco_ios", ["pa55word"]).configuration(SAID)


def in_template(value: DeviceText) -> str:
    return jinja2.Environment(autoescape=True).from_string("{{ value }}").render(value=value)


def on_console(value: DeviceText) -> str:
    console = Console(record=True, width=200, file=io.StringIO())
    console.print(value, {"a": value})
    return console.export_text()


def traced() -> str:
    """A traceback with the values of its frames, as rich gives it."""
    console = Console(record=True, width=200, file=io.StringIO())
    held = text()
    try:
        raise ValueError(held)
    except ValueError:
        console.print_exception(show_locals=True)
    return console.export_text()


PRINTED: dict[str, Callable[[], str]] = {
    "str": lambda: str(text()),
    "repr": lambda: repr(text()),
    "format": lambda: f"{text()} {text()!r} {text()!s:>40}",
    "percent": lambda: "%s %r" % (text(), text()),  # noqa: UP031
    "template": lambda: in_template(text()),
    "console": lambda: on_console(text()),
    "error": lambda: str(ValueError(text())),
    "traceback": traced,
    "dataclass": lambda: repr(LastKnown("sw1", text(), None, datetime.now(UTC))),
    "json by str": lambda: json.dumps(text(), default=str),
    "structlog": lambda: str(structlog.processors.JSONRenderer()(None, "info", {"text": text()})),
}


@pytest.mark.parametrize("way", PRINTED)
def test_what_prints_it_gets_its_description(way: str) -> None:
    printed = PRINTED[way]()
    assert SECRET not in printed
    assert "hostname" not in printed
    assert "text of sw1, 3 lines" in printed


def test_a_log_gets_its_description(caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("test").warning("read %s", text())
    assert caplog.messages == ["read <text of sw1, 3 lines>"]


STORED: dict[str, Callable[[], object]] = {
    "json": lambda: json.dumps({"a": text()}),
    "pickle": lambda: pickle.dumps({"a": text()}),
    "copy": lambda: copy.deepcopy(text()),
    "asdict": lambda: asdict(LastKnown("sw1", text(), None, datetime.now(UTC))),
    "vars": lambda: vars(text()),
    "join": lambda: "".join([text()]),  # type: ignore[list-item]
    "concatenation": lambda: "a" + text(),  # type: ignore[operator]
    "iteration": lambda: list(text()),  # type: ignore[call-overload]
    "encoding": lambda: bytes(text()),  # type: ignore[call-overload]
    "writing": lambda: (root() / "never").write_text(text()),  # type: ignore[arg-type]
    "database": lambda: sa.create_engine("sqlite://").connect().execute(sa.select(sa.literal(text(), sa.Text))),
}


@pytest.mark.parametrize("way", STORED)
def test_what_stores_it_or_makes_text_of_it_fails(way: str) -> None:
    with pytest.raises((TypeError, sa.exc.StatementError)) as told:
        STORED[way]()
    assert SECRET not in str(told.value)


class Document(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)

    text: Any


def test_pydantic_refuses_it() -> None:
    with pytest.raises(ValidationError) as told:
        TypeAdapter(str).validate_python(text())
    assert SECRET not in str(told.value)
    with pytest.raises(PydanticSchemaGenerationError):
        TypeAdapter(DeviceText)
    with pytest.raises(ValueError, match="DeviceText") as failed:
        Document(text=text()).model_dump_json()
    assert SECRET not in str(failed.value)


def test_it_leaves_through_its_door() -> None:
    words = DeviceWords("sw1", "cisco_ios", ["pa55word"])
    said = words.configuration(SAID)
    assert said.shown() == (f"hostname sw1\nsnmp-server community {MASK} RW\n␛[31mbanner <U+202E>[bold]x[/bold]\n")
    quoted = said.saying(f"% {SECRET} or pa55word: no")
    assert quoted.shown() == f"% {MASK} or {MASK}: no"
    assert words.text(f"it was {SECRET}").shown() == f"it was {MASK}", "the door knows it from then on"
    assert said.words.shown_document({"a": [SECRET]}) == {"a": [MASK]}


def test_a_message_is_bounded_and_passes_the_door_twice_unchanged() -> None:
    words = DeviceWords("sw1", "cisco_ios")
    message = words.text("spam\n" * MOST_CHARACTERS).in_message()
    assert len(message) <= MOST_CHARACTERS
    assert re.search(r"… and [\d,]+ more characters$", message)
    assert words.in_message(message) == message


def test_it_is_compared_by_what_was_said() -> None:
    words = DeviceWords("sw1", "cisco_ios")
    assert words.text("a") == DeviceWords("sw1", "cisco_ios").configuration("a")
    assert words.text("a") != words.text("b")
    assert words.text("a") != "a"
    assert len({words.text("a"), words.configuration("a")}) == 1
    assert (words.text(" \n").is_blank, words.text("a").is_blank) == (True, False)


def test_a_computing_process_gets_it_with_its_door() -> None:
    """Through a pipe, by what `qosforge.compute` packs it with; `pickle` refuses the same."""
    received = ForkingPickler.loads(ForkingPickler.dumps(text()))
    assert received == text()
    assert received.saying(f"{SECRET} pa55word").shown() == f"{MASK} {MASK}"


def test_a_file_that_a_person_gave_has_a_door_too() -> None:
    assert words_of(SAID, "sw1", "cisco_ios").shown(f"it has {SECRET}") == f"it has {MASK}"


@dataclass(frozen=True)
class Opening:
    """A line of a module that opens a device's text."""

    module: str
    line: int


def openings() -> list[Opening]:
    found = []
    for path in sorted((SOURCES / "qosforge").rglob("*.py")):
        module = str(path.relative_to(SOURCES))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case (
                    ast.Attribute(attr="unmasked")
                    | ast.Name(id="unmasked")
                    | ast.alias(name="unmasked")
                    | ast.Constant(value="unmasked")
                ):
                    found.append(Opening(module, getattr(node, "lineno", 0)))
                case ast.Attribute(attr=name) | ast.Constant(value=str(name)) if "_DeviceText__" in name:
                    found.append(Opening(module, getattr(node, "lineno", 0)))
    return found


def test_only_who_parses_compares_or_puts_it_back_opens_it() -> None:
    others = [opening for opening in openings() if opening.module not in MAY_OPEN]
    assert not others, "show the text, or give it to a module that may open it"
    assert {opening.module for opening in openings()} == set(MAY_OPEN), "and the list has no module that does not"


def test_no_face_opens_it() -> None:
    faces = (
        "qosforge/web/",
        "qosforge/api/",
        "qosforge/cli/",
        "qosforge/reports/",
        "qosforge/client/",
        "qosforge/webhooks/",
    )
    assert [module for module in MAY_OPEN if module.startswith(faces)] == []
