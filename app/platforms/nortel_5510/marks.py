"""The 802.1p priority of every class, and the maps between it, the DSCP and the queue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.findings import Finding, Severity
from app.plan.request import ClassRequest, DeviceRequest
from app.platforms.nortel_5510.capabilities import capabilities, factory_cos_to_dscp, factory_dscp_to_cos
from app.platforms.nortel_5510.queues import Choice

_SPARE = (1, 3, 4, 2, 5)
"""Priorities for classes that name none, in the order they are given out."""


@dataclass(frozen=True)
class Maps:
    """The switch-wide maps; ``cos_of`` is the priority that a class has inside the box."""

    cos_of: Mapping[str, int]
    cos_to_dscp: tuple[int, ...]
    dscp_to_cos: tuple[int, ...]
    cos_to_queue: tuple[int, ...]


def priorities(classes: Sequence[ClassRequest]) -> dict[str, int]:
    """The 802.1p priority of each class: as marked, else the DSCP's own, else a spare one."""
    result = {c.name: c.mark.cos for c in classes if c.mark and c.mark.cos is not None}
    if classes[-1].name not in result:
        result[classes[-1].name] = 0
    for c in classes:
        if c.name in result:
            continue
        own = [factory_dscp_to_cos()[d] for d in dscps(c) if factory_dscp_to_cos()[d]]
        free = [cos for cos in (*own, *_SPARE, 6, 7, 0) if cos not in result.values()]
        result[c.name] = free[0] if free else 0
    return result


def dscps(wanted: ClassRequest) -> tuple[int, ...]:
    """DSCPs that belong to a class where marks are trusted: its mark first, then those it matches."""
    own = (wanted.mark.dscp,) if wanted.mark and wanted.mark.dscp is not None else ()
    listed = (d for t in wanted.terms if t.application is None and not t.cos for d in t.dscp)
    return tuple(dict.fromkeys((*own, *listed)))


def maps(classes: Sequence[ClassRequest], chosen: Choice) -> Maps:
    """The maps on the factory's ground, with the rows of the classes and of network control."""
    cos_of = priorities(classes)
    to_dscp, to_cos = list(factory_cos_to_dscp()), list(factory_dscp_to_cos())
    control = capabilities()["control_dscps"]
    for dscp in control["value"]:
        to_cos[dscp] = control["cos"]
    for c in reversed(classes):
        for dscp in dscps(c):
            to_cos[dscp] = cos_of[c.name]
        if c.mark and c.mark.dscp is not None:
            to_dscp[cos_of[c.name]] = c.mark.dscp
    default = chosen.queue_of[classes[-1].name]
    to_queue = [default] * 8
    for cos in capabilities()["control_cos"]["value"]:
        to_queue[cos] = chosen.control
    for c in reversed(classes):
        to_queue[cos_of[c.name]] = chosen.queue_of[c.name]
    return Maps(cos_of, tuple(to_dscp), tuple(to_cos), tuple(to_queue))


def egress_rows(classes: Sequence[ClassRequest]) -> tuple[int, ...]:
    """DSCPs whose row of the egress map is stated, factory value or not: the factory's are not published."""
    stated = {d for c in classes for d in dscps(c)} | set(capabilities()["control_dscps"]["value"])
    return tuple(sorted(stated))


def mark_findings(request: DeviceRequest, chosen: Choice) -> Iterator[Finding]:
    """Marks that the box cannot tell apart or would lose."""
    tagged = [i.name for i in request.interfaces if i.trust and i.tagged]
    if tagged:
        yield Finding(
            code="trust-partial",
            severity=Severity.INFO,
            message="a trusted port derives the CoS of DSCPs that have a row of their own; others keep the CoS "
            "they come with",
            device=request.device,
            interface=", ".join(tagged),
            direction="input",
        )
    cos_of = priorities(request.classes)
    seen: dict[int, ClassRequest] = {}
    for c in request.classes:
        cos = cos_of[c.name]
        other = seen.setdefault(cos, c)
        if other is not c and chosen.queue_of[other.name] != chosen.queue_of[c.name]:
            yield _finding(
                request,
                c,
                "cos-shared",
                Severity.ERROR,
                f"the box chooses queues by CoS, and {other.name} has CoS {cos} too",
                mend="give every class a CoS of its own",
            )
        if c.is_default or (c.mark is not None and c.mark.dscp is not None):
            continue
        if any(t.application for t in c.terms) and any(i.trust for i in request.interfaces):
            yield _finding(
                request,
                c,
                "unmarked-class",
                Severity.ERROR,
                "the class carries no mark, so ports that trust marks cannot tell it from the rest",
                mend="give the class a mark",
            )
        if any(i.recognise for i in request.interfaces):
            yield _finding(
                request,
                c,
                "mark-reset",
                Severity.WARNING,
                "the class carries no mark, and an untrusted port sets the DSCP of what it lets in to 0",
                mend="give the class a mark",
            )


def _finding(
    request: DeviceRequest, wanted: ClassRequest, code: str, severity: Severity, message: str, *, mend: str
) -> Finding:
    return Finding(
        code=code,
        severity=severity,
        message=message,
        device=request.device,
        traffic_class=wanted.name,
        line=wanted.line,
        mend=mend,
    )
