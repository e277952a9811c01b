"""The fluid model of a scheduler: long-run throughput of every class of a link-sharing tree, by what is offered.

Traffic is a fluid that can be divided at will, so that only shares, order of service and limits matter: generalised
processor sharing (Parekh and Gallager 1993) with its weighted max-min division, strict priority before it, and
link-sharing trees (Floyd and Jacobson 1995) by dividing what a class gets among its own classes. Packet schedulers
come within a few packets of it over any long time. Rates are of one unit throughout; bits per second here.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum


class Division(StrEnum):
    """How a class is divided among its own classes.

    ``WEIGHT``: weighted max-min, what one leaves goes to the others by weight. ``OFFERED``: in proportion to what
    is offered, as in one queue served in order of arrival. ``LEVEL``: by weight up to what the weights guarantee,
    and what is left by level: class-based queuing as ns-2 has it, and the kernel's HTB (rate, then by ``prio``).
    """

    WEIGHT = "weight"
    OFFERED = "offered"
    LEVEL = "level"


@dataclass(frozen=True, slots=True)
class FluidClass:
    """A class of a link-sharing tree.

    ``offered`` is the load of a leaf (infinite: always backlogged); that of a class with ``children`` is theirs.
    ``priority`` is its place in a strict order before all weighted classes (1 first; equal ones in order of
    arrival); of that, ``conforming`` is served first at most (a priority that is policed under congestion). What
    exceeds it gets at most what nobody else takes, and need not get any of it: see `policed`. ``ceiling`` is what
    it gets at most (bounded, shaped, policed).
    ``weight`` 0 is served after those that have one. ``level`` orders excess under ``Division.LEVEL`` (1 first).
    """

    name: str
    offered: float = 0.0
    weight: float = 1.0
    priority: int | None = None
    conforming: float = math.inf
    ceiling: float = math.inf
    level: int = 1
    children: tuple[FluidClass, ...] = ()
    division: Division = Division.WEIGHT

    @property
    def demand(self) -> float:
        """What the class would get of an unlimited link."""
        inside = math.fsum(child.demand for child in self.children) if self.children else self.offered
        return min(inside, self.ceiling)


def throughput(root: FluidClass, capacity: float) -> dict[str, float]:
    """Throughput of ``root`` and of every class below it on a link of ``capacity``, by name.

    What a priority class offers beyond what conforms takes all that nobody else does: the most that it can get.
    `policed` gives the tree in which it gets the least.

    Raises:
        ValueError: a name comes twice, or a number is not one a rate or a weight can be; names the class.
    """
    _check(root, capacity)
    found: dict[str, float] = {}
    _descend(root, min(capacity, root.demand), found)
    return found


def policed(root: FluidClass, held: Container[str]) -> FluidClass:
    """The tree in which the priority classes named ``held`` get no more than what of them conforms.

    A policer under congestion drops what arrives while the hardware is full, and the line may be idle a moment
    later: how much of the excess passes depends on when packets arrive, which no fluid knows. What a class gets
    lies between the tree with it held and the one without.
    """
    children = tuple(policed(child, held) for child in root.children)
    ceiling = min(root.ceiling, root.conforming) if root.name in held else root.ceiling
    return replace(root, children=children, ceiling=ceiling)


def _descend(node: FluidClass, capacity: float, rates: dict[str, float]) -> None:
    rates[node.name] = capacity
    if node.children:
        for child, part in zip(node.children, _divide(node, capacity), strict=True):
            _descend(child, part, rates)


def _divide(node: FluidClass, capacity: float) -> list[float]:
    """What every child gets of ``capacity``: strict classes, weighted ones, then the excess of strict ones."""
    children = node.children
    given = [0.0] * len(children)
    demands = [child.demand for child in children]
    strict = [i for i, child in enumerate(children) if child.priority is not None]
    weighted = [i for i, child in enumerate(children) if child.priority is None]
    left = capacity
    for members in _in_order(strict, children):
        first = [min(demands[i], children[i].conforming) for i in members]
        # Parts that are rounded may come to more than there is by their last bits.
        left = max(left - _give(given, members, in_proportion(left, first)), 0.0)
    wanted = [demands[i] for i in weighted]
    if node.division is Division.OFFERED:
        parts = in_proportion(left, wanted)
    elif node.division is Division.LEVEL:
        parts = _by_level(left, [children[i] for i in weighted], wanted)
    else:
        parts = max_min(left, wanted, [children[i].weight for i in weighted])
    left = max(left - _give(given, weighted, parts), 0.0)
    for members in _in_order(strict, children):
        wanted = [demands[i] - given[i] for i in members]
        left = max(left - _give(given, members, in_proportion(left, wanted)), 0.0)
    return given


def _give(rates: list[float], members: Sequence[int], parts: Sequence[float]) -> float:
    for i, part in zip(members, parts, strict=True):
        rates[i] += part
    return math.fsum(parts)


def _in_order(strict: Sequence[int], children: Sequence[FluidClass]) -> Iterator[list[int]]:
    for place in sorted({children[i].priority or 0 for i in strict}):
        yield [i for i in strict if children[i].priority == place]


def max_min(capacity: float, demands: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Weighted max-min division: nobody gets more than it wants, who gets less has as much per weight as anybody.

    Those of weight 0 divide evenly what the others leave.
    """
    given = [0.0] * len(demands)
    left = capacity
    for members, parts in (
        ([i for i, weight in enumerate(weights) if weight > 0], weights),
        ([i for i, weight in enumerate(weights) if weight == 0], [1.0] * len(weights)),
    ):
        order = sorted(members, key=lambda i: demands[i] / parts[i])
        for position, i in enumerate(order):
            rest = order[position:]
            total = math.fsum(parts[j] for j in rest)
            if demands[i] > left * parts[i] / total:
                for j in rest:
                    given[j] = min(left * parts[j] / total, left)
                return given
            given[i] = demands[i]
            left = max(left - demands[i], 0.0)
    return given


