"""What IOS refuses or misreads, found before it is asked."""

from __future__ import annotations

from collections.abc import Iterator

from app.findings import Finding, Severity
from app.inventory.models import Role
from app.plan.model import InterfacePlan, ShareUnit
from app.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from app.platforms.cisco_ios.capabilities import capabilities, train


def check_image(request: DeviceRequest) -> Iterator[Finding]:
    """What the software train must know for this request.

    Raises:
        InputError: the image states no train.
    """
    here = train(request.image, request.device)
    for c in request.classes:
        inspected = [t.application for t in c.terms if t.application] if not trusts_mark(request, c) else []
        if inspected and here < train(capabilities()["nbar"]["since"]):
            message = f"image {request.image} cannot recognise {', '.join(inspected)}"
            yield _class_finding(
                request, c, "recognition-unsupported", message, "match by dscp, or load a newer image"
            )
        if c.treatment.priority and c.treatment.priority.percent is not None:
            since = capabilities()["priority_percent"]["since"]
            if here < train(since):
                message = f"image {request.image} takes a priority in kb/s only"
                yield _class_finding(request, c, "share-out-of-range", message, "give the priority as rate")


def trusts_mark(request: DeviceRequest, wanted: ClassRequest) -> bool:
    """Whether a class is told here by the mark that an edge has set."""
    return request.role is not Role.EDGE and wanted.mark is not None and wanted.mark.dscp is not None


def may_detect(wanted: ClassRequest) -> bool:
    """Whether a class can have WRED: the box wants a bandwidth for it, but in the class of everything else."""
    return wanted.is_default or wanted.treatment.bandwidth is not None


def check_terms(request: DeviceRequest, wanted: ClassRequest) -> Iterator[Finding]:
    """Alternatives that ask for several things at once: a match-any class-map has one condition a line."""
    for term in wanted.terms:
        fields = [name for name in ("application", "dscp", "cos") if getattr(term, name)]
        if len(fields) > 1:
            message = f"a packet cannot be matched by {' and '.join(fields)} together"
            yield _class_finding(
                request, wanted, "match-combination-unsupported", message, "list them as alternatives under 'any'"
            )


def check_treatments(request: DeviceRequest) -> Iterator[Finding]:
    """Marks and WRED that the box cannot have."""
    for c in request.classes:
        wred = c.treatment.wred
        if wred and not may_detect(c) and any(i.schedule for i in request.interfaces):
            severity = Severity.WARNING if wred.prefer else Severity.ERROR
            message = "WRED needs a bandwidth in its class"
            mend = "give the class a bandwidth"
            yield _class_finding(request, c, "wred-unsupported", message, mend, severity=severity)
        if (
            c.mark
            and c.mark.cos is not None
            and c.mark.dscp is None
            and any(i.recognise for i in request.interfaces)
        ):
            message = f"CoS {c.mark.cos} cannot be set on input"
            yield _class_finding(request, c, "mark-needed", message, "mark the class with a dscp too")


def check_bandwidth(
    request: DeviceRequest, wanted: InterfaceRequest, held: InterfacePlan | None
) -> Iterator[Finding]:
    """Shares and fragment sizes are computed from the interface's ``bandwidth``: it must be the link's rate."""
    if held is None or held.bandwidth_kbps is None or not (wanted.schedule or wanted.efficiency):
        return
    kbps = wanted.usable // 1000
    if held.bandwidth_kbps != kbps:
        yield Finding(
            code="bandwidth-differs",
            severity=Severity.ERROR,
            message="the interface's bandwidth is not the link's rate, so every share would be wrong",
            device=request.device,
            interface=wanted.name,
            direction="output",
            asked=f"{kbps} kb/s",
            will_be=f"{held.bandwidth_kbps} kb/s",
            mend=f"set 'bandwidth {kbps}' on the interface, or correct the rate in the inventory",
        )


def check_queues(request: DeviceRequest, wanted: InterfaceRequest, plan: InterfacePlan) -> Iterator[Finding]:
    """Ranges and sums of the queues of one interface."""
    scheduler = plan.egress.scheduler
    assert scheduler is not None
    explicit = 0.0
    for queue in scheduler.queues:
        if queue.share is None:
            continue
        if queue.share.unit is ShareUnit.KBPS:
            limits = capabilities()["priority_kbps" if queue.priority else "bandwidth_kbps"]
            if not limits["minimum"] <= queue.share.value <= limits["maximum"]:
                yield _queue_finding(
                    request,
                    wanted,
                    queue.name or "",
                    "share-out-of-range",
                    f"{queue.share.value} kb/s is outside {limits['minimum']} to {limits['maximum']} kb/s",
                )
            explicit += queue.share.value * 100_000 / wanted.usable
        elif queue.share.unit is ShareUnit.PERCENT:
            explicit += queue.share.value
    reserved = capabilities()["max_reserved_percent"]
    old = train(request.image, request.device) <= train(reserved["until"]) and "hqf" not in request.features
    limit = reserved["value"] if old else 100
    if explicit > limit:
        yield _queue_finding(
            request,
            wanted,
            "",
            "reserved-bandwidth-exceeded",
            f"classes reserve {explicit:.4g} % of the link, this image allows {limit} %",
        )


def _class_finding(
    request: DeviceRequest,
    wanted: ClassRequest,
    code: str,
    message: str,
    mend: str,
    *,
    severity: Severity = Severity.ERROR,
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


def _queue_finding(request: DeviceRequest, wanted: InterfaceRequest, name: str, code: str, message: str) -> Finding:
    return Finding(
        code=code,
        severity=Severity.ERROR,
        message=message,
        device=request.device,
        interface=wanted.name,
        direction="output",
        traffic_class=name or None,
        mend="ask for less, or give shares as remaining_percent",
    )
