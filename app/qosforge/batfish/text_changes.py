"""Which lines of a configuration a change adds and takes away, each below what it stands below."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from qosforge.batfish.analysis_copy import AnalysisCopy, KnownStanza


@dataclass(frozen=True)
class ChangedLine:
    """A line by its number in the configuration after the change; before it where it is ``gone``."""

    number: int
    text: str
    head: str
    gone: bool


def changed_lines(before: AnalysisCopy, after: AnalysisCopy) -> tuple[ChangedLine, ...]:
    """The lines in which two texts differ; those by which nothing is forwarded otherwise are left out."""
    if before.lines == after.lines:
        return ()
    old, new = _placed(before.lines), _placed(after.lines)
    found: list[ChangedLine] = []
    for what, start, stop, begin, end in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if what != "equal":
            found += _lines(before, old, start, stop, gone=True)
            found += _lines(after, new, begin, end, gone=False)
    return tuple(found)


def may_forward_otherwise(before: AnalysisCopy, after: AnalysisCopy) -> bool:
    """Whether two texts differ in a line that forwarding may depend on.

    It does not where all such lines are of access lists that classes alone refer to: no other line of either text
    has the name of one.
    """
    heads = {line.head for line in changed_lines(before, after)}
    lists = list_heads(before, after)
    if not heads <= lists.keys():
        return True
    names = {lists[head] for head in heads}
    return any(not names.isdisjoint(words) for copy in (before, after) for words in _spoken(copy))


def list_heads(before: AnalysisCopy, after: AnalysisCopy) -> dict[str, str]:
    """The names of the access lists of two texts, by the lines that open them."""
    return {stanza.text: stanza.name for copy in (before, after) for stanza in _lists(copy)}


def _lists(copy: AnalysisCopy) -> Iterator[KnownStanza]:
    return (stanza for stanza in copy.stanzas if stanza.structure == "access-list")


def _spoken(copy: AnalysisCopy) -> Iterator[list[str]]:
    """The words of lines that forwarding may depend on, but for those that name an access list."""
    silent = copy.inert | copy.unread | {stanza.line for stanza in _lists(copy)}
    return (line.split() for number, line in enumerate(copy.lines, 1) if number not in silent)


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


def _lines(
    copy: AnalysisCopy, placed: list[tuple[str, str]], start: int, stop: int, *, gone: bool
) -> Iterator[ChangedLine]:
    silent = copy.inert | copy.unread
    for at in range(start, stop):
        head, line = placed[at]
        text = line.strip()
        if text and not text.startswith("!") and at + 1 not in silent:
            yield ChangedLine(at + 1, text, head, gone)
