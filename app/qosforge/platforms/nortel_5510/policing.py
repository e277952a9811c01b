"""Meters of classes on host ports and shapers of ports, in the rates and buckets that the device has."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.findings import Finding, Severity
from qosforge.intent.models import Police, Remark
from qosforge.plan.model import DROP, TRANSMIT, Action, Policer
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.platforms.nortel_5510.capabilities import capabilities
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
            graver = Severity.WARNING if police.prefer else Severity.ERROR
            yield Finding(
                code="police-rate-approximate",
                severity=graver if beyond else Severity.INFO,
                message=f"meters have rates from {format_rate(low)} to {format_rate(high)} in steps of "
                f"{format_rate(step)}",
                device=request.device,
                direction="input",
                traffic_class=c.name,
                line=c.line,
                requested=format_rate(police.rate),
                applied=format_rate(rate),
                hint="ask for a rate the device has" if beyond else None,
            )
        if police.burst is not None and burst != police.burst:
            yield Finding(
                code="police-burst-approximate",
                severity=Severity.INFO,
                message=f"meters have buckets from {buckets()[0]} to {buckets()[-1]} bytes, doubling",
                device=request.device,
                direction="input",
                traffic_class=c.name,
                line=c.line,
                requested=f"{police.burst} bytes",
                applied=f"{burst} bytes",
            )


def shaped(interface_request: InterfaceRequest) -> tuple[int | None, int | None]:
    """Rate (b/s) and bucket (bytes) of a port's shaper; nothing where none is asked for or the device has none."""
    rate = rate_below(interface_request.shape) if interface_request.shape is not None else None
    if rate is None:
        return None, None
    return rate, nearest_bucket(rate / 8000 * capabilities()["shaper_bucket_ms"]["value"])


def shape_findings(request: DeviceRequest) -> Iterator[Finding]:
    """Which ports are shaped, and where the rate is not the one asked for."""
    low, _, step = rate_range()
    for interface_request in request.interfaces:
        if interface_request.shape is None:
            continue
        rate, bucket = shaped(interface_request)
        beyond = rate is None or interface_request.shape - rate > request.tolerance * interface_request.shape
        graver = Severity.WARNING if interface_request.shape_prefer or rate is not None else Severity.ERROR
        code = "port-shape-unsupported" if rate is None else "port-shape-approximate"
        yield Finding(
            code="port-shaped" if rate == interface_request.shape else code,
            severity=graver if beyond else Severity.INFO,
            message=f"shapers of ports have rates from {format_rate(low)} on in steps of {format_rate(step)}",
            device=request.device,
            interface=interface_request.name,
            direction="output",
            requested=format_rate(interface_request.shape),
            applied="not shaped" if rate is None else f"{format_rate(rate)} with a bucket of {bucket} bytes",
            hint="shape at another device, or ask for whole Mb/s" if beyond else None,
        )
