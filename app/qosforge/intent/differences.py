"""Differences between two intents, in their text and in their meaning."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from qosforge.intent.models import Intent


@dataclass(frozen=True)
class PolicyChange:
    """One place where two intents differ; ``null`` on the side that says nothing there.

    ``path`` names entries of lists by their names where they have one: ``classes.voice.treatment.priority``.
    """

    path: str
    before: Any
    after: Any


def text_changes(before: str, after: str, before_label: str, after_label: str) -> str:
    """A unified diff; empty where both are the same."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), before_label, after_label
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def meant_changes(before: Intent, after: Intent) -> tuple[PolicyChange, ...]:
    """Where the canonical forms differ; what is written in another way and means the same is no difference."""
    sides = (intent.model_dump(mode="json", by_alias=True, exclude_defaults=True) for intent in (before, after))
    return tuple(_changes("", *sides))


def _changes(path: str, before: Any, after: Any) -> Iterator[PolicyChange]:
    if before == after:
        return
    old, new = _named(before), _named(after)
    if old is None or new is None:
        yield PolicyChange(path, before, after)
        return
    for name in dict.fromkeys((*old, *new)):
        yield from _changes(f"{path}.{name}" if path else name, old.get(name), new.get(name))
    common = [name for name in old if name in new]
    if isinstance(before, list) and common != [name for name in new if name in old]:
        # The order of classes is part of what they mean: an earlier one is asked first.
        yield PolicyChange(f"{path} (order)", list(old), list(new))


def _named(value: Any) -> dict[str, Any] | None:
    """The parts of a value by names; ``None`` where it has no such parts."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list) and all(isinstance(entry, dict) and "name" in entry for entry in value):
        named = {str(entry["name"]): entry for entry in value}
        return named if len(named) == len(value) else None
    return None
