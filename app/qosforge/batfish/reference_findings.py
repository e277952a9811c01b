"""References to nothing that the change adds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from qosforge.batfish.analysis_copy import line_of
from qosforge.batfish.answers import Answers, Row, node_of, source_lines
from qosforge.batfish.parse_results import ParseResults
from qosforge.batfish.question_list import AFTER, BEFORE
from qosforge.batfish.snapshots import DeviceCopies, Snapshots
from qosforge.findings import Finding
from qosforge.note import note


def reference_findings(snapshots: Snapshots, readings: ParseResults, answers: Answers) -> Iterator[Finding]:
    """Each reference that is in the configuration after the change more often than before it, at its line."""
    old = Counter(_identity(row) for row in answers.of("references-before"))
    for row in answers.of("references"):
        copies = snapshots.devices.get(node_of(row["File_Name"]))
        if copies is None:
            continue
        if old[_identity(row)]:
            old[_identity(row)] -= 1
            continue
        uncertain = not all(readings[side][copies.node].is_whole for side in (BEFORE, AFTER))
        lines = [copies.after.origin(line_of(line)) for _, line in source_lines(row["Lines"])]
        yield _finding(copies, row, lines[0] if lines else 0, uncertain=uncertain)


def _finding(copies: DeviceCopies, row: Row, line: int, *, uncertain: bool) -> Finding:
    text = copies.after.lines[line - 1].strip() if line else ""
    name = str(row["Ref_Name"])
    place = copies.place_of(name)
    facts: dict[str, Any] = {"kind": row["Struct_Type"], "name": name, "context": row["Context"], "line": line}
    if text in copies.own:
        return note("batfish-undefined-reference", place, variant="ours", uncertain=uncertain, **facts)
    return note("batfish-undefined-reference", place, uncertain=uncertain, **facts)


def _identity(row: Row) -> tuple[str, str, str, str]:
    return (node_of(row["File_Name"]), str(row["Struct_Type"]), str(row["Ref_Name"]), str(row["Context"]))
