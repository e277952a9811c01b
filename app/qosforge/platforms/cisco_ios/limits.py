"""Check what IOS would refuse or misread, before a device is touched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from qosforge.findings import Finding, Severity
from qosforge.inventory.models import DeviceRole
from qosforge.plan.model import InterfacePlan, Queue, ShareUnit
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.platforms.cisco_ios.capabilities import capabilities
from qosforge.platforms.cisco_ios.guarantees import PolicyLevel, served_first
from qosforge.platforms.cisco_ios.policing import check_policer
from qosforge.platforms.cisco_ios.trains import has, hqf, uses_car

_LESS = "ask for less, or give shares as remaining_percent"
_EXACT = 1e-6


def trusts_mark(request: DeviceRequest, class_request: ClassRequest) -> bool:
    """Whether a class-map tells a class by the mark that an edge has set, and never by what the intent lists.

    On an edge that goes for images whose inputs have no class-maps, where every output asks for marks.
    """
    outputs_alone = uses_car(request) or not any(i.recognise for i in request.interfaces)
    set_before = outputs_alone and all(i.by_mark for i in request.interfaces if i.schedule)
    return class_request.recognised_by is not None and (request.role is not DeviceRole.EDGE or set_before)


def may_detect(request: DeviceRequest, class_request: ClassRequest) -> bool:
    """Whether a class can have WRED: the device wants a bandwidth or a shape, but in the default class."""
    treatment = class_request.treatment
    return class_request.is_default or (
        not served_first(request, class_request) and bool(treatment.bandwidth or treatment.shape)
    )


def refused_match(request: DeviceRequest, class_request: ClassRequest, why: str) -> Finding:
    """A match that no class-map holds: it has one condition a line, and joins its lines all in one way."""
    hint = "split the class, or match fewer things at once"
    return class_finding(request, class_request, "match-combination-unsupported", why, hint)


def check_inputs(
    request: DeviceRequest, class_request: ClassRequest, held: frozenset[str] | None
) -> Iterator[Finding]:
    """Input interfaces that a class matches by and the device does not have; ``held`` are its own, where known."""
    named = dict.fromkeys(
        name for t in (*class_request.terms, *class_request.none_of) for name in t.input_interface
    )
    for name in named:
        if held is not None and name not in held:
            yield class_finding(
                request,
                class_request,
                "interface-missing",
                f"the device has no interface {name}",
                "write its name as the inventory does",
            )


def queue_limit(
    request: DeviceRequest, class_request: ClassRequest, findings: list[Finding]
) -> dict[str, int | None]:
    """The limit fields of a class's queue: what is asked for, else (and where the device refuses it) its own."""
    requested = class_request.treatment.queue_limit
    limits = capabilities()["class_queue_limit"]
    usual: dict[str, int | None] = {"limit_packets": limits["value"]}
    if requested is None:
        return usual
    modern = hqf(request)
    low, high = limits["minimum"], limits["maximum_hqf" if modern else "maximum"]
    field, unit, value = "limit_packets", "packets", requested.packets
    if requested.bytes is not None:
        field, unit, value = "limit_bytes", "bytes", requested.bytes
    elif requested.time is not None:
        field, unit, value = "limit_ms", "ms", int(round(requested.time * 1000, 6))
    assert value is not None
    size = capabilities()["packet_bytes"]["value"]
    if class_request.treatment.priority and not modern:
        why, hint = "a priority queue has no queue limit", "leave the limit out"
    elif not may_detect(request, class_request) and not (modern and class_request.treatment.priority):
        why, hint = "a queue limit needs a bandwidth in its class", "give the class a bandwidth"
    elif class_request.treatment.wred and not modern:
        why, hint = "early detection decides what waits, beside it there is no queue limit", "leave one of them out"
    elif unit != "packets" and not modern:
        why = f"image {request.image} counts a queue in packets, not in {unit}"
        hint = "give the limit in packets" + (
            f": {max(1, value // size)} of {size} bytes" if unit == "bytes" else ""
        )
    elif not low <= value <= high:
        why, hint = f"a queue limit of {value} {unit} is outside {low} to {high}", f"ask for {low} to {high} {unit}"
    else:
        if requested.time is not None and abs(requested.time * 1000 - value) > _EXACT:
            message = "the device takes whole milliseconds"
            finding = class_finding(
                request,
                class_request,
                "queue-limit-approximate",
                message,
                "ask for whole milliseconds",
                severity=Severity.INFO,
            )
            findings.append(
                finding.model_copy(
                    update={"requested": f"{requested.time * 1000:.6g} ms", "applied": f"{value} ms"}
                )
            )
        return {"limit_packets": None, field: value}
    severity = Severity.WARNING if requested.prefer else Severity.ERROR
    findings.append(class_finding(request, class_request, "queue-limit-unsupported", why, hint, severity=severity))
    return usual


