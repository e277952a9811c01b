"""Turn Batfish's rows into findings; only what the change adds counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note

Answers = Mapping[str, Mapping[str, list[dict[str, Any]]]]
"""Rows by snapshot (``before``, ``after``) and question."""

_GOOD = ("PASSED", "EMPTY")


def new_rows(answers: Answers) -> tuple[Finding, ...]:
    """Findings for the rows that stand in ``after`` and not in ``before``; line numbers do not count.

    Raises:
        KeyError: a snapshot or a question is missing.
    """
    return (*_undefined(answers), *_statuses(answers), *_warnings(answers))


def _undefined(answers: Answers) -> Iterator[Finding]:
    for row in _added(answers, "undefinedReferences", ("File_Name", "Struct_Type", "Ref_Name", "Context")):
        yield note(
            "batfish-undefined-reference",
            Place(device=_device(row["File_Name"])),
            kind=row["Struct_Type"],
            name=row["Ref_Name"],
            context=row["Context"],
        )


def _statuses(answers: Answers) -> Iterator[Finding]:
    for row in _added(answers, "fileParseStatus", ("File_Name", "Status")):
        if row["Status"] in _GOOD:
            continue
        yield note(
            "batfish-parse-status",
            Place(device=_device(row["File_Name"])),
            status=row["Status"],
            failed=row["Status"] == "FAILED",
        )


def _warnings(answers: Answers) -> Iterator[Finding]:
    for row in _added(answers, "parseWarning", ("Filename", "Text", "Comment")):
        yield note(
            "batfish-parse-warning",
            Place(device=_device(row["Filename"])),
            text=row["Text"],
            comment=row["Comment"],
        )


def _added(answers: Answers, question: str, fields: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """Rows of a question, cut to ``fields``, that the change adds."""
    before, after = (
        Counter(tuple(str(row.get(field)).strip() for field in fields) for row in answers[side][question])
        for side in ("before", "after")
    )
    for row in after - before:
        yield dict(zip(fields, row, strict=True))


def _device(file: str) -> str:
    return PurePosixPath(file).stem
