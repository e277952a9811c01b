"""Fast YAML reader for plain documents (libyaml), about ten times as fast as the reader with error positions.

Only texts are taken on which both readers agree: no tags, anchors, directives, escapes, block scalars or tabs. What
is not of this kind, or is wrong in any way, is left to the other reader, which has the words for it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import ScalarNode

from qosforge.intent.yaml_bounds import BoundExceeded, Most, over_at

try:
    from yaml.cyaml import CParser, CSafeLoader
    from yaml.error import YAMLError
    from yaml.events import (
        DocumentEndEvent,
        DocumentStartEvent,
        MappingEndEvent,
        MappingStartEvent,
        ScalarEvent,
        SequenceEndEvent,
        SequenceStartEvent,
        StreamEndEvent,
        StreamStartEvent,
    )
except ImportError:  # PyYAML was built without libyaml
    CParser = CSafeLoader = None

Path_ = tuple[str | int, ...]
Position = tuple[int, int]

_OTHER = re.compile(r"[\x00-\t\x0b\x0c\x0e-\x1f\x7f-\x9f\u2000-\u200f\u2028-\u202f\ud800-\U0010ffff&*!|>?\\@`]")
_OTHER_LINE = re.compile(r"\r(?!\n)|^%", re.MULTILINE)
"""What makes a text one of another kind: a character, found sooner by itself, or how a line begins or ends."""
LONGEST_NUMBER = 100
"""Characters of a number: no quantity needs more, and Python writes none of thousands of digits."""
_PLAIN = "tag:yaml.org,2002:"
_SCALARS = frozenset(_PLAIN + kind for kind in ("str", "int", "float", "bool", "null", "timestamp"))


class _Left(Exception):
    """The text is left to the other reader."""


class _TooMuch(Exception):
    """The text has too much of something."""

    def __init__(self, over: BoundExceeded) -> None:
        self.over = over


def read_plain(
    text: str, most: Most
) -> tuple[Any, dict[Path_, Position], dict[Path_, Position]] | BoundExceeded | None:
    """The data of a text, and the lines and columns of its values and keys; ``None``: it is for the other reader.

    ``most`` is what a text may have; of one that has more it is what there is too much of.
    """
    if CParser is None or _is_other(text):
        return None
    try:
        reading = _Reading(text, most)
        return reading.document(), reading.marks, reading.keys
    except _TooMuch as too_much:
        return too_much.over
    except (_Left, YAMLError):
        return None


def compose_plain(text: str) -> Any | None:
    """The nodes of a text with the marks where they begin and end; ``None``: it is for the other reader.

    The text must have been read by one of both: levels and values are not counted here.
    """
    if CParser is None or _is_other(text):
        return None
    try:
        return CSafeLoader(text).get_single_node()
    except YAMLError:
        return None


def _is_other(text: str) -> bool:
    if _OTHER.search(text) is not None:
        return True
    return ("%" in text or "\r" in text) and _OTHER_LINE.search(text) is not None


class _Reading:
    def __init__(self, text: str, most: Most) -> None:
        self._take = CParser(text).get_event
        self._levels = most.levels
        self._left = most.values
        self.marks: dict[Path_, Position] = {}
        self.keys: dict[Path_, Position] = {}

    def document(self) -> Any:
        self._expect(StreamStartEvent)
        self._expect(DocumentStartEvent)
        data = self._value(self._take(), ())
        self._expect(DocumentEndEvent)
        self._expect(StreamEndEvent)
        return data

    def _expect(self, kind: type[Any]) -> None:
        if not isinstance(self._take(), kind):
            raise _Left

    def _value(self, event: Any, path: Path_) -> Any:
        kind = type(event)
        if kind is not ScalarEvent and len(path) >= self._levels:
            raise _TooMuch(over_at("levels", event))
        self._left -= 1
        if self._left < 0:
            raise _TooMuch(over_at("values", event))
        mark = event.start_mark
        self.marks[path] = (mark.line + 1, mark.column + 1)
        if kind is ScalarEvent and (event.value or event.style):  # nothing at all stands where readers see it
            return event.value if event.style else _plain(event.value)
        if kind is SequenceStartEvent:
            entries: list[Any] = []
            while type(event := self._take()) is not SequenceEndEvent:
                entries.append(self._value(event, (*path, len(entries))))
            return entries
        if kind is not MappingStartEvent:
            raise _Left
        result: dict[str, Any] = {}
        while type(event := self._take()) is not MappingEndEvent:
            if type(event) is not ScalarEvent or not event.value or event.value in result:
                raise _Left
            self._left -= 1
            if self._left < 0:
                raise _TooMuch(over_at("values", event))
            below = (*path, event.value)
            mark = event.start_mark
            self.keys[below] = (mark.line + 1, mark.column + 1)
            result[event.value] = self._value(self._take(), below)
        return result


def _plain(text: str) -> Any:
    """What a scalar stands for; only short ones are remembered: long ones of many texts would fill the memory."""
    if text.isascii() and text.isdigit() and text[0] != "0" and len(text) <= LONGEST_NUMBER:
        return int(text)  # by all rules; where a zero leads, they differ
    return _scalar(text) if len(text) <= LONGEST_NUMBER else _scalar.__wrapped__(text)


@lru_cache(maxsize=4096)
def _scalar(text: str) -> Any:
    """What a scalar without quotes stands for, by the other reader's own rules (YAML 1.2)."""
    yaml = _rules()
    tag = yaml.resolver.resolve(ScalarNode, text, (True, False))
    if str(tag) == _PLAIN + "str":
        return text
    if str(tag) not in _SCALARS or len(text) > LONGEST_NUMBER:
        raise _Left
    try:
        return yaml.constructor.construct_object(ScalarNode(tag, text))
    except Exception:  # noqa: BLE001  the other reader tells what is wrong with it
        raise _Left from None
    finally:
        yaml.constructor.constructed_objects.clear()  # it keeps all that it makes until the end of a document


@lru_cache(maxsize=1)
def _rules() -> YAML:
    return YAML(typ="safe", pure=True)
