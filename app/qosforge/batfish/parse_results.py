"""Whether Batfish read the configuration of a device whole: what it does not read, and what it lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from qosforge.batfish.analysis_copy import AnalysisCopy, KnownStanza, line_of
from qosforge.batfish.answers import Answers, node_of, source_lines
from qosforge.batfish.question_list import AFTER, BEFORE
from qosforge.batfish.snapshots import Snapshots
from qosforge.batfish.text_changes import squeezed
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note

_GOOD = ("PASSED", "EMPTY")
_PARTLY = "PARTIALLY_UNRECOGNIZED"
_APART = 3
"""Lines between those that Batfish warns of one by one."""


@dataclass(frozen=True)
class UnreadLine:
    """A line that Batfish warns of."""

    line: int
    text: str
    comment: str


@dataclass(frozen=True)
class ParseResult:
    """How Batfish read one configuration of a device; ``status`` is ``None`` where its answer does not name it."""

    status: str | None
    unread: tuple[UnreadLine, ...]
    lost: tuple[KnownStanza, ...]

    @property
    def is_whole(self) -> bool:
        """Whether all of it was read."""
        return self.status in _GOOD and not self.unread and not self.lost

    @property
    def has_all_stanzas(self) -> bool:
        """Whether it was read, but for single lines."""
        return self.status in (*_GOOD, _PARTLY) and not self.lost


ParseResults = dict[str, dict[str, ParseResult]]
"""By snapshot and the name that Batfish has for the device."""


def read_parse_results(snapshots: Snapshots, answers: Answers) -> ParseResults:
    """How every device was read, before and after the change.

    Raises:
        KeyError: a row is not what it is known to be.
    """
    return {side: _side(snapshots, answers, side) for side in (BEFORE, AFTER)}


def _side(snapshots: Snapshots, answers: Answers, side: str) -> dict[str, ParseResult]:
    status = {node_of(row["File_Name"]): str(row["Status"]) for row in answers.of(f"status-{side}")}
    unread: dict[str, list[UnreadLine]] = {}
    for row in answers.of(f"issues-{side}"):
        for node, line in source_lines(row["Source_Lines"]):
            if "arse" in str(row["Type"]):  # warnings and errors of parsing; others are of converting
                text = str(row.get("Line_Text") or "").strip()
                unread.setdefault(node, []).append(UnreadLine(line_of(line), text, str(row["Details"])))
    named: dict[str, dict[int, list[tuple[str, str, bool]]]] = {}
    for row in answers.of(f"structures-{side}"):
        lines = sorted(source_lines(row["Source_Lines"]))
        for node, line in lines:
            begins = (node, line - 1) not in lines
            entry = (str(row["Structure_Type"]), squeezed(str(row["Structure_Name"])), begins)
            named.setdefault(node, {}).setdefault(line_of(line), []).append(entry)
    return {
        node: ParseResult(
            status.get(node),
            tuple(sorted(unread.get(node, ()), key=lambda line: line.line)),
            tuple(_lost(copies.before if side == BEFORE else copies.after, named.get(node, {}))),
        )
        for node, copies in snapshots.devices.items()
    }


def _lost(copy: AnalysisCopy, named: dict[int, list[tuple[str, str, bool]]]) -> Iterator[KnownStanza]:
    for stanza in copy.stanzas:
        name = squeezed(stanza.name)
        if not any(
            stanza.structure in kind and (begins or called == name)
            for kind, called, begins in named.get(stanza.line, ())
        ):
            yield stanza


def parse_findings(
    snapshots: Snapshots, readings: ParseResults, *, excepted: frozenset[str], require: bool
) -> Iterator[Finding]:
    """The devices that were not read whole, by name, and the lines that the change adds and that are not read."""
    for node, copies in snapshots.devices.items():
        before, after = readings[BEFORE][node], readings[AFTER][node]
        place = Place(device=copies.name)
        for line in _first_new(before, after):
            yield note("batfish-parse-warning", place, text=line.text, line=line.line, comment=line.comment)
        if after.status == "FAILED" != before.status:
            yield note("batfish-parse-status", place, status=after.status)
        required = require and copies.name not in excepted
        for when, reading in (("after", after), ("before", before)):
            if not reading.is_whole:
                yield _not_checked(place, when, reading, required=required)
                break


def _first_new(before: ParseResult, after: ParseResult) -> Iterator[UnreadLine]:
    """The lines that the change adds; of those that follow each other the first one, which loses the others."""
    known = Counter((line.text, line.comment) for line in before.unread)
    last = -_APART
    for line in after.unread:
        known[line.text, line.comment] -= 1
        if known[line.text, line.comment] < 0:
            if line.line - last >= _APART:
                yield line
            last = line.line


def _not_checked(place: Place, when: str, reading: ParseResult, *, required: bool) -> Finding:
    code = "batfish-device-not-checked"
    if reading.lost:
        stanza = reading.lost[0]
        return note(code, place, variant="stanza", when=when, text=stanza.text, line=stanza.line, required=required)
    if reading.unread:
        line = reading.unread[0]
        return note(code, place, variant="line", when=when, text=line.text, line=line.line, required=required)
    return note(code, place, when=when, status=reading.status or "unknown", required=required)
