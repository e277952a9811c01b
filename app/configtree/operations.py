"""Operations on a configuration, and the order in which a box accepts them.

Order is decided by a graph of definitions and references: what is defined comes before what refers to it, what
loses its last reference goes after.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import TopologicalSorter

References = Mapping[str, set[str]]
"""What each object refers to, itself or below it."""


@dataclass
class Operation:
    """Lines that are entered together, and what they define, change, drop and refer to."""

    lines: list[str] = field(default_factory=list)
    creates: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    deletes: set[str] = field(default_factory=set)
    adds: set[str] = field(default_factory=set)
    drops: set[str] = field(default_factory=set)
    detaching: list[str] = field(default_factory=list)
    """Of the lines those that detach something for which nothing else is attached there."""
    detached: set[str] = field(default_factory=set)
    """What they let go."""


def ordered_lines(
    operations: Iterable[Operation], references: References, wanted: References, leave: str
) -> list[str]:
    """The lines of the operations, in an order the box accepts.

    ``references`` of the objects before them, ``wanted`` after them; ``leave`` is the line that leaves a section
    where the box needs one.
    """
    parts = list(_detached_apart(list(operations), references, leave))
    graph: TopologicalSorter[int] = TopologicalSorter(_dependencies(parts, references, wanted))
    lines: list[str] = []
    graph.prepare()
    while graph.is_active():
        ready = sorted(graph.get_ready())
        for index in ready:
            lines.extend(parts[index].lines)
        graph.done(*ready)
    return lines


def _reached(objects: set[str], references: References) -> set[str]:
    """Objects, what they refer to, and so on."""
    reached: set[str] = set()
    stack = list(objects)
    while stack:
        at = stack.pop()
        if at not in reached:
            reached.add(at)
            stack.extend(references.get(at, ()))
    return reached


def _detached_apart(operations: list[Operation], references: References, leave: str) -> Iterator[Operation]:
    """The operations; what one detaches is one of its own where an object in use through it changes.

    A box refuses a change of a class that an attached policy cannot take, and what is attached beside it has to
    wait for that very change.
    """
    end = [" " + leave] if leave else []
    changed = set[str]().union(*(operation.changes for operation in operations))
    for operation in operations:
        if operation.detaching and _reached(operation.detached, references) & changed:
            yield Operation(lines=[operation.lines[0], *operation.detaching, *end], drops=operation.detached)
            operation.lines = [line for line in operation.lines if line not in operation.detaching]
            operation.drops -= operation.detached
            if operation.lines[1:] == end:
                continue
        yield operation


def _dependencies(operations: list[Operation], references: References, wanted: References) -> dict[int, set[int]]:
    """For each operation those that go before it; ``references`` before the transition, ``wanted`` after it."""
    before: dict[int, set[int]] = {i: set() for i in range(len(operations))}
    left = [_reached(operation.drops, references) for operation in operations]
    joined = [_reached(operation.adds, wanted) for operation in operations]
    leaving, joining = [], []
    for i, first in enumerate(operations):
        for j, second in enumerate(operations):
            if i == j:
                continue
            if first.creates & second.adds or first.drops & second.deletes:
                before[j].add(i)
            elif left[i] & second.changes:
                leaving.append((i, j))
            elif first.changes & joined[j]:
                joining.append((i, j))
    # What leaves an object goes before the object becomes something that is not meant for it, and what comes to it
    # comes after. Where two objects exchange those that refer to them, that cannot be: one is met by the other's.
    for i, j in (*leaving, *joining):
        if not _waits(before, i, j):
            before[j].add(i)
    return before


def _waits(before: dict[int, set[int]], index: int, other: int) -> bool:
    """Whether an operation goes, in any number of steps, behind another one."""
    seen: set[int] = set()
    stack = [index]
    while stack:
        at = stack.pop()
        if at == other:
            return True
        if at not in seen:
            seen.add(at)
            stack.extend(before[at])
    return False
