"""What a change means for the data, and the single steps that make it."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from qosforge.intent.editing.changes import Change, Insert, Move, Remove, Set, refused
from qosforge.intent.yaml_source import Path_, YamlDocument

_THINGS = frozenset({"applications", "classes", "children", "link_efficiency", "apply", "verify"})
"""Lists whose entries stay where nothing is left in them."""
_SAYING = frozenset({"priority", "wred"})
"""Mappings that say something where nothing is in them."""
_REQUIRED = frozenset({("classes",), ("apply",)})


@dataclass(frozen=True)
class Put:
    """Write another value where one stands."""

    path: Path_
    value: Any


@dataclass(frozen=True)
class NewKey:
    """Write a new key of the mapping at ``path``."""

    path: Path_
    key: str
    value: Any


@dataclass(frozen=True)
class NewEntry:
    """Write a new entry of the list at ``path``, which has entries."""

    path: Path_
    at: int
    value: Any


@dataclass(frozen=True)
class Drop:
    """Take away the key or entry at ``path``; where it was the only one, an empty collection is left."""

    path: Path_


Step = Put | NewKey | NewEntry | Drop | Move


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal and of one type: ``1``, ``1.0`` and ``true`` are told apart."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other or repr(one) == repr(other)  # .nan is nothing else


def apply_change(document: YamlDocument, change: Change) -> tuple[Any, list[Step]]:
    """The data after a change, and the steps that make it in the text.

    Raises:
        NotEditable: the path is not there, or what is there has no such parts.
    """
    data = deepcopy(document.data)
    if isinstance(change, Set):
        return _set(document, data, change)
    if isinstance(change, Insert):
        return _insert(document, data, change)
    if isinstance(change, Remove):
        return _remove(document, data, change.path)
    return _move(document, data, change)


def _set(document: YamlDocument, data: Any, change: Set) -> tuple[Any, list[Step]]:
    path, value = change.path, deepcopy(change.value)
    if not path:
        return value, list(_differing(path, data, value))
    here, depth = data, 0
    while depth < len(path) - 1 and isinstance(below := _look_up(here, path[depth]), dict | list):
        here, depth = below, depth + 1
    part, made = path[depth], path[depth + 1 :]
    before = _look_up(here, part)
    if made and before is not None and not isinstance(before, bool):
        raise refused(f"has no part {made[0]!r}", document.place(path[: depth + 1]))
    if isinstance(here, list) and before is None:
        _existing(document, here, (part,), path[:depth])
    elif not isinstance(here, list) and not (isinstance(here, dict) and isinstance(part, str)):
        raise refused(f"has no part {part!r}", document.place(path[:depth]))
    for key in reversed(made):
        if not isinstance(key, str):
            raise refused(f"has no entry {key}", document.place(path[: depth + 1]))
        value = {key: value}
    new = isinstance(here, dict) and part not in here
    here[part] = value
    if new:
        return data, [NewKey(path[:depth], str(part), value)]
    return data, list(_differing(path[: depth + 1], before, value))


def _insert(document: YamlDocument, data: Any, change: Insert) -> tuple[Any, list[Step]]:
    found = data
    for part in change.path:
        found = _look_up(found, part)
    entries = found if isinstance(found, list) else [] if found is None or isinstance(found, bool) else [found]
    if not 0 <= change.at <= len(entries):
        message = f"has no position {change.at}: there are {len(entries)} entries"
        raise refused(message, document.place(change.path))
    if isinstance(found, list) and found:
        found.insert(change.at, deepcopy(change.value))
        return data, [NewEntry(change.path, change.at, change.value)]
    return _set(document, data, Set(change.path, [*entries[: change.at], change.value, *entries[change.at :]]))


def _move(document: YamlDocument, data: Any, move: Move) -> tuple[Any, list[Step]]:
    entries = _existing(document, data, move.path)
    if not isinstance(entries, list):
        raise refused("is no list", document.place(move.path))
    if not (0 <= move.source < len(entries) and 0 <= move.target < len(entries)):
        message = f"has no positions {move.source} and {move.target}: there are {len(entries)} entries"
        raise refused(message, document.place(move.path))
    entries.insert(move.target, entries.pop(move.source))
    return data, [move] if move.source != move.target else []


def _remove(document: YamlDocument, data: Any, path: Path_) -> tuple[Any, list[Step]]:
    if not path:
        raise refused("is the whole policy", document.place(()))
    _existing(document, data, path)
    while len(path) > 1 and len(_existing(document, data, path[:-1])) == 1 and not _stays(path[:-1]):
        path = path[:-1]
    del _existing(document, data, path[:-1])[path[-1]]
    return data, [Drop(path)]


def _stays(path: Path_) -> bool:
    """Whether an empty collection at this path is kept."""
    if path in _REQUIRED:
        return True
    if isinstance(path[-1], int):
        return len(path) > 1 and path[-2] in _THINGS
    return path[-1] in _SAYING


def _look_up(data: Any, part: str | int) -> Any:
    """A part of a value, ``None`` where there is none."""
    if isinstance(data, dict):
        return data.get(part)
    if isinstance(data, list) and isinstance(part, int) and 0 <= part < len(data):
        return data[part]
    return None


def _existing(document: YamlDocument, data: Any, path: Path_, base: Path_ = ()) -> Any:
    """The value at a path that must be there; ``base`` is where the data itself stands."""
    for length, part in enumerate(path):
        there = (isinstance(data, dict) and part in data) or (
            isinstance(data, list) and isinstance(part, int) and 0 <= part < len(data)
        )
        if not there:
            raise refused(f"has no part {part!r}", document.place((*base, *path[:length])))
        data = data[part]
    return data


def _differing(path: Path_, before: Any, after: Any) -> Iterator[Step]:
    """The steps from one value to another; what both have in common is not touched."""
    if same(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() & after.keys():
        for key in before:
            if key in after:
                yield from _differing((*path, key), before[key], after[key])
        for key, value in after.items():
            if key not in before:
                yield NewKey(path, key, value)
        for key in before:
            if key not in after:
                yield Drop((*path, key))
    elif isinstance(before, list) and isinstance(after, list) and before and after:
        yield from _entries(path, before, after)
    else:
        yield Put(path, after)


def _entries(path: Path_, before: list[Any], after: list[Any]) -> Iterator[Step]:
    shorter = min(len(before), len(after))
    head = next((n for n in range(shorter) if not same(before[n], after[n])), shorter)
    tail = next((n for n in range(shorter - head) if not same(before[-1 - n], after[-1 - n])), shorter - head)
    for at in range(head, shorter - tail):
        yield from _differing((*path, at), before[at], after[at])
    for at in range(shorter - tail, len(after) - tail):
        yield NewEntry(path, at, after[at])
    for at in reversed(range(shorter - tail, len(before) - tail)):
        yield Drop((*path, at))
