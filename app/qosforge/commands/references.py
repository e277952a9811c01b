"""What of a configuration belongs to which object, what refers to it, and which lines take part in an interface."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from qosforge.commands.table import ELSEWHERE, NOTHING, CommandTable
from qosforge.configtree import ConfigLine, Tree
from qosforge.configtree.reach import reached

_SIDES = ("input", "output")


@dataclass
class _Object:
    """One object or place: the numbers of its lines, with the side that each takes part in (empty: both).

    ``refers`` are the objects that a line refers to; it has the lines alone that are entered and taken back.
    """

    heading: int
    lines: dict[int, str] = field(default_factory=dict)
    refers: dict[int, tuple[str, ...]] = field(default_factory=dict)


class References:
    """The objects of one configuration by their definitions, and what they refer to."""

    def __init__(self, table: CommandTable, tree: Tree) -> None:
        self._table = table
        self._objects: dict[str, list[_Object]] = {}
        self._places: dict[str, list[_Object]] = {}
        self._attached: dict[str, list[_Object]] = {}
        for line in tree:
            found = table.find(line.text, "")
            change = found[0].line.change if found else None
            made = _Object(line.number)
            self._add(made, line, "", "")
            if change is not None and change.defines and found is not None:
                self._objects.setdefault(_filled(change.defines, found[1]), []).append(made)
            elif change is not None and found is not None and (at := _filled(change.attaches, found[1])):
                self._attached.setdefault(at, []).append(made)
            elif line.text.startswith("interface "):
                name = found[1].get("name") if found else None
                self._places.setdefault(str(name or line.text.removeprefix("interface ")), []).append(made)

    def _add(self, made: _Object, line: ConfigLine, mode: str, side: str) -> None:
        found = self._table.find(line.text, mode)
        change = found[0].line.change if found else None
        if change is not None and found is not None:
            said = [word for word in line.text.split() if word in _SIDES]
            attached = _filled(change.attaches, found[1])
            own = attached if attached in _SIDES else _filled(change.side, found[1])
            side = own or (said[0] if said else side)
            made.refers[line.number] = tuple(_filled(text, found[1]) for text in change.refers)
        made.lines[line.number] = side
        opened = found[0].line.opens if found else ELSEWHERE if mode == "" else NOTHING
        for below in line.children:
            self._add(made, below, opened or NOTHING, side)

    def taking_part(self, interface: str, side: str) -> frozenset[int]:
        """The numbers of the lines that say what an interface does on a side, with those of what they refer to.

        Lines of the interface that nobody enters or takes back are not among them.
        """
        found: set[int] = set()
        for place in (*self._places.get(interface, ()), *self._attached.get(f"port {interface}", ())):
            attached = [number for number in place.refers if place.lines[number] in ("", side)]
            found.update(attached)
            found.update(self._reached(key for number in attached for key in place.refers.get(number, ())))
        return frozenset(found)

    def attached(self) -> frozenset[int]:
        """The numbers of the headings of all objects that anything on an interface refers to."""
        start = [
            key
            for places in (*self._places.values(), *self._attached.values())
            for p in places
            for keys in p.refers.values()
            for key in keys
        ]
        reached = self._reached(start)
        return frozenset(o.heading for several in self._objects.values() for o in several if o.heading in reached)

    def _reached(self, start: Iterable[str]) -> set[int]:
        return {
            number for key in reached(start, self._refers) for made in self._named(key) for number in made.lines
        }

    def _refers(self, key: str) -> Iterator[str]:
        return (further for made in self._named(key) for keys in made.refers.values() for further in keys)

    def _named(self, key: str) -> tuple[_Object, ...]:
        return (*self._objects.get(key, ()), *self._attached.get(key, ()))


def _filled(template: str, values: Mapping[str, object]) -> str:
    """A template of a `LineChange` with a line's values; empty where the line does not have them."""
    try:
        return template.format_map(values)
    except KeyError:
        return ""
