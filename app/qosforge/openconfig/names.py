"""Unique names for the keys of a document: every queue and every policy has one of its own."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass, field

UNNAMED = "queue-"
"""How queues are called that have a number alone."""


def queue_key(number: int, name: str | None) -> str:
    """Name of a queue in the document."""
    return f"{UNNAMED}{number}" if name is None else name


def unique(name: str, used: Collection[str], suffix: str) -> str:
    """The name, with the suffix as often as it takes to differ from all others."""
    while name in used:
        name = f"{name}.{suffix}"
    return name


def queue_names(queues: Iterable[tuple[int, str | None]]) -> dict[tuple[int, str | None], str | None]:
    """Names that differ from each other, by number and the device's own name; a queue without one keeps none.

    Devices may have several queues of one name; of those all but the first get their number behind it.
    """
    pairs = list(dict.fromkeys(queues))
    result: dict[tuple[int, str | None], str | None] = {}
    for number, name in pairs:
        if name is None or name == queue_key(number, None):
            result[number, name] = None
    taken: set[str] = set()
    for number, name in pairs:
        if (number, name) in result or name is None:
            continue
        own = f"{name}.{number}" if re.fullmatch(rf"{UNNAMED}[0-9]+", name) else name
        own = unique(own, taken, str(number))
        taken.add(own)
        result[number, name] = own
    return result


@dataclass
class AssignedNames:
    """Names given to contents: the one wished for where it is free, the same content always under the same."""

    names: dict[tuple[str, Hashable], str] = field(default_factory=dict)

    def name(self, wished: str, content: Hashable) -> str:
        """The content's name."""
        known = self.names.get((wished, content))
        if known is None:
            known = unique(wished, self.names.values(), "2")
            self.names[wished, content] = known
        return known
