"""Bounded YAML reading that remembers where every value stands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import StreamMark, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from qosforge.errors import InputError, InputErrors, Place
from qosforge.intent.plain_yaml import LONGEST_NUMBER, read_plain
from qosforge.intent.yaml_bounds import BoundExceeded, Most, over_bounds
from qosforge.units import shortened

MAX_BYTES = 1_000_000
MAX_DEPTH = 32
MAX_ALIASES = 32
MAX_NODES = 50_000

Path_ = tuple[str | int, ...]
Position = tuple[int, int]


@dataclass(frozen=True)
class Bounds:
    """How large a document may be, and how the same is said shorter."""

    bytes: int = MAX_BYTES
    values: int = MAX_NODES
    hint: str = "write ranges and prefixes instead of single values"


TEXT = Bounds()
"""Those of a text that somebody may hand in."""

_PLAIN = "tag:yaml.org,2002:"
_SCALARS = frozenset(_PLAIN + kind for kind in ("str", "int", "float", "bool", "null", "timestamp"))
_NUMBERS = frozenset(_PLAIN + kind for kind in ("int", "float"))


@dataclass(frozen=True)
class YamlDocument:
    """A parsed document: its data, and the line and column of every value and key by its path.

    ``parts`` are values that stand in another document, or elsewhere in this one: which one, and where there.
    """

    file: str
    data: Any
    marks: dict[Path_, Position] = field(default_factory=dict)
    keys: dict[Path_, Position] = field(default_factory=dict)
    text: str = ""
    parts: Mapping[Path_, tuple[YamlDocument, Path_]] = field(default_factory=dict)

    def place(self, path: Path_) -> Place:
        """The place of the value at ``path``, or of its nearest enclosing value."""
        home, own = self.home(path)
        for length in range(len(own), -1, -1):
            if own[:length] in home.marks:
                return home._place(home.marks[own[:length]], own)
        return Place(file=home.file, path=dotted(own))

    def key_place(self, path: Path_) -> Place:
        """The place of the key that names the value at ``path``; of the value where it has no key."""
        home, own = self.home(path)
        return home._place(home.keys[own], own) if own in home.keys else self.place(path)

    def home(self, path: Path_) -> tuple[YamlDocument, Path_]:
        """The document that the value at ``path`` stands in, and its path there."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.parts:
                home, own = self.parts[path[:length]]
                return home, (*own, *path[length:])
        return self, path

    def _place(self, position: Position, path: Path_) -> Place:
        return Place(file=self.file, line=position[0], column=position[1], path=dotted(path))


def dotted(path: Path_) -> str:
    """``classes[0].match`` from ``("classes", 0, "match")``."""
    text = ""
    for part in path:
        shown = (
            part if isinstance(part, int) else part if part.isprintable() and len(part) <= 60 else shortened(part)
        )
        text += f"[{part}]" if isinstance(part, int) else f".{shown}" if text else str(shown)
    return text


