"""The page of configuration lines: what each platform's table understands, and the forms that it keeps as they are.

``python -m qosforge.platforms.reference`` prints the page, ``docs/commands.md``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from qosforge.commands import CommandTable, Line
from qosforge.commands.pattern import shown
from qosforge.platforms.base import Platform, installed, platform

_INTRODUCTION = """\
# Configuration lines

What qosforge reads, compares and changes on each platform, mode by mode. `<1-100>` is a whole number in a
range, words in capitals are values, `[…]` may be left out, `{…|…}` is one of several, `×4` stands four times,
`×1-8` one to eight times. A number out of its range is not understood. `+` marks lines that a change enters or
removes; the others are read only. Lines that are *kept as they are* are known, but a plan has no place for what
they do: import and push name them, and remove them only with an object that is ours as a whole.

This page is made of the command tables (`python -m qosforge.platforms.reference > docs/commands.md`).
"""


def page() -> str:
    """The page as Markdown."""
    return "\n".join((_INTRODUCTION, *(line for name in sorted(installed()) for line in _section(platform(name)))))


def _section(described: Platform) -> Iterator[str]:
    yield f"## {described.family.title} (`{described.id}`)\n"
    table = described.commands
    for mode, heading in _modes(table):
        lines = [line for line in table.lines if line.mode == mode]
        yield f"Below `{heading}`:\n" if heading else "At the top:\n"
        yield "```"
        yield from dict.fromkeys(text for line in lines for text in _understood(line))
        yield "```\n"
        kept = tuple(dict.fromkeys(shown(text) for line in lines for text in line.also))
        if kept:
            yield f"Kept as they are: {', '.join(f'`{text}`' for text in kept)}.\n"


def _modes(table: CommandTable) -> Iterator[tuple[str, str]]:
    """The modes in the order in which they are opened, each with a line that opens it."""
    yield "", ""
    for mode in dict.fromkeys(line.opens for line in table.lines if line.opens):
        if any(line.mode == mode for line in table.lines):
            yield mode, next(shown(line.pattern) for line in table.lines if line.opens == mode and line.pattern)


def _understood(line: Line) -> Iterator[str]:
    mark = "+" if line.change else " "
    since = f"  (since {line.since})" if line.since else ""
    if line.pattern:
        yield f"{mark} {shown(line.pattern)}{since}"
    if line.no:
        yield f"{mark} no {shown(line.no)}{since}"


if __name__ == "__main__":
    sys.stdout.write(page())
