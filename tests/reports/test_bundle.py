"""Many documents in one file."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime

from qosforge.reports.bundle import LEFT_OUT, stream_zip

AT = datetime(2026, 3, 1, 22, 0, tzinfo=UTC)


def opened(entries: list[tuple[str, Callable[[], bytes]]], **options: int) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(b"".join(stream_zip(entries, AT, **options))))


def test_documents_are_whole_and_dated() -> None:
    archive = opened([("a/one.txt", lambda: b"1" * 10_000), ("two.txt", lambda: b"")])
    assert archive.testzip() is None
    assert [(entry.filename, entry.date_time) for entry in archive.infolist()] == [
        ("a/one.txt", (2026, 3, 1, 22, 0, 0)),
        ("two.txt", (2026, 3, 1, 22, 0, 0)),
    ]
    assert archive.read("a/one.txt") == b"1" * 10_000


def test_a_document_is_asked_for_when_its_turn_comes() -> None:
    requested: list[str] = []

    def content(name: str) -> Callable[[], bytes]:
        return lambda: (requested.append(name), name.encode())[1]

    pieces = stream_zip([(name, content(name)) for name in ("one", "two", "three")], AT)
    next(pieces)
    assert requested == ["one"]
    list(pieces)
    assert requested == ["one", "two", "three"]


def test_names_stay_below_the_folder() -> None:
    names = ["../../etc/passwd", "/etc/shadow", "a/../../b", "..\\..\\c", ".."]
    archive = opened([(name, lambda: b"x") for name in names])
    assert archive.namelist() == ["etc/passwd", "etc/shadow", "a/b", "c", "unnamed"]


def test_what_is_too_much_is_named_instead() -> None:
    archive = opened(
        [("one", lambda: b"x" * 60), ("two", lambda: b"x" * 60), ("three", lambda: b"x" * 30)], most=100
    )
    assert archive.namelist() == ["one", "three", LEFT_OUT]
    assert archive.read(LEFT_OUT).decode().splitlines()[1:] == ["two"]
