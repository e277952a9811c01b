"""What is reached from some objects by what they refer to."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def reached(start: Iterable[str], refers: Callable[[str], Iterable[str]]) -> set[str]:
    """The names of ``start`` and all that they refer to, in any number of steps."""
    found: set[str] = set()
    waiting = list(start)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(refers(name))
    return found
