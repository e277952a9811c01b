"""Read documents that an earlier release recorded, with the keys of this one."""

from __future__ import annotations

from typing import Any

_NOW = {"mend": "hint", "asked": "requested", "will_be": "applied"}
"""Keys of findings, verdicts and changes as they were once recorded, and what they are called now."""


def in_present_words(document: Any) -> Any:
    """A recorded document with today's keys, at every depth; one of this release is the same."""
    match document:
        case dict():
            return {_NOW.get(key, key): in_present_words(value) for key, value in document.items()}
        case list():
            return [in_present_words(entry) for entry in document]
        case _:
            return document
