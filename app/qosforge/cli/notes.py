"""Notes on what of a network could not be taken as it is, as commands print them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from qosforge.cli.terminal import out
from qosforge.discovery.facts import Note


def print_notes(notes: Iterable[Note]) -> None:
    """Each note with what to do about it."""
    for note in notes:
        where = f"{note.device}: " if note.device else ""
        out.print(f"note  {note.topic.value}  {where}{note.message}", markup=False)
        if note.hint:
            out.print(f"      {note.hint}", markup=False)


def notes_json(notes: Iterable[Note]) -> list[dict[str, Any]]:
    """Notes as plain JSON."""
    return [{key: getattr(note, key) for key in ("topic", "device", "line", "message", "hint")} for note in notes]
