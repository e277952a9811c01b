"""Check that a YAML text stays within bounds of depth, aliases and values, before it is loaded."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from ruamel.yaml import YAML, events

try:
    import yaml.events as fast_events
    from yaml.cyaml import CParser
    from yaml.error import YAMLError
except ImportError:  # PyYAML was built without libyaml
    CParser = None

_KINDS = (events,) if CParser is None else (events, fast_events)
_BEGIN = tuple(kind.CollectionStartEvent for kind in _KINDS)
_END = tuple(kind.CollectionEndEvent for kind in _KINDS)
_ALIAS = tuple(kind.AliasEvent for kind in _KINDS)
_NODE = tuple(kind.NodeEvent for kind in _KINDS)


@dataclass(frozen=True)
class Most:
    """How many levels, aliases and values (keys among them) a text may have."""

    levels: int
    aliases: int
    values: int


@dataclass(frozen=True)
class BoundExceeded:
    """What a text has too many of, and the line and column, from 1, of the first that is too many."""

    what: Literal["levels", "aliases", "values"]
    line: int
    column: int


def over_bounds(text: str, most: Most) -> BoundExceeded | None:
    """What the text has too many of; ``None``: nothing.

    libyaml counts first: a text that is large is refused some twenty times as fast. It knows the older YAML 1.1, so
    what it lets pass, or cannot read, is counted by the reader that the text is for.

    Raises:
        ruamel.yaml.error.YAMLError: the text is not YAML.
        ValueError, OverflowError, LookupError: an escape sequence names no character.
    """
    if CParser is not None:
        with contextlib.suppress(YAMLError, ValueError):
            found = over(fast_parse(text), most)
            if found is not None:
                return found
    return over(YAML(typ="safe", pure=True).parse(text), most)


def fast_parse(text: str) -> Iterator[Any]:
    """The events of a text, by libyaml.

    Raises:
        yaml.error.YAMLError: libyaml cannot read it.
    """
    parser = CParser(text)
    while parser.check_event():
        yield parser.get_event()


def over(found: Iterable[Any], most: Most) -> BoundExceeded | None:
    """What the events of a text have too many of; ``None``: nothing. No event is taken after the first one over."""
    levels = aliases = values = 0
    for event in found:
        if isinstance(event, _BEGIN):
            levels += 1
            if levels > most.levels:
                return over_at("levels", event)
        elif isinstance(event, _END):
            levels -= 1
        if isinstance(event, _ALIAS):
            aliases += 1
            if aliases > most.aliases:
                return over_at("aliases", event)
        if isinstance(event, _NODE):
            values += 1
            if values > most.values:
                return over_at("values", event)
    return None


def over_at(what: Literal["levels", "aliases", "values"], event: Any) -> BoundExceeded:
    """What there is too much of from an event of a text on."""
    return BoundExceeded(what, event.start_mark.line + 1, event.start_mark.column + 1)
