"""Clean what a device prints to a configuration that only changes when the device does."""

from __future__ import annotations

import re
from collections.abc import Iterable

# A line that stands alone and therefore never continues the one before it.
_ALONE = {"no", "default", "interface", "router", "exit"}


def strip_volatile(text: str, volatile: Iterable[re.Pattern[str]]) -> str:
    """Drop the lines that match one of ``volatile`` from their first character, and blanks around the text."""
    patterns = tuple(volatile)
    kept = [line for line in text.split("\n") if not any(pattern.match(line) for pattern in patterns)]
    return "\n".join(line.rstrip() for line in kept).strip()


def commands_only(text: str) -> list[str]:
    """The lines that configure something: no comments, no blank lines, no ``end``, no trailing blanks."""
    lines = (line.rstrip() for line in text.split("\n"))
    return [line for line in lines if line and not line.startswith("!") and line != "end"]


def unwrap(text: str, width: int) -> str:
    """Join the lines a device broke at ``width`` columns (it may leave the last column empty).

    A full line is joined with the next unless that one begins with the same word, is a comment, or is
    a lone keyword: those begin commands of their own. Blanks at the break belong to the line and stay.
    """
    joined: list[list[str]] = []  # the physical lines of each logical one
    for line in text.split("\n"):
        if joined and len(joined[-1][-1]) in (width - 1, width) and _continues(joined[-1][0], line):
            joined[-1].append(line)
        else:
            joined.append([line])
    return "\n".join("".join(pieces) for pieces in joined)


def _continues(before: str, line: str) -> bool:
    words = line.split()
    if not words or line.startswith("!") or before.startswith("!") or (len(words) == 1 and words[0] in _ALONE):
        return False
    return before.split()[:1] != words[:1]
