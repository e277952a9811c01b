"""Rules about the lines of a configuration: what a device refuses, or takes otherwise than it was meant.

A single line is checked by its row of the command table. What relates several lines, or depends on the image, is a
`LineRule` of the platform.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from qosforge.commands import PlacedLine
from qosforge.commands.placed_line import walk
from qosforge.note import Reason, because


class Fault(NamedTuple):
    """A line, and why it is wrong; ``port`` where the line says so, and not the heading above it."""

    line: PlacedLine
    reason: Reason
    port: str = ""


@dataclass(frozen=True, eq=False)
class ConfigurationLines:
    """The lines of a configuration at the top, with what an inventory says of the device.

    ``whole`` where they are all that the device holds, and not those of ours alone.
    """

    lines: tuple[PlacedLine, ...]
    image: str
    features: frozenset[str] = frozenset()
    whole: bool = True

    @cached_property
    def everywhere(self) -> tuple[PlacedLine, ...]:
        """All lines, in the order of the text."""
        return tuple(walk(self.lines))

    @cached_property
    def _by_id(self) -> dict[str, list[PlacedLine]]:
        found: dict[str, list[PlacedLine]] = {}
        for line in self.everywhere:
            found.setdefault(line.id, []).append(line)
        return found

    def all(self, *ids: str) -> Iterator[PlacedLine]:
        """The lines anywhere that are one of these."""
        return (line for one in ids for line in self._by_id.get(one, ()))

    def named(self, *ids: str) -> dict[str, PlacedLine]:
        """The objects that these lines open, by name; of several with one name the last."""
        return {line.name: line for line in self.all(*ids)}


LineRule = Callable[[ConfigurationLines], Iterable[Fault]]


def sum_above(what: str, line: PlacedLine, total: float, limit: float, unit: str) -> Fault:
    """Numbers that are more together than there is; ``line`` is the one with which they are."""
    return Fault(line, because("sum-exceeded", what=what, total=total, limit=limit, unit=unit))


def out_of_range(line: PlacedLine, reason: str) -> Fault:
    """A number that this device does not take, whatever others of its kind do."""
    return Fault(line, because("value-out-of-range", reason=reason))


def not_together(line: PlacedLine, other: str, why: str) -> Fault:
    """A line that a device does not take beside another one, or not without it."""
    return Fault(line, because("lines-exclusive", other=other, why=why))


def reversed_pair(line: PlacedLine, first: float, second: float) -> Fault:
    """Two numbers of which the second may not be the smaller."""
    return Fault(line, because("bounds-reversed", first=first, second=second))


def too_many(what: str, lines: Iterable[PlacedLine], limit: int, source: str) -> Iterator[Fault]:
    """The first of several lines that a device has no room for."""
    several = tuple(lines)
    if len(several) > limit:
        yield Fault(
            several[limit], because("limit-exceeded", what=what, count=len(several), limit=limit, source=source)
        )
