"""Turn Batfish's rows into findings; only what the change adds counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from qosforge.findings import Finding, Severity

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
        yield Finding(
            code="batfish-undefined-reference",
            severity=Severity.ERROR,
            message=f"Batfish: {row['Struct_Type']} {row['Ref_Name']!r} is referred to ({row['Context']}) "
            "and not defined",
            device=_device(row["File_Name"]),
            hint="a fault of the compiler: do not push; report it with the intent",
        )


def _statuses(answers: Answers) -> Iterator[Finding]:
    for row in _added(answers, "fileParseStatus", ("File_Name", "Status")):
        if row["Status"] in _GOOD:
            continue
        yield Finding(
            code="batfish-parse-status",
            severity=Severity.ERROR if row["Status"] == "FAILED" else Severity.WARNING,
            message=f"Batfish reads the configuration as {row['Status']} after the change",
            device=_device(row["File_Name"]),
            hint="see the lines that Batfish warns of",
        )


def _warnings(answers: Answers) -> Iterator[Finding]:
    for row in _added(answers, "parseWarning", ("Filename", "Text", "Comment")):
        yield Finding(
            code="batfish-parse-warning",
            severity=Severity.WARNING,
            message=f"Batfish warns of {row['Text']!r}: {row['Comment']}",
            device=_device(row["Filename"]),
            hint="check the line against the device's command reference",
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
