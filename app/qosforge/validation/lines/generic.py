"""Faults that follow from the command table alone: of one line, of two for one setting, of dangling references."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from itertools import takewhile

from qosforge.commands import CommandTable, Line, PlacedLine
from qosforge.commands.pattern import shown
from qosforge.commands.placed_line import walk
from qosforge.note import Reason, because
from qosforge.platforms.line_rules import Fault

_CLOSE = 0.75
"""How alike two words are, of which the one is taken for the other misspelt."""


def table_faults(
    table: CommandTable, lines: tuple[PlacedLine, ...], defined: frozenset[str] | None = None
) -> Iterator[Fault]:
    """Faults of lines; ``defined`` is what may be referred to, where that is more than the lines define."""
    known = defined_objects(lines) if defined is None else defined
    for line in walk(lines):
        if not line.understood and (line.above is None or line.above.understood):
            yield Fault(line, _why_unknown(table, line))
    yield from _twice(lines)
    yield from _undefined(table, lines, known)
    yield from _loops(lines)


def unread(table: CommandTable, rendered: Iterable[PlacedLine]) -> Iterator[Fault]:
    """Rendered lines that are read only as what plans have no place for: entries of lists of others."""
    for line in walk(rendered):
        if line.understood and "rest" in line.values:
            yield Fault(line, _why_unknown(table, line))


def misspelt(table: CommandTable, line: PlacedLine) -> str:
    """The form that the first word of a line was probably meant to be; empty where there is none."""
    word = line.text.removeprefix("no ").split(" ", 1)[0]
    firsts = sorted(table.first_words(line.mode))
    close = [first for first in firsts if sorted(first) == sorted(word)] or get_close_matches(
        word, firsts, 1, _CLOSE
    )
    return close[0] if close and word not in firsts else ""


def _why_unknown(table: CommandTable, line: PlacedLine) -> Reason:
    if wrong := table.wrong_value(line.text, line.mode):
        return because("value-out-of-range", reason=wrong)
    if meant := misspelt(table, line):
        return because("line-unknown", variant="misspelt", meant=meant)
    words = line.text.removeprefix("no ").split()
    near = max(table.phrases(line.mode), key=lambda phrase: _alike(words, phrase.split()), default="")
    if near and _alike(words, near.split()):
        return because("line-unknown", variant="form", form=shown(near))
    return because("line-unknown")


def _alike(words: list[str], phrase: list[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(words, phrase, strict=False)))


# -- two lines for one setting ---------------------------------------------------------------------------------
def _twice(lines: Iterable[PlacedLine]) -> Iterator[Fault]:
    held: dict[str, PlacedLine] = {}
    for line in lines:
        yield from _twice(line.below)
        change = line.row.change if line.row is not None and line.understood else None
        if change is None or change.listed or change.standing:
            continue
        try:
            key = f"{line.mode} {line.id} {change.key.format_map({'line': line.text, **line.values})}"
        except KeyError:
            continue
        first = held.setdefault(key, line)
        if first is line:
            continue
        if change.attaches:
            yield Fault(line, because("line-twice", variant="policies", first=first.text))
        elif change.owned or change.defines:
            yield Fault(line, because("line-twice", variant="object", first=first.text))
        elif first.text != line.text:
            yield Fault(line, because("line-twice", first=first.text))


# -- references ------------------------------------------------------------------------------------------------
def defined_objects(lines: Iterable[PlacedLine]) -> frozenset[str]:
    """The objects that lines define, those of others among them."""
    return frozenset(name for line in walk(lines) if (name := defines(line)))


def defines(line: PlacedLine) -> str:
    """The object that a line defines; empty for most."""
    if line.row is None:
        return ""
    template = line.row.defines or (line.row.change.defines if line.row.change else "")
    return _filled(template, line)


def refers(line: PlacedLine) -> tuple[str, ...]:
    """The objects that a line refers to."""
    change = line.row.change if line.row is not None else None
    return tuple(filter(None, (_filled(target, line) for target in change.refers))) if change else ()


def _undefined(table: CommandTable, lines: Iterable[PlacedLine], defined: frozenset[str]) -> Iterator[Fault]:
    kinds = {_kind(_template(line)) for line in table.lines if _template(line)}
    for line in walk(lines):
        for target in refers(line):
            kind, _, name = target.partition(" ")
            predefined = table.predefined.get(kind)
            if target in defined or kind not in kinds or (predefined and predefined.fullmatch(name)):
                continue
            others = [other for other in defined if other.endswith(f" {name}")] if name else []
            if others:
                yield Fault(
                    line, because("dangling-reference", variant="other", other=sorted(others)[0], target=target)
                )
            else:
                yield Fault(line, because("dangling-reference", target=target))


def unused(table: CommandTable, rendered: Iterable[PlacedLine], after: Iterable[PlacedLine]) -> Iterator[Fault]:
    """Objects that are rendered and that nothing of what the device comes to hold refers to, as lines can."""
    referred = {target for line in walk(after) for target in refers(line)}
    kinds = {_kind(target) for line in table.lines if line.change for target in line.change.refers}
    for line in rendered:
        change = line.row.change if line.row is not None else None
        name = defines(line)
        if name and change is not None and change.owned and name not in referred and _kind(name) in kinds:
            yield Fault(line, because("policy-unused"))


def _template(line: Line) -> str:
    return line.defines or (line.change.defines if line.change else "")


def _kind(target: str) -> str:
    return target.split(" ", maxsplit=1)[0]


def _loops(lines: Iterable[PlacedLine]) -> Iterator[Fault]:
    """The lines by which an object comes to refer to itself."""
    edges: dict[str, list[tuple[str, PlacedLine]]] = {}
    for top in lines:
        if name := defines(top):
            edges.setdefault(name, []).extend((target, line) for line in walk(top.below) for target in refers(line))
    for name, targets in edges.items():
        for target, line in targets:
            if name in _reached(target, edges):
                yield Fault(line, because("reference-loop", target=name))


def _reached(start: str, edges: dict[str, list[tuple[str, PlacedLine]]]) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(target for target, _ in edges.get(name, ()))
    return seen


def _filled(template: str, line: PlacedLine) -> str:
    try:
        return template.format_map({"line": line.text, **line.values})
    except KeyError:
        return ""
