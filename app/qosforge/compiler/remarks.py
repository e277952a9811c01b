"""Marks that policers write: which of them still belong to the class that wrote them.

Behind an edge a class is told by its mark and by what its policer writes instead, so that what exceeds stays in
its class (RFC 2597: packets of one AF class are not reordered). A mark that another class is told by is that one's:
who remarks to it wants what exceeds served there, and every packet of the other class has it too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qosforge.dscp import dscp_label
from qosforge.errors import Place
from qosforge.findings import DEFAULT, Finding
from qosforge.intent.loader import LoadedIntent
from qosforge.intent.models import RESERVED_CLASS, MatchTerm, Police, Remark, TrafficClass
from qosforge.intent.yaml_source import Path_
from qosforge.note import note

_CODE_POINTS = range(64)
_TOP: Path_ = ("classes",)


@dataclass(frozen=True)
class MarkClaim:
    """A class of the tree at ``path``: the DSCPs that it is told by behind an edge, and those that it is told by
    together with something else."""

    path: Path_
    name: str
    points: frozenset[int]
    partly: frozenset[int] = frozenset()


@dataclass(frozen=True)
class RemainingMarks:
    """Marks that a class's policer writes instead of its own, and that remain the class's."""

    dscps: tuple[int, ...] = ()
    precedences: tuple[int, ...] = ()


def claims(classes: Sequence[TrafficClass], base: Path_ = _TOP) -> Iterator[MarkClaim]:
    """What every class of a tree is told by behind an edge; what carries no mark at all is the default's."""
    for at, entry in enumerate(classes):
        path = (*base, at)
        if entry.name == RESERVED_CLASS:
            yield MarkClaim(path, entry.name, (_own_mark(entry) or frozenset()) | ({0} if base == _TOP else set()))
        elif (own := _own_mark(entry)) is not None:
            yield MarkClaim(path, entry.name, own)
        elif entry.match is not None:
            terms = [(_points(term), _by_mark_alone(term)) for term in entry.match.alternatives()]
            alone = [points for points, only in terms if only and not entry.match.none]
            yield MarkClaim(
                path, entry.name, _union(alone), _union([points for points, _ in terms]) - _union(alone)
            )
        yield from claims(entry.treatment.children, (*path, "treatment", "children"))
    if base == _TOP and all(entry.name != RESERVED_CLASS for entry in classes):
        yield MarkClaim((*base, len(classes)), RESERVED_CLASS, frozenset({0}))


def remaining_marks(police: Police | None, path: Path_, of_others: Sequence[MarkClaim]) -> RemainingMarks:
    """What the policer of the class at ``path`` writes that no other class is told by."""
    marks = [mark for mark in _marks(police) if not _owners(mark, path, of_others)]
    return RemainingMarks(
        dscps=tuple(dict.fromkeys(mark.remark for mark in marks if mark.remark is not None)),
        precedences=tuple(dict.fromkeys(mark.precedence for mark in marks if mark.precedence is not None)),
    )


def remark_findings(loaded: LoadedIntent) -> Iterator[Finding]:
    """``remark-of-other-class``: a policer writes a mark that another class is told by.

    Information where all packets with the mark are that class's from there on. A warning where the other class is
    told by the mark together with something else and stands behind: it does not get what it shares the mark with.
    """
    found = tuple(claims(loaded.intent.classes))
    for entry, path in _every(loaded.intent.classes):
        for mark in dict.fromkeys(_marks(entry.treatment.police)):
            owners = _owners(mark, path, found)
            for owner in owners:
                yield _finding(loaded, entry, mark, owner, DEFAULT)
            hidden = [each for each in found if _meet(mark, each.partly) and _behind(each.path, path)]
            for other in hidden if not owners and entry.mark is not None else ():
                yield _finding(loaded, entry, mark, other, "hidden")


def _finding(loaded: LoadedIntent, entry: TrafficClass, mark: Remark, other: MarkClaim, variant: str) -> Finding:
    where = loaded.class_place(entry.name)
    place = Place(traffic_class=entry.name, file=where.file if where else None, line=where.line if where else None)
    return note(
        "remark-of-other-class", place, variant=variant, name=entry.name, mark=_name(mark), other=other.name
    )


def _name(mark: Remark) -> str:
    return f"precedence {mark.precedence}" if mark.remark is None else f"DSCP {dscp_label(mark.remark)}"


def _marks(police: Police | None) -> list[Remark]:
    """The DSCPs and precedences that a policer writes."""
    actions = (police.conform, police.exceed, police.violate) if police else ()
    return [action for action in actions if isinstance(action, Remark) and action.cos is None]


def _owners(mark: Remark, path: Path_, claims: Sequence[MarkClaim]) -> list[MarkClaim]:
    """The other classes that are told by a mark; not those that the class at ``path`` divides or is part of."""
    own = next((each.points for each in claims if each.path == path), frozenset())
    if _meet(mark, own):
        return []
    return [each for each in claims if _meet(mark, each.points) and not _related(each.path, path)]


def _meet(mark: Remark, points: frozenset[int]) -> bool:
    return bool(points.intersection(_of_mark(mark.remark, mark.precedence)))


def _of_mark(dscp: int | None, precedence: int | None) -> frozenset[int]:
    if dscp is not None:
        return frozenset({dscp})
    return frozenset() if precedence is None else frozenset(range(8 * precedence, 8 * precedence + 8))


def _related(one: Path_, other: Path_) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def _behind(one: Path_, other: Path_) -> bool:
    """Whether one class comes after another one, to which it is not related."""
    if _related(one, other):
        return False
    first, second = next((a, b) for a, b in zip(one, other, strict=False) if a != b)
    return isinstance(first, int) and isinstance(second, int) and first > second


def _own_mark(entry: TrafficClass) -> frozenset[int] | None:
    """The DSCPs of the mark that a class carries; None where it carries none."""
    mark = entry.mark
    if mark is None or (mark.dscp is None and mark.precedence is None):
        return None
    return _of_mark(mark.dscp, mark.precedence)


def _points(term: MatchTerm) -> frozenset[int]:
    """The DSCPs that a term asks for; none where it asks for no mark."""
    if not term.dscp and not term.precedence:
        return frozenset()
    return frozenset(
        d
        for d in _CODE_POINTS
        if (not term.dscp or d in term.dscp) and (not term.precedence or d >> 3 in term.precedence)
    )


def _by_mark_alone(term: MatchTerm) -> bool:
    return set(term.set_fields) <= {"dscp", "precedence"}


def _union(sets: Sequence[frozenset[int]]) -> frozenset[int]:
    return frozenset().union(*sets)


def _every(classes: Sequence[TrafficClass], base: Path_ = _TOP) -> Iterator[tuple[TrafficClass, Path_]]:
    for at, entry in enumerate(classes):
        yield entry, (*base, at)
        yield from _every(entry.treatment.children, (*base, at, "treatment", "children"))
