"""What changes in a configuration beside the lines of ours that are meant to change it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from qosforge.commands import CommandTable, PlacedLine
from qosforge.commands.placed_line import walk
from qosforge.note import because
from qosforge.platforms.line_rules import Fault
from qosforge.validation.lines.generic import misspelt

_Within = tuple[str, ...]


def smuggled(table: CommandTable, rendered: Iterable[PlacedLine]) -> Iterator[Fault]:
    """Lines of rendered text that are none of quality of service."""
    for line in walk(rendered):
        if not line.managed and line.understood and (line.above is None or line.above.managed):
            yield _added(table, line)


def changed_outside(
    table: CommandTable, before: Iterable[PlacedLine], after: Iterable[PlacedLine], rendered: Iterable[PlacedLine]
) -> Iterator[Fault]:
    """Lines of others that differ before and after, and lines of ours that differ without being rendered."""
    held, coming, ours = _by_object(before), _by_object(after), _by_object(rendered)
    for path, lines in coming.items():
        left = Counter(line.text for line in held.get(path, ()))
        for line in lines:
            if left[line.text]:
                left[line.text] -= 1
            elif not line.managed and line.understood:
                yield _added(table, line)
            elif not any(other.text == line.text for other in ours.get(path, ())):
                yield Fault(line, because("foreign-line", variant="not-rendered"))
    touched = {_setting(line) for lines in ours.values() for line in lines if not line.path}
    touched |= {_table(line) for lines in ours.values() for line in lines} - {""}
    for path, lines in held.items():
        left = Counter(line.text for line in coming.get(path, ()))
        for line in lines:
            if left[line.text]:
                left[line.text] -= 1
            elif (line.above is not None and path not in coming) or (
                line.managed and ({_setting(_top(line)), _table(line)} & touched)
            ):
                continue  # what stands above it is gone, or something of ours took its place
            else:
                yield Fault(line, because("foreign-line", variant="removed"))
    yield from _moved(held, coming)


def _moved(held: dict[_Within, list[PlacedLine]], coming: dict[_Within, list[PlacedLine]]) -> Iterator[Fault]:
    """Lists of others whose lines stand in another order."""
    for path, lines in held.items():
        before = [line.text for line in lines if not line.managed]
        after = [line for line in coming.get(path, ()) if not line.managed]
        if path and Counter(before) == Counter(line.text for line in after):
            moved = (line for line, text in zip(after, before, strict=True) if line.text != text)
            yield from (Fault(line, because("foreign-line", variant="moved")) for line in list(moved)[:1])


def _added(table: CommandTable, line: PlacedLine) -> Fault:
    if meant := misspelt(table, line):
        return Fault(line, because("line-unknown", variant="misspelt", meant=meant))
    return Fault(line, because("foreign-line"))


def _by_object(lines: Iterable[PlacedLine]) -> dict[_Within, list[PlacedLine]]:
    found: dict[_Within, list[PlacedLine]] = {}
    for line in walk(lines):
        if line.number:  # else the table itself put it there
            found.setdefault(line.within, []).append(line)
    return found


def _top(line: PlacedLine) -> PlacedLine:
    return line if line.above is None else _top(line.above)


def _setting(line: PlacedLine) -> str:
    """Which setting or object of the device a line at the top is, or takes back."""
    row = line.row
    if row is None or row.change is None:
        return line.text
    try:
        return f"{row.id} {row.change.key.format_map({'line': line.text, **line.values})}"
    except KeyError:
        return line.text


def _table(line: PlacedLine) -> str:
    """The table of which a line is a row."""
    change = line.row.change if line.row is not None else None
    try:
        return change.group.format_map(line.values) if change else ""
    except KeyError:
        return ""