def shape_rate(
    level: PolicyLevel, rate: int, class_request: ClassRequest | None, findings: list[Finding]
) -> int | None:
    """A rate in bits per second as the device shapes to it; None where it does not.

    Without a class it is the port's.
    """
    request = level.request
    limits = capabilities()["shape_bps"]
    low, high, step = limits["minimum"], limits["maximum"], limits["step"]
    if hqf(request):
        high = capabilities()["shape_bps_hqf"]["maximum"]
    # Without a shape a subinterface takes no policy that divides it.
    prefer = level.interface.shape_prefer and "." not in level.interface.name
    if class_request is not None:
        prefer = class_request.treatment.shape is not None and class_request.treatment.shape.prefer
    finding = Finding(
        code="shape-unsupported",
        severity=Severity.WARNING if prefer else Severity.ERROR,
        message=f"a shaped rate of {rate} b/s is outside {low} to {high} b/s",
        device=request.device,
        interface=None if class_request is not None and class_request.treatment.shape else level.interface.name,
        direction="output",
        traffic_class=class_request.name if class_request else None,
        line=class_request.line if class_request else None,
        hint=f"ask for {low} to {high} b/s",
    )
    if not has(request, "shape"):
        message = f"image {request.image} has no class-based shaping"
        findings.append(finding.model_copy(update={"message": message, "hint": "load a newer image"}))
        return None
    if not low <= rate <= high:
        findings.append(finding)
        return None
    if has(request, "shape_any_rate") or rate % step == 0:
        return rate
    held: int = rate // step * step
    findings.append(
        finding.model_copy(
            update={
                "code": "shape-approximate",
                "severity": Severity.INFO,
                "message": f"image {request.image} shapes to multiples of {step} b/s",
                "requested": f"{rate} b/s",
                "applied": f"{held} b/s",
                "hint": f"ask for a multiple of {step} b/s",
            }
        )
    )
    return held


def priority_burst(request: DeviceRequest, class_request: ClassRequest, findings: list[Finding]) -> int | None:
    """The burst in bytes of a priority class; None where none is asked for or the device does not take it."""
    requested = class_request.treatment.priority.burst if class_request.treatment.priority else None
    if requested is None:
        return None
    low, high = (capabilities()["priority_burst"][end] for end in ("minimum", "maximum"))
    if served_first(request, class_request) and low <= requested <= high:
        return requested
    why = f"a burst of {requested} bytes is outside {low} to {high} bytes"
    if not served_first(request, class_request):
        why = f"image {request.image} has no priority queue"
    hint = f"ask for {low} to {high} bytes, or leave the burst out"
    findings.append(
        class_finding(request, class_request, "priority-burst-unsupported", why, hint, severity=Severity.WARNING)
    )
    return None


def check_treatments(request: DeviceRequest, classes: Iterable[ClassRequest]) -> Iterator[Finding]:
    """Marks, WRED and policers that the device cannot have."""
    scheduled = any(i.schedule for i in request.interfaces)
    for c in classes:
        yield from check_policer(request, c)
        wred = c.treatment.wred
        if wred and not may_detect(request, c) and scheduled:
            severity = Severity.WARNING if wred.prefer else Severity.ERROR
            message = "WRED needs a bandwidth in its class"
            hint = "give the class a bandwidth"
            yield class_finding(request, c, "wred-unsupported", message, hint, severity=severity)
        if (
            c.mark
            and c.mark.cos is not None
            and c.mark.dscp is None
            and c.mark.precedence is None
            and any(i.recognise for i in request.interfaces)
        ):
            message = f"CoS {c.mark.cos} cannot be set on input"
            yield class_finding(request, c, "mark-needed", message, "mark the class with a dscp too")


def check_bandwidth(
    request: DeviceRequest, interface_request: InterfaceRequest, current: InterfacePlan | None
) -> Iterator[Finding]:
    """Shares and fragment sizes are computed from the interface's ``bandwidth``: it must be the link's rate."""
    if (
        current is None
        or current.bandwidth_kbps is None
        or not (interface_request.schedule or interface_request.efficiency)
    ):
        return
    kbps = interface_request.usable // 1000
    if current.bandwidth_kbps != kbps:
        yield Finding(
            code="bandwidth-differs",
            severity=Severity.ERROR,
            message="the interface's bandwidth is not the link's rate, so every share would be wrong",
            device=request.device,
            interface=interface_request.name,
            direction="output",
            requested=f"{kbps} kb/s",
            applied=f"{current.bandwidth_kbps} kb/s",
            hint=f"set 'bandwidth {kbps}' on the interface, or correct the rate in the inventory",
        )


def check_level(level: PolicyLevel, queues: tuple[Queue, ...]) -> Iterator[Finding]:
    """Ranges and sums of the queues of one policy."""
    explicit = Fraction(0)
    for queue, class_request in zip(queues, level.classes, strict=True):
        if queue.share is None:
            continue
        if queue.share.unit is ShareUnit.KBPS:
            limits = capabilities()["priority_kbps" if queue.priority else "bandwidth_kbps"]
            if not limits["minimum"] <= queue.share.value <= limits["maximum"]:
                message = f"{queue.share.value} kb/s is outside {limits['minimum']} to {limits['maximum']} kb/s"
                yield level.tell(
                    class_request, "share-out-of-range", message, None, None, severity=Severity.ERROR, hint=_LESS
                )
            explicit += Fraction(queue.share.value * 100, max(level.kbps, 1))
        elif queue.share.unit is ShareUnit.PERCENT:
            explicit += queue.share.value
    if explicit > level.reservable:
        yield Finding(
            code="reserved-bandwidth-exceeded",
            severity=Severity.ERROR,
            message=f"classes reserve {float(explicit):.6g} % of {level.kbps} kb/s, this image allows "
            f"{level.reservable} %",
            device=level.request.device,
            interface=level.interface.name,
            direction="output",
            requested=f"{float(explicit * level.kbps / 100):.6g} kb/s",
            applied=f"at most {level.kbps * level.reservable // 100} kb/s",
            hint=_LESS,
        )


def class_finding(
    request: DeviceRequest,
    class_request: ClassRequest,
    code: str,
    message: str,
    hint: str,
    *,
    severity: Severity = Severity.ERROR,
) -> Finding:
    """A finding on a class wherever it is served."""
    return Finding(
        code=code,
        severity=severity,
        message=message,
        device=request.device,
        traffic_class=class_request.name,
        line=class_request.line,
        hint=hint,
    )
