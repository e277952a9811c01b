"""What is reached from some things in any number of steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def reached(start: Iterable[T], refers: Callable[[T], Iterable[T]]) -> set[T]:
    """``start`` and all that it refers to, in any number of steps; ``refers`` gives those of one."""
    found: set[T] = set()
    waiting = list(start)
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting.extend(refers(one))
    return found
