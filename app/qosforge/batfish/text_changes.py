"""Which lines of a configuration a change adds and takes away, each below what it stands below."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from qosforge.batfish.analysis_copy import AnalysisCopy

_QOS = re.compile(
    r"(?:no )?(?:service-policy|priority-queue|mls qos|srr-queue|wrr-queue|queue-set|fair-queue|tx-ring-limit)\b.*"
)


@dataclass(frozen=True)
class ChangedLine:
    """A line by its number in the configuration after the change; before it where it is ``gone``."""

    number: int
    text: str
    head: str
    gone: bool


def changed_lines(before: AnalysisCopy, after: AnalysisCopy) -> tuple[ChangedLine, ...]:
    """The lines in which two texts differ; those of no interest to forwarding are left out."""
    if before.lines == after.lines:
        return ()
    old, new = _placed(before.lines), _placed(after.lines)
    found: list[ChangedLine] = []
    for what, start, stop, begin, end in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if what != "equal":
            found += _lines(old, start, stop, gone=True)
            found += _lines(new, begin, end, gone=False)
    return tuple(found)


def stanza_line(copy: AnalysisCopy, head: str) -> int | None:
    """The line that opens the part of a text that is headed so; blanks and capitals do not count."""
    wanted = squeezed(head)
    return next((at for at, line in enumerate(copy.lines, 1) if line[:1] != " " and squeezed(line) == wanted), None)


def squeezed(text: str) -> str:
    """A text without blanks and capitals."""
    return "".join(text.split()).lower()


def _placed(lines: tuple[str, ...]) -> list[tuple[str, str]]:
    placed, head = [], ""
    for line in lines:
        if not line.startswith(" "):
            head = line.strip()
        placed.append((head, line))
    return placed


def _lines(placed: list[tuple[str, str]], start: int, stop: int, *, gone: bool) -> Iterator[ChangedLine]:
    for at in range(start, stop):
        head, line = placed[at]
        text = line.strip()
        if text and not text.startswith("!") and not _QOS.fullmatch(text):
            yield ChangedLine(at + 1, text, head, gone)
