"""A configuration as its table reads it: an entry with typed values for each line, and what was not understood."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from qosforge.configtree import ConfigLine, Tree
from qosforge.plan.unknown_line import UnknownLine


@dataclass(frozen=True)
class ReadLine:
    """A line that was understood: which one of the table it is, its named values, and the entries below it."""

    id: str
    values: Mapping[str, Any]
    line: ConfigLine
    below: tuple[ReadLine, ...] = ()
    negated: bool = False

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def get(self, name: str, default: Any = None) -> Any:
        """The value of this name, or ``default`` where the line has none."""
        return self.values.get(name, default)

    @property
    def name(self) -> str:
        """The name of the object that the line opens or refers to."""
        return str(self.values["name"])

    @property
    def settings(self) -> dict[str, Any]:
        """The values of all lines below in one; what is said twice holds as said last."""
        return {name: value for entry in self.below for name, value in entry.values.items()}


@dataclass
class ReadConfiguration:
    """The entries of one configuration, and the lines that were not understood.

    ``written`` are its lines as they were written, before they were spelt out.
    """

    tree: Tree
    written: Sequence[str] = ()
    entries: tuple[ReadLine, ...] = ()
    _unknown: dict[UnknownLine, None] = field(default_factory=dict)

    def all(self, *ids: str) -> Iterator[ReadLine]:
        """The entries at the top that are one of these lines."""
        return (entry for entry in self.entries if entry.id in ids)

    def objects(self, *ids: str) -> dict[str, ReadLine]:
        """The objects that these lines open, by name; of several with one name the last."""
        return {entry.name: entry for entry in self.all(*ids)}

    def miss(self, line: ConfigLine | ReadLine, context: str = "", undefined: str | None = None) -> None:
        """Keep a line that is not understood after all; ``undefined`` is what it refers to in vain."""
        kept = line.line if isinstance(line, ReadLine) else line
        self._unknown.setdefault(
            UnknownLine(line=kept.number, text=kept.text, context=context, undefined=undefined)
        )

    @property
    def unknown(self) -> tuple[UnknownLine, ...]:
        """What was not understood, as it was written and in the order of the text."""
        return tuple(
            entry.model_copy(update={"text": " ".join(self.written[entry.line - 1].split())})
            if self.written
            else entry
            for entry in sorted(self._unknown, key=lambda entry: entry.line)
        )
