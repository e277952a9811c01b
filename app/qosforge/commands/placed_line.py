"""A line of a configuration where it stands, as rules about several lines look at it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from qosforge.commands.line import Line


@dataclass(eq=False)
class PlacedLine:
    """A line with its ``mode``, the line that it stands below, and its row of the table with the values it has.

    ``negated`` where it takes a setting back; ``managed`` where a rule of changes speaks of it; ``understood``
    where the table knows the line, or it is none of QoS.
    """

    text: str
    number: int
    mode: str
    above: PlacedLine | None
    row: Line | None
    values: Mapping[str, Any]
    managed: bool
    understood: bool
    negated: bool = False
    below: tuple[PlacedLine, ...] = field(default=(), repr=False)

    @property
    def id(self) -> str:
        """Which line of the table it is; empty for those that the table does not know, or that take one back."""
        return self.row.id if self.row is not None and self.understood and not self.negated else ""

    @property
    def path(self) -> tuple[str, ...]:
        """The headings above it, the outermost first."""
        return () if self.above is None else (*self.above.path, self.above.text)

    @property
    def within(self) -> tuple[str, ...]:
        """The objects that it stands in, the outermost first, however their headings are written."""
        if self.above is None:
            return ()
        named = f"{self.above.id} {self.above.name}" if self.above.id and self.above.name else self.above.text
        return (*self.above.within, named)

    @property
    def name(self) -> str:
        """The name of the object that it opens or refers to; empty where it has none."""
        return str(self.values.get("name", ""))

    def get(self, name: str, default: Any = None) -> Any:
        """The value of this name, or ``default`` where the line has none."""
        return self.values.get(name, default)

    def all(self, *ids: str) -> Iterator[PlacedLine]:
        """The lines right below that are one of these."""
        return select(self.below, *ids)

    def first(self, *ids: str) -> PlacedLine | None:
        """The first of the lines right below that is one of these."""
        return next(self.all(*ids), None)


def select(lines: Iterable[PlacedLine], *ids: str) -> Iterator[PlacedLine]:
    """The lines that are one of these."""
    return (line for line in lines if line.id in ids)


def walk(lines: Iterable[PlacedLine]) -> Iterator[PlacedLine]:
    """The lines and all below them, in the order of the text."""
    for line in lines:
        yield line
        if line.below:
            yield from walk(line.below)
