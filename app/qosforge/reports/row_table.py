"""The rows of a finding as a table: of its columns those in which some row says something."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qosforge.findings import FindingRow
from qosforge.reports.grouped_findings import GroupRow

if TYPE_CHECKING:  # the command line loads this first of all
    from qosforge.reports.preview import FindingRowDocument

    Row = FindingRow | FindingRowDocument | GroupRow


@dataclass(frozen=True)
class RowTable:
    """The rows with their headings; every row has a cell for each heading."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def in_line(self) -> str:
        """The rows in a line where they say no more than where the finding stands, or are only one; else empty."""
        if len(self.rows) == 1:
            return ", ".join(cell for cell in self.rows[0] if cell)
        if not set(self.headings) <= _PLACES:
            return ""
        return ", ".join(" on ".join(cell for cell in row if cell) for row in self.rows)


def _where(row: Row) -> str:
    if isinstance(row, GroupRow):
        return ", ".join(row.places)
    return " ".join(part for part in (", ".join(row.interfaces), row.direction) if part)


_COLUMNS: dict[str, Callable[[Row], str]] = {
    "class": lambda row: row.traffic_class or "",
    "what": lambda row: row.text or "",
    "requested": lambda row: row.requested or "",
    "applied": lambda row: row.applied or "",
    "hint": lambda row: row.hint or "",
    "where": _where,
}
_PLACES = {"class", "where"}


def row_table(rows: Sequence[Row]) -> RowTable | None:
    """The table of some rows; ``None`` of none."""
    if not rows:
        return None
    cells = {heading: [cell(row) for row in rows] for heading, cell in _COLUMNS.items()}
    shown = tuple(heading for heading, column in cells.items() if any(column))
    return RowTable(shown, tuple(zip(*(cells[heading] for heading in shown), strict=True)))


def rows_in_words(rows: Sequence[Row]) -> str:
    """The rows in one line, for reports that have no place for a table; empty of none."""
    table = row_table(rows)
    if table is None:
        return ""
    return table.in_line or "; ".join(
        ", ".join(f"{heading} {cell}" for heading, cell in zip(table.headings, row, strict=True) if cell)
        for row in table.rows
    )
