"""The page of configuration lines: what each platform's table understands, and the forms that it keeps as they are.

``python -m qosforge.platforms.reference`` prints the page, ``docs/commands.md``.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping

from qosforge.commands import CommandTable, Line
from qosforge.commands.pattern import shown
from qosforge.platforms.base import Platform, installed, platform

_INTRODUCTION = """\
# Platforms and their lines

Which lines of a configuration qosforge understands, and which of them it enters and removes. Look here when the
finding `line-not-understood` names a line of yours, or before you let a device be changed: what is not on this page
stays as it is.
"""

_NOTATION = """\
## How to read it
- `+` before a line: a change may enter or remove it. The others are read only.
- `<1-100>`: a whole number in this range. One out of it is not understood.
- `WORD`, `DSCP`, `REST` and other words in capitals: a value, such as a name, a code point, or all that follows.
- `HOSTS`: `any`, `host ADDRESS`, or an address and its wildcard; `HOSTS6`: `any`, `host ADDRESS6` or `PREFIX6`.
- `L4_PORTS`: ports of TCP or UDP, `{eq L4_PORT|range L4_PORT L4_PORT|gt L4_PORT|lt L4_PORT}`.
- `ACTION`, `PORT_RANGE`, `SETTING`: one of several forms, said below the lines that have it.
- `[…]` may be left out, `{…|…}` is one of several, `×4` stands four times, `×1-8` one to eight times.
- *Kept as they are*: these lines are known, but a plan has no place for what they do. Import and push name them,
  and remove them only with an object that is ours as a whole.

The page is made of the command tables (`python -m qosforge.platforms.reference > docs/commands.md`).
"""

_ABBREVIATED = {
    "[eq L4_PORT|range L4_PORT L4_PORT|gt L4_PORT|lt L4_PORT]": "[L4_PORTS]",
    "{any|host ADDRESS|ADDRESS ADDRESS}": "HOSTS",
    "{any|host ADDRESS6|PREFIX6}": "HOSTS6",
}
"""What stands several times in one line of an access list, by its name in the notation."""

_CHOICE = re.compile(r"\{[^{}\[\]]{48,}\}")
"""So many words that a line which has them twice is not read any more."""

_FEW = 3
"""Forms that a sentence can name; more stand in lines of their own."""


def page() -> str:
    """The page as Markdown."""
    platforms = [platform(name) for name in sorted(installed())]
    sections = [line for described in platforms for line in _section(described)]
    return "\n".join((_INTRODUCTION, *map(_entry, platforms), "", _NOTATION, *sections))


def _heading(described: Platform) -> str:
    return f"{described.family.title} (`{described.id}`)"


def _entry(described: Platform) -> str:
    """A platform in the list at the head, with the address that the site gives its heading."""
    address = re.sub(r"[^a-z0-9_ -]", "", _heading(described).lower()).replace(" ", "-")
    return f"- [{described.family.title}](#{address})"


def _section(described: Platform) -> Iterator[str]:
    yield f"## {_heading(described)}\n"
    table = described.commands
    for mode, heading in _modes(table):
        lines = [line for line in table.lines if line.mode == mode]
        yield f"Below `{_below(heading)}`:\n" if heading else "At the top:\n"
        texts = list(dict.fromkeys(text for line in lines for text in _understood(line)))
        names = _choices(texts)
        yield from _block(_named(text, names) for text in texts)
        yield from (f"`{name}`: `{choice}`.\n" for choice, name in names.items())
        yield from _kept(tuple(dict.fromkeys(shown(text) for line in lines for text in line.also)))


def _block(lines: Iterator[str]) -> Iterator[str]:
    yield "```"
    yield from lines
    yield "```\n"


def _kept(texts: tuple[str, ...]) -> Iterator[str]:
    if len(texts) > _FEW:
        yield "Kept as they are:\n"
        yield from _block(f"  {text}" for text in texts)
    elif texts:
        yield f"Kept as they are: {', '.join(f'`{text}`' for text in texts)}.\n"


def _below(heading: str) -> str:
    return _named(heading, _choices([heading]))


def _choices(texts: list[str]) -> dict[str, str]:
    """The long choices that lines have more than once, each with the name that stands in its place."""
    counts = Counter(choice for text in texts for choice in _CHOICE.findall(text))
    names: dict[str, str] = {}
    for choice in (one for one, count in counts.items() if count > 1):
        name = "PORT_RANGE" if choice.startswith("{eq ") else "ACTION" if "transmit" in choice else "SETTING"
        number = sum(one.startswith(name) for one in names.values())
        names[choice] = f"{name}_{number + 1}" if number else name
    return names


def _named(text: str, names: Mapping[str, str]) -> str:
    for choice, name in names.items():
        text = text.replace(choice, name)
    return text


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
        yield f"{mark} {_abbreviated(shown(line.pattern))}{since}"
    if line.no:
        yield f"{mark} no {shown(line.no)}{since}"


def _abbreviated(text: str) -> str:
    for whole, name in _ABBREVIATED.items():
        text = text.replace(whole, name)
    return text


if __name__ == "__main__":
    sys.stdout.write(page())
