"""The marks of classes: what an input writes, and the code points by which an output tells classes apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from qosforge.plan.model import Term
from qosforge.plan.request import ClassRequest, DeviceRequest, TermRequest
from qosforge.platforms.ios_switch.notes import Notes
from qosforge.platforms.recognition import points_of


@dataclass(frozen=True)
class ClassMarks:
    """Marks of one class.

    ``dscp`` and ``cos`` are written where the class is recognised; ``points`` are the DSCPs that it has behind the
    inputs, ``cos_points`` the CoS of one that has no DSCP. No two classes have the same one. ``group`` is the QoS
    group that inputs give it, by which alone the outputs then tell it; else ``groups`` are those that it matches.
    """

    dscp: int | None
    cos: int | None
    points: tuple[int, ...] = ()
    cos_points: tuple[int, ...] = ()
    group: int | None = None
    groups: tuple[int, ...] = ()

    @property
    def told_by(self) -> tuple[Term, ...]:
        """What an output tells the class by."""
        groups = tuple(Term(qos_group=(g,)) for g in self.groups)
        if self.group is not None:
            return groups
        return (*groups, *(Term(dscp=(p,)) for p in self.points), *(Term(cos=(c,)) for c in self.cos_points))


def class_marks(request: DeviceRequest, notes: Notes) -> dict[str, ClassMarks]:
    """The marks of every class; what is carried in another way than asked is noted.

    The mark of the class of everything else is DSCP 0 unless it has one: what no class takes must not look like
    one of them.
    """
    result = {entry.name: _written_marks(entry, notes) for entry in request.classes}
    set_by: dict[int, str] = {}
    cos_of: dict[int, str] = {}
    for name, marks in result.items():
        if marks.dscp is not None:
            set_by.setdefault(marks.dscp, name)
    carried = dscp_of_cos(request, result)
    trusting = [i.trust_in in ("cos", "phone") for i in request.interfaces if i.recognise or i.trust]
    recognising = any(i.recognise for i in request.interfaces)
    by_mark = all(i.by_mark for i in request.interfaces if i.schedule)
    for entry in request.classes:
        if entry.is_default:
            continue
        marks = result[entry.name]
        if any(t.qos_group and len(t.set_fields) > 1 for t in entry.terms):
            notes.note("match-unsupported", traffic_class=entry.name, direction="output", variant="alternatives")
        points = set(entry.remarked)
        if entry.recognised_by is None or not by_mark:
            points |= {d for t in entry.terms if _shows_class(entry, t) for d in points_of(t) or ()}
        if any(trusting):
            # Inputs that trust the CoS write a DSCP for it.
            points |= {carried.get(cos, 8 * cos) for t in entry.terms for cos in t.cos if cos}
        if entry.mark is not None and entry.mark.precedence is not None:
            points |= set(range(8 * entry.mark.precedence, 8 * entry.mark.precedence + 8))
        elif marks.dscp is not None:
            points.add(marks.dscp)
        mine = tuple(sorted(p for p in points if set_by.setdefault(p, entry.name) == entry.name))
        written = marks.dscp is not None or (bool(trusting) and all(trusting))
        tagged = _told_by_cos(entry)
        if mine and written and tagged:
            listed = ", ".join(map(str, tagged))
            notes.note("told-in-ip", traffic_class=entry.name, direction="output", cos=listed)
            tagged = []
        also = tuple(c for c in tagged if cos_of.setdefault(c, entry.name) == entry.name)
        group = entry.mark.qos_group if entry.mark and recognising else None
        groups = (group,) if group is not None else tuple(g for t in entry.terms for g in t.qos_group)
        result[entry.name] = replace(marks, points=mine, cos_points=also, group=group, groups=groups)
    return result


def _shows_class(entry: ClassRequest, term: TermRequest) -> bool:
    """Whether an output tells the class by the DSCPs that an alternative asks for.

    Where it asks for more beside, others have them too, and a class with a mark of its own has that one then.
    """
    alone = set(term.set_fields) <= {"dscp", "precedence"}
    return not term.qos_group and (alone or entry.recognised_by is None)


def dscp_of_cos(request: DeviceRequest, marks: Mapping[str, ClassMarks]) -> dict[int, int]:
    """The DSCP that inputs which trust the CoS write for each, but for those of the same precedence.

    A class that marks both goes before the map of the intent; the first class's counts.
    """
    own = {m.cos: m.dscp for m in reversed(list(marks.values())) if m.cos is not None and m.dscp is not None}
    return dict(enumerate(request.cos_to_dscp or ())) | own


def _told_by_cos(entry: ClassRequest) -> list[int]:
    return sorted({cos for term in entry.terms for cos in term.cos})


def _written_marks(entry: ClassRequest, notes: Notes) -> ClassMarks:
    mark = entry.mark
    unmarked = 0 if entry.is_default and not entry.keep_mark else None
    if mark is None:
        return ClassMarks(unmarked, None)
    if mark.dscp is not None:
        return ClassMarks(mark.dscp, mark.cos)
    if mark.precedence is not None:
        notes.note(
            "precedence-carried-as-dscp",
            traffic_class=entry.name,
            requested=f"precedence {mark.precedence}",
            applied=f"DSCP cs{mark.precedence}",
            variant="queues",
        )
        return ClassMarks(8 * mark.precedence, mark.cos)
    if mark.cos is not None:
        notes.note(
            "cos-carried-as-dscp",
            traffic_class=entry.name,
            requested=f"CoS {mark.cos}",
            applied=f"DSCP cs{mark.cos} and CoS {mark.cos}",
            variant="beside-cos",
        )
        return ClassMarks(8 * mark.cos, mark.cos)
    return ClassMarks(unmarked, None)
