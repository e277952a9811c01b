"""Differences of two policies in a form for people."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from qosforge.dscp import dscp_label
from qosforge.intent.differences import PolicyChange
from qosforge.units import format_rate, format_seconds

Sign = Literal["added", "removed", "kept", "place"]


@dataclass(frozen=True)
class ChangeText:
    """One place where two policies differ: the way to it, and what stands there on both sides (empty: nothing)."""

    place: tuple[str, ...]
    before: str
    after: str


@dataclass(frozen=True)
class DiffLine:
    """A line of a unified diff without its sign."""

    sign: Sign
    text: str


_CODE_POINTS = frozenset({"dscp", "remark"})
_CANONICAL = re.compile(r"([0-9.]+) (b/s|s)")
_SIGNS: dict[str, Sign] = {"+": "added", "-": "removed", "@": "place"}


def describe_change(change: PolicyChange) -> ChangeText:
    """A change as people read it."""
    place = tuple(change.path.split("."))
    return ChangeText(place, _value(change.before, place[-1]), _value(change.after, place[-1]))


def diff_lines(unified: str) -> Iterator[DiffLine]:
    """The lines of a unified diff behind its header, each with what its sign says."""
    for line in unified.splitlines()[2:]:
        sign = _SIGNS.get(line[:1], "kept")
        yield DiffLine(sign, line if sign == "place" else line[1:])


def _value(value: Any, key: str = "") -> str:
    """A value on one line as a person writes it; ``key`` is what it belongs to."""
    if value is None:
        return ""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_inner(entry, name)}" for name, entry in value.items())
    return ", ".join(_inner(entry, key) for entry in value) if isinstance(value, list) else _inner(value, key)


def _inner(value: Any, key: str) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_inner(entry, name)}" for name, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_inner(entry, key) for entry in value) + "]"
    if isinstance(value, int) and not isinstance(value, bool) and key in _CODE_POINTS:
        return dscp_label(value)
    return _quantity(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _quantity(value: str) -> str:
    """The canonical form has rates in b/s and times in s."""
    found = _CANONICAL.fullmatch(value)
    if found is None:
        return value
    return format_rate(float(found[1])) if found[2] == "b/s" else format_seconds(float(found[1]))
