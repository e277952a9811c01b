"""What does not go together in an intent: names given twice, mixed units, sums over 100 %, unknown names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from qosforge.intent.treatment import MOST_CLASSES, RESERVED_CLASS, Treatment
from qosforge.units import listed, shortened


@dataclass(frozen=True)
class Conflict:
    """Parts of an intent that do not go together; ``path`` is where to look."""

    path: tuple[str | int, ...]
    message: str
    hint: str


@dataclass(frozen=True)
class Branch:
    """A class of a link-sharing tree as far as it is known: its name, its treatment, and what divides it."""

    name: str | None
    treatment: Treatment | None
    below: Sequence[Branch] = ()


@dataclass(frozen=True)
class RequestedShares:
    """What the classes of one level ask for together: percents of the link, percents of what priority leaves, rates
    in bit/s and weights; ``units`` are those that their bandwidths are given in.
    """

    priority_percent: int
    priority_rate: int
    bandwidth_percent: int
    remaining_percent: int
    bandwidth_rate: int
    weight: int
    units: tuple[str, ...]

    @classmethod
    def by(cls, treatments: Sequence[Treatment]) -> RequestedShares:
        """The sums over treatments."""
        priorities = [t.priority for t in treatments if t.priority]
        shares = [t.bandwidth for t in treatments if t.bandwidth]
        return cls(
            priority_percent=sum(p.percent or 0 for p in priorities),
            priority_rate=sum(p.rate or 0 for p in priorities),
            bandwidth_percent=sum(s.percent or 0 for s in shares),
            remaining_percent=sum(s.remaining_percent or 0 for s in shares),
            bandwidth_rate=sum(s.rate or 0 for s in shares),
            weight=sum(s.weight or 0 for s in shares),
            units=tuple(sorted({kind for share in shares for kind in share.model_dump(exclude_none=True)})),
        )


def conflicts(classes: Sequence[Branch]) -> Iterator[Conflict]:
    """Too many classes and names given twice in a tree; mixed units and sums over 100 at each of its levels."""
    count = sum(len(level) for _, level in levels(("classes",), classes))
    if count > MOST_CLASSES:
        message = f"the tree has {count:,} classes, at most {MOST_CLASSES} are compiled"
        yield Conflict(("classes",), message, "join classes that are served alike")
    seen: set[str] = set()
    for path, level in levels(("classes",), classes):
        siblings: set[str] = set()
        for position, name in enumerate(branch.name for branch in level):
            if name is not None and name in (siblings if name == RESERVED_CLASS else seen):
                place = (*path, position, "name")
                yield Conflict(place, f"class {name!r} is defined twice", "merge the two, or rename one")
            elif name is not None:
                seen.add(name)
                siblings.add(name)
        yield from _sums(path, level)


def levels(
    path: tuple[str | int, ...], classes: Sequence[Branch]
) -> Iterator[tuple[tuple[str | int, ...], Sequence[Branch]]]:
    """The levels of a tree of classes, each with the path of its list, those above before those below."""
    yield path, classes
    for position, branch in enumerate(classes):
        if branch.below:
            yield from levels((*path, position, "treatment", "children"), branch.below)


_OF_LINK = (("priority", "percent"), ("bandwidth", "percent"))
_OF_REST = (("bandwidth", "remaining_percent"),)


def _sums(path: tuple[str | int, ...], level: Sequence[Branch]) -> Iterator[Conflict]:
    treatments = [branch.treatment for branch in level if branch.treatment]
    requested = RequestedShares.by(treatments)
    if len(requested.units) > 1:
        units = ", ".join(requested.units)
        yield Conflict(path, f"bandwidth is given in mixed units ({units})", "use one unit for all classes")
    buffers = sum(t.buffers.percent for t in treatments if t.buffers)
    if buffers > 100:
        yield Conflict(path, f"buffers add up to {buffers} %", "give the classes of a port 100 % together at most")
    yield from _too_much(path, level, _OF_REST, "what priority leaves")
    yield from _too_much(path, level, _OF_LINK, "the link" if len(path) == 1 else "the class that they divide")


def _too_much(
    path: tuple[str | int, ...], level: Sequence[Branch], keys: Sequence[tuple[str, str]], whole: str
) -> Iterator[Conflict]:
    """Percents that come to more than 100, at the one that is too much."""
    shares: list[tuple[str | None, int]] = []
    place: tuple[str | int, ...] | None = None
    for position, branch in enumerate(level):
        for part, unit in keys:
            percent = getattr(getattr(branch.treatment, part, None), unit, None)
            if percent:
                shares.append((branch.name, percent))
                if place is None and sum(n for _, n in shares) > 100:
                    place = (*path, position, "treatment", part, unit)
    if place is not None:
        total = sum(n for _, n in shares)
        every = listed(f"{name or '?'} {percent} %" for name, percent in shares)
        message = f"the classes take {total} % of {whole}: {every}"
        yield Conflict(place, message, f"at most 100 %: take away {total - 100} %")


def unjudged(position: int, objective: Iterable[str], classes: Sequence[str]) -> Iterator[Conflict]:
    """Objectives of the verification at ``position`` for classes that it does not judge."""
    for name in objective:
        if name not in classes:
            path = ("verify", position, "objective", name)
            yield Conflict(path, f"{name!r} is not among the classes judged here", "add it to 'classes'")


def unknown_classes(
    position: int, classes: Sequence[str], beside: Sequence[str], known: Sequence[str]
) -> Iterator[Conflict]:
    """Classes that the verification at ``position`` names and nobody defines."""
    every = frozenset(known)
    for key, names in (("classes", classes), ("beside", beside)):
        for index, name in enumerate(names):
            if name not in every:
                near = get_close_matches(name, known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"classes: {listed(known)}"
                yield Conflict(("verify", position, key, index), f"unknown class {shortened(name)}", hint)


def policy_conflicts(policies: Sequence[tuple[str | None, str | None]]) -> Iterator[Conflict]:
    """Policy names used for both directions: a device holds one policy of a name."""
    directions: dict[str, set[str | None]] = {}
    for position, (direction, name) in enumerate(policies):
        used = directions.setdefault(name, set()) if name is not None else set()
        known = len(used - {direction})
        used.add(direction)
        if known:
            path = ("apply", position, "policy")
            message = f"policy {name!r} is used for input and for output"
            yield Conflict(path, message, "give each direction a name of its own")
