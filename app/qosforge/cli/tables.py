"""Tables that fit wherever they are printed: cells beside each other where there is room, else below each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.console import RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from qosforge.cli.terminal import UNBOUNDED, out


def print_table(table: Table, names: int = 1) -> None:
    """Print a table; where its words do not fit beside each other, stacked.

    The first ``names`` columns say what a row is about. A row that has nothing there goes on about the one above.
    """
    least = [_least_width(column) for column in table.columns]
    padding = sum(table.padding[1::2])
    if sum(least) + padding * len(least) <= out.width:
        for column, width in zip(table.columns, least, strict=True):
            column.min_width = width
        out.print(table)
        return
    if table.title:
        out.print(Text(str(table.title), style="bold"))
    for block in _stacked(table, names):
        out.print(block)


def _least_width(column: Column) -> int:
    """The width that breaks no word of a column, and no cell where it says so."""
    options = out.options.update(max_width=UNBOUNDED)
    measured = [Measurement.get(out, options, _text(cell)) for cell in (column.header, *column.cells)]
    return max(one.maximum if column.no_wrap else one.minimum for one in measured)


def _text(cell: RenderableType) -> Text:
    return cell.copy() if isinstance(cell, Text) else Text(str(cell))


def _stacked(table: Table, names: int) -> Iterator[RenderableType]:
    """A heading for what rows are about, and below it a line for each other column with the cells of these rows."""
    headings = [str(column.header) for column in table.columns]
    rows = list(zip(*([_text(cell) for cell in column.cells] for column in table.columns), strict=True))
    begins = [number for number, row in enumerate(rows) if any(cell.plain for cell in row[:names])]
    for first, end in pairwise([*begins, len(rows)]):
        yield Text(" · ").join(cell for cell in rows[first][:names] if cell.plain)
        yield from _beside(headings[names:], [row[names:] for row in rows[first:end]])


def _beside(headings: Sequence[str], rows: Sequence[Sequence[Text]]) -> Iterator[RenderableType]:
    """As many rows beside each other as fit, each as a column."""
    count = len(rows)
    while (
        count > 1
        and Measurement.get(out, out.options.update(max_width=UNBOUNDED), _turned(headings, rows[:count])).maximum
        > out.width
    ):
        count -= 1
    for start in range(0, len(rows), count):
        yield _turned(headings, rows[start : start + count])


def _turned(headings: Sequence[str], rows: Sequence[Sequence[Text]]) -> Padding:
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(style="dim", no_wrap=True)
    for _ in rows:
        table.add_column(overflow="fold")
    lines: list[tuple[str, list[Text]]] = []
    for heading, cells in zip(headings, zip(*rows, strict=True), strict=True):
        if heading or not lines:
            lines.append((heading, list(cells)))
        else:  # a column without a heading goes with the one to its left
            lines[-1] = (lines[-1][0], [_joined(*pair) for pair in zip(lines[-1][1], cells, strict=True)])
    for heading, joined in lines:
        if any(cell.plain for cell in joined):
            table.add_row(heading, *joined)
    return Padding(table, (0, 0, 0, 1), expand=False)


def _joined(left: Text, right: Text) -> Text:
    return Text("  ").join(cell for cell in (left, right) if cell.plain)
