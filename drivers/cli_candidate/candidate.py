"""A configuration text as commands, each with the context it stands in.

Context comes from indentation, as in a running configuration; a platform that does not indent names
the lines that open a block (``Dialect.block_open``), which ``exit`` closes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from napalm.base.exceptions import MergeConfigException

# These start a dialogue of many lines, so "one line, one answer" cannot hold for them.
_MULTI_LINE = re.compile(r"^(?:banner|macro name|menu|crypto (?:pki|ca) certificate|certificate|tclsh)\b")


@dataclass(frozen=True, slots=True)
class CommandLine:
    """One command.

    Attributes:
        number: 1-based line of the text it came from.
        text: the command, blanks collapsed at both ends only.
        context: the normalised commands it stands under, outermost first.
    """

    number: int
    text: str
    context: tuple[str, ...]

    @property
    def depth(self) -> int:
        """How many commands it stands under."""
        return len(self.context)

    @property
    def path(self) -> tuple[str, ...]:
        """Context and command: what makes two commands the same (devices ignore case in interface names)."""
        return tuple(
            entry.lower() if entry.startswith("interface ") else entry
            for entry in (*self.context, normalise(self.text))
        )


def normalise(text: str) -> str:
    """One blank between words: devices print two, or one at the end, as they like."""
    return " ".join(text.split())


def parse_lines(text: str, block_open: re.Pattern[str] | None = None) -> tuple[CommandLine, ...]:
    """Split a configuration into commands; comments, blank lines, ``exit`` and ``end`` only shape it."""
    lines: list[CommandLine] = []
    above: list[tuple[int, str]] = []
    in_block = False
    for number, raw in enumerate(text.split("\n"), start=1):
        words = raw.strip().replace("\t", " ")  # inside a command a tab would ask for completion
        if not words or words.startswith("!"):
            continue
        if words in {"exit", "end"}:
            in_block = False
            continue
        indent = len(raw.expandtabs()) - len(raw.expandtabs().lstrip())
        if block_open is not None and indent == 0:
            if block_open.match(words):
                in_block = True
            elif in_block:
                indent = 1
        else:
            in_block = False  # this block is indented, so its end shows
        while above and above[-1][0] >= indent:
            above.pop()
        lines.append(CommandLine(number, words, tuple(entry for _, entry in above)))
        above.append((indent, normalise(words)))
    return tuple(lines)


def parse_candidate(text: str, block_open: re.Pattern[str] | None = None) -> tuple[CommandLine, ...]:
    """Like :func:`parse_lines`, but refuse what cannot be sent safely line by line.

    Raises:
        MergeConfigException: a control character, a ``?`` or anything outside printable ASCII (a
            line editor acts on those instead of storing them), a command that opens a dialogue of
            many lines, or commands after ``end``.
    """
    ended_at = None
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.removesuffix("\r")
        words = line.strip()
        if words.startswith("!") or not words:
            continue
        odd = re.search(r"[^\t\x20-\x7e]|\?", line)
        if odd is not None:
            msg = f"line {number}: character {odd.group()!r} cannot be typed into a command line as text"
            raise MergeConfigException(msg)
        if _MULTI_LINE.match(words):
            msg = f"line {number}: {words.split()[0]!r} opens a dialogue of several lines and is not supported"
            raise MergeConfigException(msg)
        if ended_at is not None:
            raise MergeConfigException(f"line {number}: a command after 'end' on line {ended_at}")
        if words == "end":
            ended_at = number
    return parse_lines(text, block_open)
