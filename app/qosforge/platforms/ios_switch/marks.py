"""Which code points and CoS values carry each class through a switch, and the maps between the two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from qosforge.dscp import drop_precedence, dscp_label
from qosforge.findings import DEFAULT
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.platforms.ios_switch.notes import Notes
from qosforge.platforms.recognition import asks_flow, points_of

DEFAULT_COS_TO_DSCP = tuple(range(0, 64, 8))
"""CoS to DSCP as delivered (Catalyst 2950 and 2970 guides)."""
DEFAULT_DSCP_TO_COS = tuple(dscp // 8 for dscp in range(64))
"""DSCP to CoS as delivered: the class selector bits (Catalyst 2970 guide; a 2950 where it knows the DSCP)."""
CONTROL_COS = (6, 7)
"""CoS of network control (IEEE 802.1Q, annex I)."""
_EVERY_DSCP = frozenset(range(64))


@dataclass(frozen=True)
class SwitchClassMarks:
    """Marks of one class that the device can hold.

    ``dscp`` is set where the class is recognised, ``listed`` are the DSCPs it is recognised by and ``precedences``
    the precedences, where the device matches those; ``code_points`` and ``cos`` are what it arrives with on trunks.
    """

    dscp: int | None
    listed: tuple[int, ...]
    code_points: tuple[int, ...]
    cos: tuple[int, ...]
    precedences: tuple[int, ...] = ()


def class_marks(
    request: DeviceRequest, supported: frozenset[int], notes: Notes, *, rest_keeps_dscp: bool = False
) -> dict[str, SwitchClassMarks]:
    """The marks of every class but the default one; what the device cannot carry is noted.

    ``rest_keeps_dscp``: what no class takes has its DSCP afterwards, and CoS 0.
    A device that knows every DSCP matches precedences as such, another one the DSCPs it knows of them.
    """
    _check_default(request.classes[-1], rest_keeps_dscp, notes)
    result: dict[str, SwitchClassMarks] = {}
    set_by: dict[int, str] = {}
    by_cos: dict[int, str] = {}
    taken = {c.mark.dscp for c in request.classes if c.mark}
    given = request.cos_to_dscp or DEFAULT_COS_TO_DSCP
    for entry in request.classes:
        if entry.is_default:
            continue
        dscp = _known(entry, _marked(entry, given, notes), supported, taken, notes)
        if dscp is not None:
            set_by.setdefault(dscp, entry.name)
        _note_unknown(entry, supported, notes)
        plain = [t for t in entry.terms if not (t.application or asks_flow(t))]
        native = supported == _EVERY_DSCP and dscp is not None
        precedences = {p for t in plain if native and not t.dscp for p in t.precedence}
        listed = {d for t in plain if t.dscp or not native for d in points_of(t) or ()} & supported
        arriving = {d for t in entry.terms for d in points_of(t) or ()} | set(_carried(entry, dscp))
        points = tuple(sorted(arriving & supported))
        stated = entry.mark.cos if entry.mark else None
        own = (stated,) if stated is not None else ((dscp // 8,) if dscp is not None else ())
        told = sorted(c for t in plain if not points_of(t) for c in t.cos)
        if dscp is None:
            by_cos |= {c: by_cos.get(c, entry.name) for c in told if c}
        cos = tuple(dict.fromkeys((*own, *told)))
        result[entry.name] = SwitchClassMarks(
            dscp=dscp,
            listed=tuple(sorted(listed)),
            code_points=points,
            cos=cos or tuple(sorted({p // 8 for p in points})),
            precedences=tuple(sorted(precedences)),
        )
    # A mark belongs to the class that sets it, even if another one lists it too.
    own_points = {
        name: replace(entry, code_points=tuple(p for p in entry.code_points if set_by.get(p, name) == name))
        for name, entry in result.items()
    }
    return _with_points_of_cos(own_points, by_cos, given, supported)


def _with_points_of_cos(
    marks: dict[str, SwitchClassMarks],
    by_cos: dict[int, str],
    given: Sequence[int],
    supported: frozenset[int],
) -> dict[str, SwitchClassMarks]:
    """The marks, with the DSCPs that stand for a CoS which tells a class, where no class lists or sets them.

    A switch makes a DSCP of a CoS that it trusts, and may queue by that (3560 guide 78-16156-01, figure 28-3).
    ``by_cos`` has the class of each such CoS, ``given`` what a CoS becomes.
    """
    free = set(supported) - {p for entry in marks.values() for p in entry.code_points}
    of_class: dict[str, set[int]] = {}
    made = [(name, {given[cos]}) for cos, name in by_cos.items()]
    for name, points in (*made, *((n, set(range(8 * cos, 8 * cos + 8))) for cos, n in by_cos.items())):
        of_class.setdefault(name, set()).update(points & free)
        free -= points
    return {
        name: replace(entry, code_points=tuple(sorted({*entry.code_points, *of_class.get(name, ())})))
        for name, entry in marks.items()
    }


def _carried(entry: ClassRequest, dscp: int | None) -> Iterator[int]:
    """The DSCPs by which devices behind an edge mark a class: all of a precedence where that is its mark, and those
    that a policer writes instead."""
    yield from entry.remarked
    if entry.mark is not None and entry.mark.precedence is not None:
        yield from range(8 * entry.mark.precedence, 8 * entry.mark.precedence + 8)
    elif dscp is not None:
        yield dscp


def _note_unknown(entry: ClassRequest, supported: frozenset[int], notes: Notes) -> None:
    """Code points that a class is matched by and the device does not know."""
    for value in sorted({d for term in entry.terms for d in term.dscp} - supported):
        notes.note(
            "dscp-unsupported",
            traffic_class=entry.name,
            requested=dscp_label(value),
            supported=", ".join(map(dscp_label, sorted(supported))),
        )
    for value in sorted(set(entry.remarked) - supported):
        notes.note(
            "dscp-unsupported",
            traffic_class=entry.name,
            requested=dscp_label(value),
            applied="CoS 0",
            variant="remarked",
            supported=", ".join(map(dscp_label, sorted(supported))),
        )
    for precedence in sorted({p for term in entry.terms for p in term.precedence}):
        known = sorted(supported & set(range(8 * precedence, 8 * precedence + 8)))
        if len(known) < 8:
            notes.note(
                "precedence-as-dscps",
                traffic_class=entry.name,
                requested=f"precedence {precedence} (DSCP {8 * precedence} to {8 * precedence + 7})",
                applied=f"DSCP {', '.join(map(str, known))}",
            )


def _known(
    entry: ClassRequest, dscp: int | None, supported: frozenset[int], used: set[int | None], notes: Notes
) -> int | None:
    """The mark itself, or the one the device knows that says the same but for the drop precedence."""
    if dscp is None or dscp in supported:
        return dscp
    near = min((s for s in supported if s >> 3 == dscp >> 3), key=lambda s: (abs(s - dscp), s))
    same_group = drop_precedence(dscp) is not None and drop_precedence(near) is not None and near not in used
    notes.note(
        "dscp-rounded",
        traffic_class=entry.name,
        requested=f"DSCP {dscp_label(dscp)}",
        applied=f"DSCP {dscp_label(near)}",
        dscp=dscp_label(dscp),
        supported=", ".join(map(dscp_label, sorted(supported))),
        same_group=same_group,
    )
    return near


def _marked(entry: ClassRequest, table: Sequence[int], notes: Notes) -> int | None:
    mark = entry.mark
    if mark is None or mark.dscp is not None:
        return mark.dscp if mark else None
    if mark.precedence is not None:
        dscp = 8 * mark.precedence
        notes.note(
            "precedence-carried-as-dscp",
            traffic_class=entry.name,
            requested=f"precedence {mark.precedence}",
            applied=f"DSCP {dscp_label(dscp)}",
            variant="zero-bits",
        )
        return dscp
    if mark.cos is None:
        return None
    dscp = table[mark.cos]
    notes.note(
        "cos-carried-as-dscp",
        traffic_class=entry.name,
        requested=f"CoS {mark.cos}",
        applied=f"DSCP {dscp_label(dscp)} and CoS {mark.cos}",
        variant="derived",
    )
    return dscp


def _check_default(default: ClassRequest, keeps_dscp: bool, notes: Notes) -> None:
    mark = default.mark
    if mark is not None and (mark.dscp or mark.cos or mark.precedence):
        notes.note(
            "default-mark-unsupported",
            traffic_class=default.name,
            requested=f"DSCP {dscp_label(mark.dscp or 8 * (mark.precedence or 0))}, CoS {mark.cos or 0}",
            applied="DSCP as received, CoS 0" if keeps_dscp else "DSCP 0, CoS 0",
            variant="dscp-kept" if keeps_dscp else DEFAULT,
        )


def cos_to_dscp(
    request: DeviceRequest, marks: dict[str, SwitchClassMarks], held: tuple[int, ...] | None = None
) -> tuple[int, ...]:
    """DSCP of every CoS: the class's mark where a class has that CoS; CoS 0 stays the default class's.

    What no class marks is what the intent gives it; without that it stays as it is ``held`` (as delivered unless
    known), unless it is the mark of other classes.
    """
    table = list(request.cos_to_dscp or DEFAULT_COS_TO_DSCP)
    for cos, dscp in enumerate((held or ()) if request.cos_to_dscp is None else ()):
        owners = [m for m in marks.values() if dscp in m.code_points]
        if cos and all(cos in m.cos for m in owners):
            table[cos] = dscp
    for entry in reversed(marks.values()):
        if entry.dscp is not None:
            for cos in entry.cos:
                table[cos] = entry.dscp if cos else table[0]
    return tuple(table)


def dscp_to_cos(
    marks: dict[str, SwitchClassMarks], delivered: tuple[int, ...] = DEFAULT_DSCP_TO_COS
) -> tuple[int, ...]:
    """CoS of every DSCP: the class's CoS where a class has that DSCP, else as ``delivered``."""
    table = list(delivered)
    for entry in marks.values():
        for point in entry.code_points:
            table[point] = entry.cos[0] if entry.dscp is not None else delivered[point]
    return tuple(table)
