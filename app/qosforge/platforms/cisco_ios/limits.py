"""Check what IOS would refuse or misread, before a device is touched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.intent.queue_size import QueueSize
from qosforge.inventory.models import DeviceRole
from qosforge.note import because, note
from qosforge.plan.model import InterfacePlan, Plan, Queue, Share, ShareUnit
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.platforms.capability_data import Range
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES, since
from qosforge.platforms.cisco_ios.guarantees import PolicyLevel, most_reservable, served_first
from qosforge.platforms.cisco_ios.policing import check_policer
from qosforge.platforms.cisco_ios.trains import has, hqf, uses_car
from qosforge.platforms.cisco_ios.wred import red_unit, whole_packets
from qosforge.units import format_rate

_EXACT = 1e-6


def trusts_mark(request: DeviceRequest, class_request: ClassRequest) -> bool:
    """Whether a class-map tells a class by the mark that an edge has set, and never by what the intent lists.

    Not where an input of the device recognises classes itself, be it an edge or not. On an edge it goes for images
    whose inputs have no class-maps, where every output asks for marks.
    """
    recognised = any(i.recognise for i in request.interfaces)
    outputs_alone = uses_car(request) or not recognised
    set_before = outputs_alone and all(i.by_mark for i in request.interfaces if i.schedule)
    behind_edge = request.role is not DeviceRole.EDGE and outputs_alone
    return class_request.recognised_by is not None and (behind_edge or set_before)


def may_detect(request: DeviceRequest, class_request: ClassRequest) -> bool:
    """Whether a class can have WRED: the device wants a bandwidth or a shape, but in the default class."""
    treatment = class_request.treatment
    fair = treatment.fair_queue is not None and hqf(request)
    return class_request.is_default or (
        not served_first(request, class_request) and bool(treatment.bandwidth or treatment.shape or fair)
    )


def fair_queue(
    request: DeviceRequest, class_request: ClassRequest, share: Share | None, findings: list[Finding]
) -> dict[str, Any]:
    """The fields of a queue whose flows are served in turn; none where the device does not do that."""
    requested = class_request.treatment.fair_queue
    if requested is None:
        return {}
    variant = None
    if not hqf(request):
        if not class_request.is_default:
            variant = "class-default-only"
        elif share is not None:
            variant = "beside-bandwidth"
    elif served_first(request, class_request):
        variant = "priority"
    if variant is None:
        return {"fair": True, "flows": requested.flows}
    findings.append(
        note(
            "fair-queue-unsupported",
            class_place(request, class_request, direction="output"),
            variant=variant,
            image=request.image,
            since=since("hqf"),
            preferred=requested.prefer,
        )
    )
    return {}


def check_inputs(
    request: DeviceRequest, class_request: ClassRequest, held: frozenset[str] | None
) -> Iterator[Finding]:
    """Input interfaces that a class matches by and the device does not have; ``held`` are its own, where known."""
    named = dict.fromkeys(
        name for t in (*class_request.terms, *class_request.none_of) for name in t.input_interface
    )
    for name in named:
        if held is not None and name not in held:
            yield note(
                "interface-missing",
                class_place(request, class_request),
                variant="input",
                name=name,
            )


def queue_limit(
    request: DeviceRequest, class_request: ClassRequest, rate: float, findings: list[Finding]
) -> dict[str, int | None]:
    """The limit fields of a class's queue: what is asked for, else (and where the device refuses it) its own.

    ``rate`` in bits per second is what the queue drains at.
    """
    requested = class_request.treatment.queue_limit
    limits = CAPABILITIES.class_queue_limit
    usual: dict[str, int | None] = {"limit_packets": limits.value}
    if requested is None:
        return usual
    modern = hqf(request)
    low, high = limits.minimum, limits.maximum_hqf if modern else limits.maximum
    field, unit, value = "limit_packets", "packets", requested.packets
    if requested.bytes is not None:
        field, unit, value = "limit_bytes", "bytes", requested.bytes
    elif requested.time is not None:
        field, unit, value = "limit_ms", "ms", int(round(requested.time * 1000, 6))
    assert value is not None
    wred = class_request.treatment.wred
    detected = red_unit(request, class_request.treatment)
    if modern and unit != detected and wred and wred.profiles and may_detect(request, class_request):
        # The thresholds of a class and its limit are in one unit ("Byte-Based Weighted Random Early Detection").
        stated = QueueSize(value, "bytes") if unit == "bytes" else QueueSize(value, "ms")
        value = whole_packets(stated, rate)
        findings.append(
            note(
                "queue-limit-approximate",
                class_place(request, class_request, direction="output"),
                requested=f"{stated.value} {'B' if unit == 'bytes' else unit}",
                applied=f"{value} packets",
                variant="beside-wred",
                size=CAPABILITIES.packet_bytes.value,
            )
        )
        field, unit = "limit_packets", "packets"
    size = CAPABILITIES.packet_bytes.value
    if class_request.treatment.priority and not modern:
        why = because("queue-limit-unsupported", variant="priority")
    elif not may_detect(request, class_request) and not (modern and class_request.treatment.priority):
        why = because("queue-limit-unsupported", variant="no-bandwidth")
    elif wred and not modern:
        why = because("queue-limit-unsupported", variant="beside-wred")
    elif unit != "packets" and not modern:
        image = {"image": request.image}
        if unit == "bytes":
            packets = max(1, value // size)
            why = because("queue-limit-unsupported", variant="bytes", packets=packets, size=size, **image)
        else:
            why = because("queue-limit-unsupported", variant="time", **image)
    elif not low <= value <= high:
        why = because("queue-limit-unsupported", variant="out-of-range", value=value, unit=unit, low=low, high=high)
    else:
        if field == "limit_ms" and requested.time is not None and abs(requested.time * 1000 - value) > _EXACT:
            findings.append(
                note(
                    "queue-limit-approximate",
                    class_place(request, class_request),
                    requested=f"{requested.time * 1000:.6g} ms",
                    applied=f"{value} ms",
                    variant="milliseconds",
                )
            )
        return {"limit_packets": None, field: value}
    findings.append(why.note(class_place(request, class_request), preferred=requested.prefer))
    return usual


def shape_rate(
    level: PolicyLevel, rate: int, class_request: ClassRequest | None, findings: list[Finding]
) -> int | None:
    """A rate in bits per second as the device shapes to it; None where it does not.

    Without a class it is the port's.
    """
    request = level.request
    limits = CAPABILITIES.shape_bps
    low, high, step = limits.minimum, limits.maximum, limits.step
    if hqf(request):
        high = CAPABILITIES.shape_bps_hqf.maximum
    # Without a shape a subinterface takes no policy that divides it, and one at a port that sends faster than its
    # contract has nothing to divide: the packets wait, and are dropped, behind the device.
    port = level.interface
    prefer = port.shape_prefer and "." not in port.name and not port.below_rate
    if class_request is not None:
        prefer = class_request.treatment.shape is not None and class_request.treatment.shape.prefer
    at_class = class_request is not None and class_request.treatment.shape
    place = Place(
        device=request.device,
        interface=None if at_class else level.interface.name,
        direction="output",
        traffic_class=class_request.name if class_request else None,
        line=class_request.line if class_request else None,
    )
    if not has(request, "shape"):
        contract = class_request is None and port.below_rate
        variant = "contract" if contract else "no-shaping"
        findings.append(note("shape-unsupported", place, variant=variant, image=request.image, preferred=prefer))
        return None
    if not low <= rate <= high:
        findings.append(
            note(
                "shape-unsupported",
                place,
                variant="out-of-range",
                rate=rate,
                low=low,
                high=high,
                preferred=prefer,
            )
        )
        return None
    if has(request, "shape_any_rate") or rate % step == 0:
        return rate
    held: int = rate // step * step
    findings.append(
        note(
            "shape-approximate",
            place,
            requested=f"{rate} b/s",
            applied=f"{held} b/s",
            variant="multiples",
            image=request.image,
            step=step,
        )
    )
    return held


def priority_burst(request: DeviceRequest, class_request: ClassRequest, findings: list[Finding]) -> int | None:
    """The burst in bytes of a priority class; None where none is asked for or the device does not take it."""
    requested = class_request.treatment.priority.burst if class_request.treatment.priority else None
    if requested is None:
        return None
    low, high = CAPABILITIES.priority_burst.minimum, CAPABILITIES.priority_burst.maximum
    first = served_first(request, class_request)
    if first and low <= requested <= high and has(request, "priority_burst"):
        return requested
    if first and not has(request, "priority_burst"):
        release = since("priority_burst")
        why = because("priority-burst-unsupported", variant="no-burst", image=request.image, release=release)
    elif first:
        why = because("priority-burst-unsupported", variant="out-of-range", burst=requested, low=low, high=high)
    else:
        why = because("priority-burst-unsupported", variant="no-priority", image=request.image, low=low, high=high)
    findings.append(why.note(class_place(request, class_request)))
    return None


def check_treatments(request: DeviceRequest, classes: Iterable[ClassRequest]) -> Iterator[Finding]:
    """Marks, WRED and policers that the device cannot have."""
    scheduled = any(i.schedule for i in request.interfaces)
    for c in classes:
        yield from check_policer(request, c)
        wred = c.treatment.wred
        if wred and not may_detect(request, c) and scheduled:
            yield note("wred-unsupported", class_place(request, c), variant="no-bandwidth", preferred=wred.prefer)
        if (
            c.mark
            and c.mark.cos is not None
            and c.mark.dscp is None
            and c.mark.precedence is None
            and any(i.recognise for i in request.interfaces)
        ):
            yield note("mark-needed", class_place(request, c), variant="cos-on-input", cos=c.mark.cos)


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
    yield from _differing(request, interface_request, current.bandwidth_kbps)


def check_member(
    request: DeviceRequest, interface_request: InterfaceRequest, running: Plan | None
) -> Iterator[Finding]:
    """Fragments of a bundle whose line has another ``bandwidth`` than the bundle's link.

    The size is that of the delay at the bandwidth of each line (10000 series, OL-2226-23 p. 22-12; a bundle of
    three lines shows fragments of one line's rate, OL-7433-09 p. 16-67), while the guide to voice over IP speaks of
    the bundle's: with both set they agree.
    """
    line = running.interface(interface_request.member) if running and interface_request.member else None
    asked = interface_request.efficiency
    if line is None or line.bandwidth_kbps is None or asked is None or asked.blocking_delay is None:
        return
    yield from _differing(request, interface_request, line.bandwidth_kbps, variant="member", member=line.name)


def _differing(
    request: DeviceRequest, interface_request: InterfaceRequest, held: int, **said: str
) -> Iterator[Finding]:
    kbps = interface_request.usable // 1000
    if held != kbps:
        place = Place(device=request.device, interface=interface_request.name, direction="output")
        requested, applied = format_rate(1000 * kbps), format_rate(1000 * held)
        yield note("bandwidth-differs", place, requested=requested, applied=applied, kbps=kbps, **said)


def check_level(level: PolicyLevel, queues: tuple[Queue, ...]) -> Iterator[Finding]:
    """Ranges and sums of the queues of one policy."""
    explicit = Fraction(0)
    for queue, class_request in zip(queues, level.classes, strict=True):
        if queue.share is None:
            continue
        if queue.share.unit is ShareUnit.KBPS:
            limits = CAPABILITIES.priority_kbps if queue.priority else CAPABILITIES.bandwidth_kbps
            if not limits.minimum <= queue.share.value <= limits.maximum:
                yield _share_out_of_range(level, class_request, queue.share.value, limits)
            explicit += Fraction(queue.share.value * 100, max(level.kbps, 1))
        elif queue.share.unit is ShareUnit.PERCENT:
            explicit += queue.share.value
    default = next((q.share for q, c in zip(queues, level.classes, strict=True) if c.is_default), None)
    reservable = most_reservable(level, default)
    if explicit > reservable:
        yield note(
            "reserved-bandwidth-exceeded",
            Place(device=level.request.device, interface=level.interface.name, direction="output"),
            requested=f"{float(explicit * level.kbps / 100):.6g} kb/s",
            applied=f"at most {level.kbps * reservable // 100} kb/s",
            reserved=float(explicit),
            kbps=level.kbps,
            reservable=float(reservable),
        )


def _share_out_of_range(level: PolicyLevel, class_request: ClassRequest, kbps: int, limits: Range) -> Finding:
    low, high = limits.minimum, limits.maximum
    if kbps >= low:
        why = because("share-out-of-range", kbps=kbps, minimum=low, maximum=high)
    elif has(level.request, "remaining_percent"):
        why = because("share-out-of-range", variant="below", kbps=kbps, minimum=low, maximum=high)
    else:
        why = because(
            "share-out-of-range",
            variant="below-in-kbps",
            kbps=kbps,
            minimum=low,
            maximum=high,
            image=level.request.image,
            release=since("remaining_percent"),
        )
    return why.note(level.place(class_request))
