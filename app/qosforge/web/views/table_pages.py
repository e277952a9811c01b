"""A long table, a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

ROWS = 50
"""Rows of a page of a table."""

T = TypeVar("T")


@dataclass(frozen=True)
class TablePage(Generic[T]):
    """A page of a table: its rows, how many rows fit in all, and how many there are."""

    rows: Sequence[T]
    fitting: int
    all: int
    number: int

    @property
    def last(self) -> int:
        """The number of the last page."""
        return max(1, -(-self.fitting // ROWS))

    @property
    def first_row(self) -> int:
        """The number of the first row of the page; 0 where there is none."""
        return (self.number - 1) * ROWS + 1 if self.rows else 0

    @property
    def last_row(self) -> int:
        """The number of its last row."""
        return (self.number - 1) * ROWS + len(self.rows)


def table_page(found: Sequence[T], count: int, number: int) -> TablePage[T]:
    """Page ``number`` of what was found of ``count``; the last one where there are not so many."""
    at = min(number, max(1, -(-len(found) // ROWS)))
    return TablePage(found[(at - 1) * ROWS : at * ROWS], len(found), count, at)
