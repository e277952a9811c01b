"""What IOS refuses or misreads, found before it is asked."""

from __future__ import annotations

from collections.abc import Iterator

from app.findings import Finding, Severity
from app.inventory.models import Role
from app.plan.model import InterfacePlan, Plan, ShareUnit
from app.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from app.platforms.cisco_ios.capabilities import capabilities, train
from app.platforms.cisco_ios.policing import check_policer


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


def refused_match(request: DeviceRequest, wanted: ClassRequest, why: str) -> Finding:
    """A match that no class-map holds: it has one condition a line, and joins its lines all in one way."""
    mend = "split the class, or match fewer things at once"
    return _class_finding(request, wanted, "match-combination-unsupported", why, mend)


def check_inputs(request: DeviceRequest, wanted: ClassRequest, running: Plan | None) -> Iterator[Finding]:
    """Input interfaces that a class matches by and the box does not have."""
    named = dict.fromkeys(name for t in (*wanted.terms, *wanted.none_of) for name in t.input_interface)
    for name in named:
        if running is not None and running.interface(name) is None:
            yield _class_finding(
                request,
                wanted,
                "interface-missing",
                f"the box has no interface {name}",
                "write its name as the inventory does",
            )


def queue_limit(request: DeviceRequest, wanted: ClassRequest) -> int | Finding | None:
    """The packets that may wait in a class's queue, or why the box does not let them be set."""
    asked = wanted.treatment.queue_limit
    if asked is None:
        return None
    limits = capabilities()["class_queue_limit"]
    if wanted.treatment.priority:
        why, mend = "a priority queue has no queue limit", "leave the limit out"
    elif not may_detect(wanted):
        why, mend = "a queue limit needs a bandwidth in its class", "give the class a bandwidth"
    elif wanted.treatment.wred:
        why, mend = "early detection decides what waits, beside it there is no queue limit", "leave one of them out"
    elif not limits["minimum"] <= asked.packets <= limits["maximum"]:
        why = f"a queue limit of {asked.packets} packets is outside {limits['minimum']} to {limits['maximum']}"
        mend = f"ask for {limits['minimum']} to {limits['maximum']} packets"
    else:
        return asked.packets
    severity = Severity.WARNING if asked.prefer else Severity.ERROR
    return _class_finding(request, wanted, "queue-limit-unsupported", why, mend, severity=severity)


def shape_rate(request: DeviceRequest, wanted: ClassRequest) -> int | Finding | None:
    """The rate in bits per second that a class is shaped to, or why the box does not take it."""
    asked = wanted.treatment.shape
    if asked is None:
        return None
    low, high = (capabilities()["shape_bps"][end] for end in ("minimum", "maximum"))
    if low <= asked.rate <= high:
        return asked.rate
    severity = Severity.WARNING if asked.prefer else Severity.ERROR
    message = f"a shaped rate of {asked.rate} b/s is outside {low} to {high} b/s"
    return _class_finding(
        request, wanted, "shape-unsupported", message, f"ask for {low} to {high} b/s", severity=severity
    )


def check_treatments(request: DeviceRequest) -> Iterator[Finding]:
    """Marks, WRED, limits, shapes and policers that the box cannot have."""
    scheduled = any(i.schedule for i in request.interfaces)
    for c in request.classes:
        yield from check_policer(request, c)
        if scheduled:
            values = (queue_limit(request, c), shape_rate(request, c))
            yield from (value for value in values if isinstance(value, Finding))
        wred = c.treatment.wred
        if wred and not may_detect(c) and scheduled:
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
