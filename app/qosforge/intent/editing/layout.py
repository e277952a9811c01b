"""Lay out values as text the way a person does, and choose the places of new keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from qosforge.intent.editing.nodes import YamlNode
from qosforge.intent.editing.scalars import scalar
from qosforge.intent.includes import WrittenIntent
from qosforge.intent.problems import keys_at
from qosforge.intent.yaml_source import Path_

WIDTH = 118
"""Longest line that is written in braces."""
_LINE_EACH = frozenset({"applications", "classes", "children", "link_efficiency", "apply", "verify", "parameters"})
"""Collections with a line or more for every entry."""
_KEY_EACH = frozenset({"applications", "classes", "children"})
"""Lists whose entries have a line or more for every key."""
_SECTIONS = ("version", "intent", "description", "include", "parameters", "tolerance", "keep", "applications",
             "classes", "link_efficiency", "apply", "verify")  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """How deep a text indents: a mapping in a mapping by ``step``, the dashes of a list by ``dash``."""

    step: int = 2
    dash: int = 2

    @classmethod
    def of(cls, root: YamlNode) -> Layout:
        """The layout that a document has, as far as it shows one."""
        steps: list[int] = []
        dashes: list[int] = []
        found = [root]
        while found:
            node = found.pop()
            below = [value for _, value in node.entries]
            found.extend(below)
            if node.kind == "mapping" and not node.flow:
                lists = [value for value in below if value.kind == "sequence" and not value.flow]
                dashes.extend(value.column - node.column for value in lists if value.column >= node.column)
                mappings = [value for value in below if value.kind == "mapping" and not value.flow]
                steps.extend(value.column - node.column for value in mappings if value.column > node.column)
        return cls(steps[-1] if steps else 2, dashes[-1] if dashes else 2)

    def below(self, value: Any, column: int) -> int:
        """The column of a collection that stands below its key at ``column``."""
        return column + (self.dash if isinstance(value, list) else self.step)

    def lines(self, value: Any, path: Path_, column: int) -> str:
        """A collection that is not empty with a line or more for every entry; the first line is not indented."""
        if isinstance(value, list):
            entries = [f"- {self.entry(entry, (*path, at), column)}" for at, entry in enumerate(value)]
        else:
            entries = [self.pair(key, entry, (*path, key), column) for key, entry in value.items()]
        return ("\n" + " " * column).join(entries)

    def pair(self, key: str, value: Any, path: Path_, column: int) -> str:
        """A key with its value, at ``column``."""
        name = scalar(key, braces=False)
        if self.stands_inline(value, path, column + len(name) + 2):
            return f"{name}: {on_its_line(value)}"
        at = self.below(value, column)
        return f"{name}:\n{' ' * at}{self.lines(value, path, at)}"

    def entry(self, value: Any, path: Path_, column: int, braces: bool | None = None) -> str:
        """What stands behind a dash at ``column``; ``braces`` says what the neighbours have."""
        if braces is None:
            braces = len(path) < 2 or path[-2] not in _KEY_EACH
        if not isinstance(value, dict | list) or not value or (braces and _fits(value, column + 2)):
            return on_its_line(value)
        return self.lines(value, path, column + 2)

    def stands_inline(self, value: Any, path: Path_, column: int) -> bool:
        """Whether a value stands on the line of its key."""
        if not isinstance(value, dict | list) or not value:
            return True
        each = path[-1] in _LINE_EACH and (isinstance(value, list) or len(path) == 1)
        return not each and _fits(value, column)


def _fits(value: Any, column: int) -> bool:
    return column + len(flow(value)) <= WIDTH


def on_its_line(value: Any) -> str:
    """A value behind its key or dash: collections in braces and brackets."""
    return flow(value) if isinstance(value, dict | list) else scalar(value, braces=False)


def flow(value: Any) -> str:
    """A value on one line, collections in braces and brackets."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(key)}: {flow(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value)


def place_of_key(path: Path_, keys: Sequence[str], key: str) -> int:
    """The position of a new key in the mapping at ``path``: where the language's own order has it."""
    order = list(_SECTIONS) if not path else keys_at(WrittenIntent, path)
    if key not in order:
        return len(keys)
    before = order[: order.index(key)]
    follows = [position for position, known in enumerate(keys) if known in before]
    if follows:
        return follows[-1] + 1
    return 0 if keys and keys[0] in order else len(keys)
