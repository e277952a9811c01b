"""The copy of a configuration for Batfish: what it reads of the text, without secrets, line by line.

Its format is forced and its host name is that of the inventory. Lines that Batfish does not know, that hold secrets
or that only people read are comments in it; what has to be added stands at its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from qosforge.batfish.copy_rules import CopyRules, Lines

HEADER = "! BATFISH_FORMAT: {format}"
"""First line of a copy: Batfish otherwise guesses the format from the whole text."""


@dataclass(frozen=True)
class KnownStanza:
    """A line (from 1) of the text that defines something of this kind and name."""

    line: int
    structure: str
    name: str
    text: str


@dataclass(frozen=True)
class AnalysisCopy:
    """``text`` for Batfish; ``lines`` are those that were copied, without secrets. Numbers are theirs, from 1.

    ``unread`` are lines that Batfish would not read, ``inexact`` those that say something else in the copy,
    ``inert`` those by which it forwards nothing otherwise; ``stanzas`` are what the answer has to name.
    ``referring`` lines behind the copy stand for lines of the text.
    """

    text: str
    lines: tuple[str, ...]
    unread: frozenset[int]
    inexact: frozenset[int]
    inert: frozenset[int]
    stanzas: tuple[KnownStanza, ...]
    referring: Mapping[int, int] = field(default_factory=dict)

    def origin(self, number: int) -> int:
        """The line of the text that a line is, or was written for."""
        return self.referring.get(number, number)


def line_of(number: int) -> int:
    """The line of the text that a line of its copy is; the copy begins with a header."""
    return number - 1


def analysis_copy(
    lines: Iterable[str], covered: Iterable[str | None], rules: CopyRules, hostname: str
) -> AnalysisCopy:
    """The copy of a text. ``covered`` are its lines without secrets, ``None`` those that are for them."""
    writer = _Writer(rules, hostname)
    lines = tuple(lines)
    banners = _banner_lines(lines, rules)
    for number, (line, shown) in enumerate(zip(lines, covered, strict=True)):
        if number in banners:
            writer.leave_out()
        else:
            writer.add(line, shown)
    text = [HEADER.format(format=rules.format), *writer.copied, *writer.added()]
    return AnalysisCopy(
        text="\n".join(text) + "\n",
        lines=tuple(writer.lines),
        unread=frozenset(writer.unread),
        inexact=frozenset(writer.inexact),
        inert=frozenset(writer.inert),
        stanzas=tuple(writer.stanzas),
        referring=dict(enumerate((number for number, _ in writer.referring), len(lines) + 1)),
    )


def _banner_lines(lines: tuple[str, ...], rules: CopyRules) -> frozenset[int]:
    """The lines (from 0) of banners, each up to the one with its delimiter.

    Where that is missing only the first line is taken for one: what follows may be the configuration.
    """
    found: set[int] = set()
    for start, line in enumerate(lines):
        banner = rules.banner.fullmatch(line)
        if start in found or banner is None:
            continue
        found.add(start)
        if banner["delimiter"] in banner["text"]:
            continue
        for end, later in enumerate(lines[start + 1 :], start + 1):
            if rules.banner.fullmatch(later):
                break
            if banner["delimiter"] in later:
                found.update(range(start, end + 1))
                break
    return frozenset(found)


class _Writer:
    """Copies line after line, and remembers what a line stands below."""

    def __init__(self, rules: CopyRules, hostname: str) -> None:
        self.lines: list[str] = []
        self.copied: list[str] = []
        self.unread: list[int] = []
        self.inexact: list[int] = []
        self.inert: list[int] = []
        self.stanzas: list[KnownStanza] = []
        self.referring: list[tuple[int, str]] = []
        self._rules = rules
        self._hostname = hostname
        self._heads: list[tuple[int, str]] = []
        self._kept_up: list[str] = []

    def add(self, line: str, shown: str | None) -> None:
        number, text = len(self.copied) + 1, line.strip()
        depth = len(line) - len(line.lstrip(" "))
        while self._heads and self._heads[-1][0] >= depth:
            self._heads.pop()
        if shown is None or self._rules.free_text.fullmatch(text):
            shown = None
        self.lines.append("!" if shown is None else shown)
        self._note(number, text, shown)
        if self._is_among(self._rules.inert, text):
            self.inert.append(number)
        self._refer(number, (shown or "").strip())
        self.copied.append(self._copy(number, line, text, shown))
        if text and not text.startswith("!"):
            self._heads.append((depth, text))

    def leave_out(self) -> None:
        """Write a line that only people read and that stands below none."""
        self._heads.clear()
        self.lines.append("!")
        self.copied.append("!")

    def added(self) -> list[str]:
        """Lines behind the copy."""
        lines = [entry for head in self._kept_up for entry in (head, " no autostate", "!")]
        return [*(line for _, line in self.referring), *lines, f"hostname {self._hostname}"]

    def _note(self, number: int, text: str, shown: str | None) -> None:
        if self._heads:
            return
        for stanza in self._rules.stanzas:
            # The name as the copy has it, which is no secret.
            found = stanza.head.fullmatch((shown or "").strip())
            if found is not None:
                self.stanzas.append(KnownStanza(number, stanza.structure, found["name"], found[0]))
        if self._rules.kept_up and self._rules.kept_up.fullmatch(text):
            self._kept_up.append(text)

    def _refer(self, number: int, shown: str) -> None:
        for rule in self._rules.referring:
            found = rule.line.fullmatch(shown)
            if found is not None and self._is_inside(rule.inside):
                lines = [line.format(number=number, **found.groupdict()) for line in rule.written]
                self.referring += [(number, line) for line in lines]

    def _copy(self, number: int, line: str, text: str, shown: str | None) -> str:
        if shown is None:
            return self._comment()
        if self._is_among(self._rules.unread, text):
            self.unread.append(number)
            return self._comment()
        if not self._heads and text.startswith("hostname "):
            return f"hostname {self._hostname}"
        return self._cut(number, text, shown)

    def _is_among(self, forms: Iterable[Lines], text: str) -> bool:
        return any(form.line.fullmatch(text) and self._is_inside(form.inside) for form in forms)

    def _is_inside(self, head: re.Pattern[str] | None) -> bool:
        return head is None or any(head.fullmatch(above) for _, above in self._heads)

    def _cut(self, number: int, text: str, shown: str) -> str:
        entry = self._rules.entries.fullmatch(text) is not None
        for cut in self._rules.cut:
            if not (entry if cut.line is None else cut.line.fullmatch(text)):
                continue
            kept = cut.pattern.sub("", shown)
            if kept != shown:
                shown = kept
                if cut.inexact:
                    self.inexact.append(number)
        return shown

    def _comment(self) -> str:
        """A line without a meaning, which leaves a named access list of IP open; those of MAC have no remarks."""
        inside = self._heads and self._rules.lists.fullmatch(self._heads[0][1])
        return " remark unread" if inside else "!"
