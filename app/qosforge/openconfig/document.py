"""Read a JSON document by consuming it, so that what remains at the end was not read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from qosforge.errors import InputError, Place

LONGEST_NUMBER = 20
"""Digits of the largest 64-bit number."""


@dataclass
class JsonNode:
    """A container or list entry at ``path``; ``problems`` is shared by the whole document."""

    file: str
    path: str
    members: dict[str, Any]
    problems: list[InputError] = field(default_factory=list)

    def wrong(self, name: str, message: str, hint: str = "") -> None:
        """Note a problem of a member (or of the node itself, where the name is empty)."""
        path = f"{self.path}/{name}" if name else self.path
        self.problems.append(InputError(message, Place(file=self.file, path=path), hint))

    def _pop(self, name: str) -> Any:
        return self.members.pop(name, None)

    def has(self, name: str) -> bool:
        """Whether a member is there and not yet taken."""
        return name in self.members

    def child(self, name: str) -> JsonNode:
        """The container of this name; an empty one where there is none."""
        value = self.members.get(name)
        if value is not None and not isinstance(value, dict):
            self.wrong(name, f"{_short(value)} is not a container")
            self._pop(name)
            value = None
        return JsonNode(self.file, f"{self.path}/{name}", value if value is not None else {}, self.problems)

    def entries(self, name: str, key: str) -> list[tuple[str, JsonNode]]:
        """The entries of a list with their keys, as text; the key and its copy under ``config`` are taken."""
        rows = self.members.get(name)
        if rows is None:
            return []
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            self.wrong(name, f"{_short(rows)} is not a list of entries")
            self._pop(name)
            return []
        found: dict[str, JsonNode] = {}
        for row in rows:
            value = row.pop(key, None)
            node = JsonNode(self.file, f"{self.path}/{name}[{value}]", row, self.problems)
            if isinstance(value, bool) or not isinstance(value, str | int):
                node.wrong(key, "the entry has no key", f"give it its {key}")
            elif str(value) in found:
                node.wrong(key, "the key is used twice", "rename one of the entries")
            else:
                found[str(value)] = node
                copy = node.child("config").members.pop(key, value)
                if copy != value:
                    node.wrong(f"config/{key}", f"{_short(copy)} is not the entry's key", f"write {value}")
        return list(found.items())

    def text(self, name: str) -> str | None:
        """A text leaf."""
        value = self._pop(name)
        if value is not None and not isinstance(value, str):
            self.wrong(name, f"{_short(value)} is not text")
            return None
        return value

    def flag(self, name: str) -> bool | None:
        """A boolean leaf."""
        value = self._pop(name)
        if value is not None and not isinstance(value, bool):
            self.wrong(name, f"{_short(value)} is neither true nor false")
            return None
        return value

    def number(self, name: str, last: int, first: int = 0) -> int | None:
        """A number leaf from ``first`` to ``last``; 64-bit numbers are text (RFC 7951, section 6.1)."""
        value = self._pop(name)
        return None if value is None else self.as_number(name, value, last, first)

    def as_number(self, name: str, value: Any, last: int, first: int = 0) -> int | None:
        """A value of a leaf as a number, or a problem."""
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= LONGEST_NUMBER:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not first <= value <= last:
            self.wrong(name, f"{_short(value)} is not a number from {first} to {last}")
            return None
        return value

    def numbers(self, name: str, last: int) -> tuple[int, ...]:
        """A list of number leaves, in order and none twice."""
        values = self._pop(name)
        if values is None:
            return ()
        if not isinstance(values, list):
            self.wrong(name, f"{_short(values)} is not a list")
            return ()
        read = [self.as_number(name, value, last) for value in values]
        return tuple(sorted({number for number in read if number is not None}))

    def any(self, name: str) -> Any:
        """A leaf of several types, as it stands."""
        return self._pop(name)

    def identity(self, name: str) -> str | None:
        """An identity or enumeration without its module's name."""
        value = self.text(name)
        return None if value is None else value.rpartition(":")[2]


def leftovers(value: Any, path: str) -> Iterator[str]:
    """Paths of the leaves that were not taken; operational state is none of a configuration's."""
    if isinstance(value, dict):
        for name, member in value.items():
            if name != "state":
                yield from leftovers(member, f"{path}/{name}")
    elif isinstance(value, list) and any(isinstance(row, dict | list) for row in value):
        for position, row in enumerate(value):
            yield from leftovers(row, f"{path}[{position}]")
    else:
        yield path


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