def in_proportion(capacity: float, demands: Sequence[float]) -> list[float]:
    """Division in order of arrival: all of it where it fits, else in proportion to what is offered.

    Beside an infinite load a finite one gets nothing: the limit of ever larger loads.
    """
    total = math.fsum(demands)
    if total <= capacity:
        return list(demands)
    if math.isinf(total):
        endless = sum(map(math.isinf, demands))
        return [capacity / endless if math.isinf(demand) else 0.0 for demand in demands]
    return [capacity * demand / total for demand in demands]


def _by_level(capacity: float, members: Sequence[FluidClass], demands: Sequence[float]) -> list[float]:
    """Guarantees first, of silent classes too; then the excess, level by level, by weight within one."""
    total = math.fsum(member.weight for member in members)
    given = [
        min(demand, capacity * member.weight / total) if total else 0.0
        for member, demand in zip(members, demands, strict=True)
    ]
    left = capacity - math.fsum(given)
    for level in sorted({member.level for member in members}):
        at = [i for i, member in enumerate(members) if member.level == level]
        more = max_min(max(left, 0.0), [demands[i] - given[i] for i in at], [members[i].weight for i in at])
        left -= _give(given, at, more)
    return given


def _check(root: FluidClass, capacity: float) -> None:
    if not (capacity >= 0 and math.isfinite(capacity)):
        raise ValueError(f"a link of {capacity} b/s: give a finite rate of 0 or more")
    seen: set[str] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.name in seen:
            raise ValueError(f"class {node.name} comes twice: give every class a name of its own")
        seen.add(node.name)
        if not (node.weight >= 0 and math.isfinite(node.weight)):
            raise ValueError(f"class {node.name} has weight {node.weight}: give a finite one of 0 or more")
        for what, value in (
            ("offered load", node.offered),
            ("ceiling", node.ceiling),
            ("conforming rate", node.conforming),
        ):
            if not value >= 0:
                raise ValueError(f"class {node.name} has the {what} {value}: give 0 or more")
        if node.children and node.offered:
            raise ValueError(
                f"class {node.name} has classes and a load of its own: offer the load to a class of it"
            )
        waiting.extend(node.children)
