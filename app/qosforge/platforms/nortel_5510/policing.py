"""Meters of classes on host ports and shapers of ports, in the rates and buckets that the device has."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.intent.models import Police, Remark
from qosforge.note import note
from qosforge.plan.model import DROP, TRANSMIT, Action, Policer
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.platforms.nortel_5510.capabilities import CAPABILITIES
from qosforge.platforms.nortel_5510.metering import buckets, nearest_bucket, nearest_rate, rate_below, rate_range
from qosforge.units import format_rate


def policer(class_request: ClassRequest, dscp: int | None, cos: int) -> Policer | None:
    """The meter of a class that is marked with these; None where none is asked for on input."""
    police = class_request.treatment.police
    if police is None or police.direction != "input":
        return None
    return Policer(
        rate=nearest_rate(police.rate),
        burst=nearest_bucket(police.burst_bytes),
        exceed=_exceed(police, dscp, cos),
    )


def _exceed(police: Police, dscp: int | None, cos: int) -> Action:
    """What exceeds stays in the queue of its class, so that no flow overtakes itself."""
    if police.exceed == "drop":
        return DROP
    if not isinstance(police.exceed, Remark):
        return TRANSMIT
    mark = police.exceed
    if mark.cos is not None:
        return Action(set_dscp=dscp, set_cos=mark.cos)
    new = mark.remark if mark.remark is not None else 8 * (mark.precedence or 0)
    return Action(set_dscp=new, set_cos=cos)


def police_findings(request: DeviceRequest) -> Iterator[Finding]:
    """Where a meter is not what was asked for."""
    low, high, step = rate_range()
    for c in request.classes:
        police = c.treatment.police
        if police is None or police.direction != "input":
            continue
        rate, burst = nearest_rate(police.rate), nearest_bucket(police.burst_bytes)
        if rate != police.rate:
            beyond = abs(rate - police.rate) > request.tolerance * police.rate
            yield note(
                "police-rate-approximate",
                class_place(request, c, direction="input"),
                requested=format_rate(police.rate),
                applied=format_rate(rate),
                variant="meters-beyond" if beyond else "meters",
                lowest=format_rate(low),
                highest=format_rate(high),
                step=format_rate(step),
                preferred=police.prefer,
            )
        if police.burst is not None and burst != police.burst:
            yield note(
                "police-burst-approximate",
                class_place(request, c, direction="input"),
                requested=f"{police.burst} bytes",
                applied=f"{burst} bytes",
                variant="meters",
                least=buckets()[0],
                most=buckets()[-1],
            )


def shaped(interface_request: InterfaceRequest) -> tuple[int | None, int | None]:
    """Rate (b/s) and bucket (bytes) of a port's shaper; nothing where none is asked for or the device has none."""
    rate = rate_below(interface_request.shape) if interface_request.shape is not None else None
    if rate is None:
        return None, None
    return rate, nearest_bucket(rate / 8000 * CAPABILITIES.shaper_bucket_ms.value)


def shape_findings(request: DeviceRequest) -> Iterator[Finding]:
    """Which ports are shaped, and where the rate is not the one asked for."""
    low, _, step = rate_range()
    for interface_request in request.interfaces:
        if interface_request.shape is None:
            continue
        rate, bucket = shaped(interface_request)
        place = Place(device=request.device, interface=interface_request.name, direction="output")
        requested = format_rate(interface_request.shape)
        steps = {"lowest": format_rate(low), "step": format_rate(step)}
        if rate is None:
            prefer = interface_request.shape_prefer
            yield note(
                "port-shape-unsupported",
                place,
                requested=requested,
                applied="not shaped",
                variant="steps",
                preferred=prefer,
                **steps,
            )
            continue
        applied = f"{format_rate(rate)} with a bucket of {bucket} bytes"
        if rate == interface_request.shape:
            yield note("port-shaped", place, requested=requested, applied=applied, variant="steps", **steps)
        else:
            beyond = interface_request.shape - rate > request.tolerance * interface_request.shape
            variant = "steps-beyond" if beyond else "steps"
            yield note(
                "port-shape-approximate", place, requested=requested, applied=applied, variant=variant, **steps
            )