def read_document(path: Path, called: str | None = None, bounds: Bounds = TEXT) -> YamlDocument:
    """Read one YAML file within bounds; ``called`` is what messages call it instead of its path.

    Raises:
        InputError: missing, too large, not text, not YAML, empty, too deep, or too many aliases.
        InputErrors: keys given twice, values of unknown types or numbers too long to be any, all of them.
    """
    name = called or str(path)
    try:
        with path.open("rb") as stream:
            raw = stream.read(bounds.bytes + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", Place(file=name), "check the path") from None
    except ValueError:  # a NUL byte in the path
        raise InputError("cannot be read: not a path", Place(file=repr(name)), "check the path") from None
    if len(raw) > bounds.bytes:
        raise _too_large(name, bounds)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        place = Place(file=name, line=line, column=column)
        raise InputError(f"is not UTF-8 text (byte {error.start})", place, "is it a text file?") from None
    return parse_document(text, name, bounds)


def is_blank(text: str) -> bool:
    """Whether a YAML text says nothing: it has blank lines and comments alone."""
    lines = [line.strip() for line in text.removeprefix("\ufeff").splitlines()]
    return all(not line or line.startswith("#") for line in lines)


def parse_document(text: str, name: str, bounds: Bounds = TEXT) -> YamlDocument:
    """Parse YAML text within bounds.

    Raises:
        InputError: not YAML, empty, too deep, or too many aliases.
        InputErrors: keys given twice, values of unknown types or numbers too long to be any, all of them.
    """
    if len(text) > bounds.bytes:
        raise _too_large(name, bounds)
    plain = read_plain(text, _most(bounds))
    if isinstance(plain, BoundExceeded):
        raise _over(plain, name, bounds)
    if plain is not None:
        return YamlDocument(name, *plain, text)
    return _parsed(text, name, bounds)


def _parsed(text: str, name: str, bounds: Bounds = TEXT) -> YamlDocument:
    """The document, by the reader that tells what is wrong."""
    try:
        found = over_bounds(text, _most(bounds))
        if found is not None:
            raise _over(found, name, bounds)
        yaml = YAML(typ="safe", pure=True)
        yaml.composer.warn_double_anchors = False  # the language of YAML allows it: the last one counts
        node = yaml.compose(text)
    except (ValueError, OverflowError, LookupError):  # escapes of the scanner that name no character
        raise InputError(
            "is not YAML: an escape sequence names no character", Place(file=name), "remove it"
        ) from None
    except ReaderError as error:
        raise _bad_character(text, name, error) from None
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        problem = getattr(error, "problem", None) or "cannot be parsed"
        place = _at(name, mark) if mark else Place(file=name)
        raise InputError(f"is not YAML: {problem}", place, _hint(text, place)) from None
    if node is None:
        raise InputError(
            "is empty", Place(file=name, line=1, column=1), "see policies/ and inventories/ for examples"
        )
    building = _Building(name, bounds)
    data = building.value(node, ())
    if building.problems:
        raise InputErrors("not a usable document", Place(file=name), "", building.problems)
    return YamlDocument(name, data, building.marks, building.keys, text)


def _too_large(name: str, bounds: Bounds) -> InputError:
    return InputError(f"is larger than {bounds.bytes:,} bytes", Place(file=name), bounds.hint)


def _most(bounds: Bounds) -> Most:
    return Most(MAX_DEPTH, MAX_ALIASES, bounds.values)


def _over(exceeded: BoundExceeded, name: str, bounds: Bounds) -> InputError:
    place = Place(file=name, line=exceeded.line, column=exceeded.column)
    match exceeded.what:
        case "levels":
            return InputError(f"is nested deeper than {MAX_DEPTH} levels", place, "flatten it")
        case "aliases":
            return InputError(f"has more than {MAX_ALIASES} aliases", place, "write the values out")
        case "values":
            return InputError(f"has more than {bounds.values:,} values", place, bounds.hint)


def _bad_character(text: str, name: str, error: ReaderError) -> InputError:
    before = text[: error.position]
    place = Place(file=name, line=before.count("\n") + 1, column=len(before) - (before.rfind("\n") + 1) + 1)
    return InputError(f"is not text: character {error.character!r} is not allowed", place, "remove it")


def _hint(text: str, place: Place) -> str:
    lines = text.splitlines()
    line = lines[place.line - 1] if place.line and place.line <= len(lines) else ""
    if re.search(r"""[{\[,:]\s*\$\{""", line):
        return 'put a parameter inside braces or brackets in quotes: "${name}"'
    return "check indentation, quotes and brackets"


def _at(name: str, mark: StreamMark) -> Place:
    return Place(file=name, line=mark.line + 1, column=mark.column + 1)


class _Building:
    """One document being built: data as plain Python values, where they stand, and what is wrong with them."""

    def __init__(self, name: str, bounds: Bounds) -> None:
        self.name = name
        self._most = bounds.values
        self.marks: dict[Path_, Position] = {}
        self.keys: dict[Path_, Position] = {}
        self.problems: list[InputError] = []
        self._constructor = YAML(typ="safe", pure=True).constructor

    def value(self, node: Node, path: Path_) -> Any:
        place = _at(self.name, node.start_mark)
        # Aliases share nodes, so what they expand to is counted here, where it would grow.
        if len(self.marks) > self._most:
            raise InputError(f"expands to more than {self._most:,} values", place, "do not nest aliases in aliases")
        if len(path) > MAX_DEPTH:
            raise InputError(f"is nested deeper than {MAX_DEPTH} levels", place, "flatten it")
        self.marks[path] = (node.start_mark.line + 1, node.start_mark.column + 1)
        if isinstance(node, MappingNode) and node.tag == _PLAIN + "map":
            return self._mapping(node, path)
        if isinstance(node, SequenceNode) and node.tag == _PLAIN + "seq":
            return [self.value(child, (*path, i)) for i, child in enumerate(node.value)]
        if isinstance(node, ScalarNode) and node.tag in _SCALARS:
            if node.tag in _NUMBERS and len(node.value) > LONGEST_NUMBER:
                message = f"{shortened(node.value)} is a number of {len(node.value):,} characters"
                self._problem(message, place, f"write at most {LONGEST_NUMBER}, or quote it if it is meant as text")
                return None
            try:
                return self._constructor.construct_object(node)
            except (YAMLError, ValueError, LookupError, ArithmeticError, TypeError, AttributeError):
                kind = node.tag.removeprefix(_PLAIN)
                self._problem(f"{shortened(node.value)} is not a {kind}", place, "quote it if it is meant as text")
                return None
        self._problem(f"has a value of an unknown type ({str(node.tag)[:60]})", place, "use plain values")
        return None

    def _mapping(self, node: MappingNode, path: Path_) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            place = _at(self.name, key_node.start_mark)
            if not isinstance(key_node, ScalarNode):
                self._problem(
                    "has a key that is not text", place, "use plain words as keys, in quotes if they have brackets"
                )
                continue
            key = str(key_node.value)
            if key in result:
                self._problem(f"key {shortened(key)} is given twice", place, "keep one of them")
                continue
            self.keys[*path, key] = (key_node.start_mark.line + 1, key_node.start_mark.column + 1)
            result[key] = self.value(value_node, (*path, key))
        return result

    def _problem(self, message: str, place: Place, hint: str) -> None:
        self.problems.append(InputError(message, place, hint))
