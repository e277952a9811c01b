"""Bounded YAML reading that remembers where every value stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import ConstructorError
from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, NodeEvent, ScalarEvent
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from app.errors import InputError, Place

MAX_BYTES = 1_000_000
MAX_DEPTH = 32
MAX_ALIASES = 32
MAX_NODES = 50_000

Path_ = tuple[str | int, ...]


@dataclass(frozen=True)
class Document:
    """A parsed document: its data, and the line and column of every value by its path."""

    file: str
    data: Any
    marks: dict[Path_, tuple[int, int]] = field(default_factory=dict)

    def place(self, path: Path_, label: str = "") -> Place:
        """The place of the value at ``path``, or of its nearest enclosing value."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.marks:
                line, column = self.marks[path[:length]]
                return Place(file=self.file, line=line, column=column, path=label or dotted(path))
        return Place(file=self.file, path=label or dotted(path))


def dotted(path: Path_) -> str:
    """``classes[0].match`` from ``("classes", 0, "match")``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def read_document(path: Path) -> Document:
    """Read one YAML file within the bounds of this module.

    Raises:
        InputError: missing, too large, not text, not YAML, empty, too deep, or too many aliases.
    """
    name = str(path)
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", Place(file=name), "check the path") from None
    if len(raw) > MAX_BYTES:
        raise InputError(f"is larger than {MAX_BYTES:,} bytes", Place(file=name), "an intent is a short text")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise InputError(
            f"is not UTF-8 text (byte {error.start})", Place(file=name, line=line), "is it a text file?"
        ) from None
    return parse_document(text, name)


def parse_document(text: str, name: str) -> Document:
    """Parse YAML text within the bounds of this module.

    Raises:
        InputError: not YAML, empty, too deep, or too many aliases.
    """
    if len(text) > MAX_BYTES:
        raise InputError(f"is larger than {MAX_BYTES:,} bytes", Place(file=name), "an intent is a short text")
    yaml = YAML(typ="safe", pure=True)
    try:
        _check_bounds(yaml, text, name)
        node = YAML(typ="safe", pure=True).compose(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "cannot be parsed"
        place = Place(file=name, line=mark.line + 1, column=mark.column + 1) if mark else Place(file=name)
        raise InputError(f"is not YAML: {problem}", place, "check indentation, quotes and brackets") from None
    if node is None:
        raise InputError("is empty", Place(file=name), "write an intent: see policies/ for examples")
    marks: dict[Path_, tuple[int, int]] = {}
    data = _construct(node, (), marks, name)
    return Document(name, data, marks)


def _check_bounds(yaml: YAML, text: str, name: str) -> None:
    depth = aliases = nodes = 0
    for event in yaml.parse(text):
        place = Place(file=name, line=event.start_mark.line + 1, column=event.start_mark.column + 1)
        if isinstance(event, CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise InputError(f"is nested deeper than {MAX_DEPTH} levels", place, "flatten it")
        elif isinstance(event, CollectionEndEvent):
            depth -= 1
        if isinstance(event, AliasEvent):
            aliases += 1
            if aliases > MAX_ALIASES:
                raise InputError(f"has more than {MAX_ALIASES} aliases", place, "write the values out")
        if isinstance(event, NodeEvent | ScalarEvent):
            nodes += 1
            if nodes > MAX_NODES:
                raise InputError(f"has more than {MAX_NODES:,} values", place, "an intent is a short text")


def _construct(node: Node, path: Path_, marks: dict[Path_, tuple[int, int]], name: str) -> Any:
    # Aliases share nodes, so what they expand to is counted here, where it would grow.
    if len(marks) > MAX_NODES:
        raise InputError(
            f"expands to more than {MAX_NODES:,} values", Place(file=name), "do not nest aliases in aliases"
        )
    if len(path) > MAX_DEPTH:
        raise InputError(f"is nested deeper than {MAX_DEPTH} levels", Place(file=name), "flatten it")
    marks[path] = (node.start_mark.line + 1, node.start_mark.column + 1)
    if isinstance(node, MappingNode):
        return _mapping(node, path, marks, name)
    if isinstance(node, SequenceNode):
        return [_construct(child, (*path, i), marks, name) for i, child in enumerate(node.value)]
    return _scalar(node, name)


def _mapping(node: MappingNode, path: Path_, marks: dict[Path_, tuple[int, int]], name: str) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key_node, value_node in node.value:
        place = Place(file=name, line=key_node.start_mark.line + 1, column=key_node.start_mark.column + 1)
        if not isinstance(key_node, ScalarNode):
            raise InputError("has a key that is not text", place, "use plain words as keys")
        key = str(key_node.value)
        if key in result:
            raise InputError(f"key {key!r} is given twice", place, "keep one of them")
        result[key] = _construct(value_node, (*path, key), marks, name)
    return result


def _scalar(node: Node, name: str) -> Any:
    constructor = YAML(typ="safe", pure=True).constructor
    try:
        return constructor.construct_object(node)
    except (ConstructorError, ValueError):
        place = Place(file=name, line=node.start_mark.line + 1, column=node.start_mark.column + 1)
        raise InputError(f"has a value of an unknown type ({node.tag})", place, "use plain values") from None
