"""Which code points and CoS values carry each class through a switch, and the maps between the two."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.dscp import dscp_name
from app.findings import Severity
from app.plan.request import ClassRequest, DeviceRequest
from app.platforms.ios_switch.notes import Notes

DEFAULT_COS_TO_DSCP = tuple(range(0, 64, 8))
"""CoS to DSCP as delivered (Catalyst 2950 and 2970 guides)."""
DEFAULT_DSCP_TO_COS = tuple(dscp // 8 for dscp in range(64))
"""DSCP to CoS as delivered: the class selector bits (Catalyst 2950 and 2970 guides)."""
CONTROL_COS = (6, 7)
"""CoS of network control (IEEE 802.1Q, annex I)."""
CONTROL_DSCP = tuple(range(48, 64))
"""Code points of network control: CS6, CS7 and what shares their precedence (RFC 4594)."""


@dataclass(frozen=True)
class ClassMarks:
    """Marks of one class that the box can hold.

    ``dscp`` is set where the class is recognised, ``listed`` are the DSCPs it is recognised by; ``code_points``
    and ``cos`` are what it arrives with on trunks.
    """

    dscp: int | None
    listed: tuple[int, ...]
    code_points: tuple[int, ...]
    cos: tuple[int, ...]


def class_marks(request: DeviceRequest, supported: frozenset[int], notes: Notes) -> dict[str, ClassMarks]:
    """The marks of every class but the default one; what the box cannot carry is noted as an error."""
    _check_default(request.classes[-1], notes)
    result: dict[str, ClassMarks] = {}
    set_by: dict[int, str] = {}
    for entry in request.classes:
        if entry.is_default:
            continue
        dscp = _marked(entry, notes)
        if dscp is not None:
            set_by.setdefault(dscp, entry.name)
        arriving = {d for term in entry.terms for d in term.dscp} | ({dscp} if dscp is not None else set())
        for value in sorted(arriving - supported):
            notes.add(
                Severity.ERROR,
                "dscp-unsupported",
                f"the box does not know DSCP {value}",
                traffic_class=entry.name,
                asked=dscp_name(value),
                mend=f"use one of {', '.join(str(v) for v in sorted(supported))}",
            )
        listed = {d for term in entry.terms for d in term.dscp if not term.application} & supported
        points = tuple(sorted(arriving & supported))
        stated = entry.mark.cos if entry.mark else None
        cos = (stated,) if stated is not None else ((dscp // 8,) if dscp is not None else ())
        result[entry.name] = ClassMarks(
            dscp=dscp if dscp in supported else None,
            listed=tuple(sorted(listed)),
            code_points=points,
            cos=cos or tuple(sorted({p // 8 for p in points})),
        )
    # A mark belongs to the class that sets it, even if another one lists it too.
    return {
        name: replace(entry, code_points=tuple(p for p in entry.code_points if set_by.get(p, name) == name))
        for name, entry in result.items()
    }


def _marked(entry: ClassRequest, notes: Notes) -> int | None:
    if entry.mark is None:
        return None
    if entry.mark.dscp is not None:
        return entry.mark.dscp
    if entry.mark.cos is None:
        return None
    dscp = DEFAULT_COS_TO_DSCP[entry.mark.cos]
    notes.add(
        Severity.INFO,
        "cos-carried-as-dscp",
        "the box sets DSCPs only and derives the CoS from them",
        traffic_class=entry.name,
        asked=f"CoS {entry.mark.cos}",
        will_be=f"DSCP {dscp_name(dscp)} and CoS {entry.mark.cos}",
    )
    return dscp


def _check_default(default: ClassRequest, notes: Notes) -> None:
    mark = default.mark
    if mark is not None and (mark.dscp or mark.cos):
        notes.add(
            Severity.ERROR,
            "default-mark-unsupported",
            "what no class matches becomes DSCP 0 and CoS 0 here",
            traffic_class=default.name,
            asked=f"DSCP {mark.dscp or 0}, CoS {mark.cos or 0}",
            will_be="DSCP 0, CoS 0",
            mend="leave the mark of the default class out",
        )


def cos_to_dscp(marks: dict[str, ClassMarks]) -> tuple[int, ...]:
    """DSCP of every CoS: the class's mark where a class has that CoS; CoS 0 stays the default class's."""
    table = list(DEFAULT_COS_TO_DSCP)
    for entry in reversed(marks.values()):
        if entry.dscp is not None:
            for cos in entry.cos:
                table[cos] = entry.dscp if cos else table[0]
    return tuple(table)


def dscp_to_cos(marks: dict[str, ClassMarks]) -> tuple[int, ...]:
    """CoS of every DSCP: the class's CoS where a class has that DSCP."""
    table = list(DEFAULT_DSCP_TO_COS)
    for entry in marks.values():
        for point in entry.code_points:
            table[point] = entry.cos[0] if entry.dscp is not None else DEFAULT_DSCP_TO_COS[point]
    return tuple(table)
