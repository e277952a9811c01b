"""What FTOS cannot hold of a request, told before the box is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from app.findings import Finding, Severity
from app.plan.model import Plan, Term
from app.plan.request import ClassRequest, DeviceRequest
from app.platforms.force10_e300.capabilities import default_wred, family, predefined_wred
from app.platforms.recognition import header_terms


def expressible(request: DeviceRequest, wanted: ClassRequest) -> tuple[Term, ...]:
    """The alternatives that a layer-3 class map can hold: ports in one access list, or DSCPs."""
    return tuple(t for t in header_terms(request, wanted) if not t.cos and not (t.dscp and t.protocol is not None))


def match_findings(request: DeviceRequest, queue_of: Mapping[str, int]) -> Iterator[Finding]:
    """Alternatives that are left out, and classes that the box looks at in another order."""
    for c in request.classes:
        for term in header_terms(request, c):
            if term in expressible(request, c):
                continue
            by_cos = bool(term.cos)
            yield Finding(
                code="cos-match-unsupported" if by_cos else "match-combination-unsupported",
                severity=Severity.ERROR,
                message="a layer-3 policy does not see the CoS"
                if by_cos
                else "a class map that has several alternatives cannot join ports and DSCP in one of them",
                device=request.device,
                direction="input",
                traffic_class=c.name,
                line=c.line,
                mend="match DSCPs instead" if by_cos else "match the application or the DSCP",
            )
    earlier: list[ClassRequest] = []
    for c in request.classes:
        if c.is_default:
            continue
        before = [e.name for e in earlier if queue_of[e.name] < queue_of[c.name]]
        if before:
            yield Finding(
                code="match-order-differs",
                severity=Severity.WARNING,
                message="the box tries the class of the higher queue first: a packet of both is this one's",
                device=request.device,
                direction="input",
                traffic_class=c.name,
                line=c.line,
                asked=f"after {', '.join(before)}",
                will_be=f"before {', '.join(before)}",
            )
        earlier.append(c)


def mark_findings(request: DeviceRequest) -> Iterator[Finding]:
    """The CoS of a class: a layer-3 policy writes DSCPs only."""
    tagged = [i.name for i in request.interfaces if i.tagged and i.schedule]
    wanted = [c for c in request.classes if c.mark is not None and c.mark.cos is not None]
    if not (tagged and wanted):
        return
    yield Finding(
        code="cos-not-written",
        severity=Severity.WARNING,
        message="a layer-3 policy of the box marks the DSCP only, the CoS of tagged frames stays as it comes",
        device=request.device,
        interface=", ".join(tagged),
        direction="output",
        asked=", ".join(f"{c.name} CoS {c.mark.cos}" for c in wanted if c.mark),
        will_be="DSCP marked, CoS unchanged",
        mend="trust the DSCP at the other end of the link",
    )


def wred_findings(request: DeviceRequest) -> Iterator[Finding]:
    """Early detection is by colour, with the thresholds of the box."""
    families = sorted({family(i.name, request.device) for i in request.interfaces if i.schedule})
    for c in request.classes:
        if c.treatment.wred is None:
            continue
        parts = [
            f"{colour} {low} to {high} KB on {name}"
            for name in families
            for colour, profile in default_wred(name).items()
            for low, high in [predefined_wred()[profile]]
        ]
        yield Finding(
            code="wred-by-colour",
            severity=Severity.INFO,
            message="early detection tells packets by colour (the DSCP's drop bits), with the predefined profiles",
            device=request.device,
            direction="output",
            traffic_class=c.name,
            line=c.line,
            will_be=", ".join(parts),
        )


def box_findings(request: DeviceRequest, strict: int | None, running: Plan | None) -> Iterator[Finding]:
    """What the box holds already and the request does not mention."""
    held = running.system.scheduler if running else None
    queue = next((q.number for q in held.queues if q.priority), None) if held else None
    if strict is None and queue is not None:
        yield Finding(
            code="strict-queue-held",
            severity=Severity.ERROR,
            message=f"queue {queue} is strict on the whole box, and the intent has no priority class",
            device=request.device,
            direction="output",
            asked="no strict queue",
            will_be=f"queue {queue} strict",
            mend="take it back with 'no strict-priority unicast', or give a class priority",
        )
