"""Operations on a configuration, in the order in which a device accepts them.

Order is decided by a graph of definitions and references: what is defined comes before what refers to it, what
loses its last reference goes after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from graphlib import TopologicalSorter
from itertools import groupby
from operator import itemgetter

from qosforge.configtree.reach import reached

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
    attachments: list[Operation] = field(default_factory=list)
    """What of these lines attaches, swaps or detaches something, each for one direction."""


def ordered_lines(
    operations: Iterable[Operation], references: References, targets: References, leave: str
) -> list[str]:
    """The lines of the operations, in an order the device accepts.

    ``references`` of the objects before them, ``targets`` after them; ``leave`` is the line that leaves a section
    where the device needs one.
    """
    parts = list(_parted(list(operations), references, targets, leave))
    graph: TopologicalSorter[int] = TopologicalSorter(_dependencies(parts, references, targets))
    lines: list[str] = []
    graph.prepare()
    while graph.is_active():
        ready = sorted(graph.get_ready())
        for index in ready:
            lines.extend(parts[index].lines)
        graph.done(*ready)
    return lines


def _reaching(references: References, goal: set[str]) -> Callable[[set[str]], set[str]]:
    """Gives what objects refer to, in any number of steps, as far as it stands in ``goal``; follows each once."""
    each = cache(lambda name: frozenset(reached({name}, lambda one: references.get(one, ())) & goal))
    return lambda objects: set[str]().union(*map(each, objects)) if goal else set()


def _parted(
    operations: list[Operation], references: References, targets: References, leave: str
) -> Iterator[Operation]:
    """The operations, less the attachments that cannot go with the rest of theirs, and these.

    A device refuses a change of a class that an attached policy cannot take: what leaves the class goes before the
    change, and what comes to it beside that, on the same interface, after it.
    """
    end = [" " + leave] if leave else []
    changed = set[str]().union(*(operation.changes for operation in operations))
    left, joined = _reaching(references, changed), _reaching(targets, changed)
    for operation in operations:
        parted = False
        for attachment in list(operation.attachments):
            others = [a for a in operation.attachments if a is not attachment]
            adds = (operation.adds - attachment.adds).union(*(a.adds for a in others))
            if not left(attachment.drops) & joined(adds):
                continue
            heading, *below = operation.lines
            yield Operation([heading, *attachment.lines, *end], adds=attachment.adds, drops=attachment.drops)
            operation.lines = [heading, *(line for line in below if line not in attachment.lines)]
            operation.adds = adds
            operation.drops = (operation.drops - attachment.drops).union(*(a.drops for a in others))
            operation.attachments = others
            parted = True
        if not parted or operation.lines[1:] != end:
            yield operation


def _dependencies(operations: list[Operation], references: References, targets: References) -> dict[int, set[int]]:
    """For each operation those that go before it; ``references`` before the transition, ``targets`` after it."""
    before: dict[int, set[int]] = {i: set() for i in range(len(operations))}
    for i, j in (
        *_meeting([o.creates for o in operations], [o.adds for o in operations]),
        *_meeting([o.drops for o in operations], [o.deletes for o in operations]),
    ):
        before[j].add(i)
    changes = [operation.changes for operation in operations]
    changed = set[str]().union(*changes)
    left = list(map(_reaching(references, changed), (operation.drops for operation in operations)))
    joined = list(map(_reaching(targets, changed), (operation.adds for operation in operations)))
    leaving = {(i, j) for i, j in _meeting(left, changes) if i not in before[j]}
    joining = {(i, j) for i, j in _meeting(changes, joined) if i not in before[j] and (i, j) not in leaving}
    # What leaves an object goes before the object becomes something that is not meant for it, and what comes to it
    # comes after. Where two objects exchange those that refer to them, that cannot be: one is met by the other's.
    for edges in (leaving, joining):
        for i, later in groupby(sorted(edges), key=itemgetter(0)):
            waited = reached({i}, before.__getitem__)
            for _, j in later:
                if j not in waited:
                    before[j].add(i)
    return before


def _meeting(first: Sequence[set[str]], second: Sequence[set[str]]) -> Iterator[tuple[int, int]]:
    """The positions of different sets, one of each, that have a name in common."""
    named: dict[str, list[int]] = {}
    for j, names in enumerate(second):
        for name in names:
            named.setdefault(name, []).append(j)
    for i, names in enumerate(first):
        for name in names:
            yield from ((i, j) for j in named.get(name, ()) if j != i)
