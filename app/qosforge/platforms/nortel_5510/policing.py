"""Meters of classes on host ports and shapers of ports, in the rates and buckets that the device has.

The device takes no bucket size: it works it out of a second rate and a duration, and rounds to one of eight.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.intent.models import Police, Remark
from qosforge.note import note
from qosforge.plan.model import DROP, TRANSMIT, Action, Policer
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.platforms.capability_data import nearest
from qosforge.platforms.nortel_5510.capabilities import CAPABILITIES
from qosforge.platforms.rounding import burst_findings, rate_findings
from qosforge.units import format_rate


@dataclass(frozen=True)
class Typed:
    """A bucket as it is typed: kb/s, kb/s and ms."""

    rate: int
    burst_rate: int
    duration: int


BUCKETS = CAPABILITIES.buckets.value
"""Sizes of a bucket in bytes."""


def typed(rate: int, bucket: int) -> Typed:
    """What is typed for a rate (b/s) and a bucket (bytes)."""
    above = CAPABILITIES.burst_above.value
    return Typed(rate // 1000, rate // 1000 + above, round(bucket * 8 / above))


def bucket_of(rate: int, burst_rate: int, duration: int | None) -> int:
    """The bucket (bytes) that the device makes of rates (kb/s) and a duration (ms); the largest without one.

    The one whose own duration, rounded, is nearest: that gives the guide's table back (10 and 15 Mb/s).
    """
    if duration is None or burst_rate <= rate:
        return BUCKETS[-1]
    return min(BUCKETS, key=lambda size: abs(round(size * 8 / (burst_rate - rate)) - duration))


def policer(class_request: ClassRequest, dscp: int | None, cos: int) -> Policer | None:
    """The meter of a class that is marked with these; None where none is asked for on input."""
    police = class_request.treatment.police
    if police is None or police.direction != "input":
        return None
    return Policer(
        rate=CAPABILITIES.meter_rate.nearest(police.committed_rate),
        burst=nearest(BUCKETS, police.burst_bytes),
        exceed=_exceed(police, dscp, cos),
    )


def _exceed(police: Police, dscp: int | None, cos: int) -> Action:
    """What exceeds stays in the queue of its class, so that no flow overtakes itself."""
    if police.exceed == "drop":
        return DROP
    if not isinstance(police.exceed, Remark):
        return TRANSMIT
    if police.exceed.cos is not None:
        return Action(set_dscp=dscp, set_cos=police.exceed.cos)
    return Action(set_dscp=police.exceed.code_point, set_cos=cos)


def police_findings(request: DeviceRequest) -> Iterator[Finding]:
    """Where a meter is not what was asked for."""
    for c in request.classes:
        police, held = c.treatment.police, policer(c, None, 0)
        if police is not None and held is not None:
            place = class_place(request, c, direction="input")
            yield from rate_findings(
                place,
                police,
                held.rate,
                request.tolerance,
                CAPABILITIES.meter_rate,
                variant="meters",
                variant_beyond="meters-beyond",
            )
            yield from burst_findings(
                place, police, held.burst, variant="meters", least=BUCKETS[0], most=BUCKETS[-1]
            )


def shaped(interface_request: InterfaceRequest) -> tuple[int | None, int | None]:
    """Rate (b/s) and bucket (bytes) of a port's shaper; nothing where none is asked for or the device has none."""
    rates = CAPABILITIES.meter_rate
    if interface_request.shape is None or interface_request.shape < rates.minimum:
        return None, None
    rate = min(interface_request.shape // rates.step * rates.step, rates.maximum)
    return rate, nearest(BUCKETS, rate / 8000 * CAPABILITIES.shaper_bucket_ms.value)


def shape_findings(request: DeviceRequest) -> Iterator[Finding]:
    """Which ports are shaped, and where the rate is not the one asked for."""
    rates = CAPABILITIES.meter_rate
    steps = {"lowest": format_rate(rates.minimum), "step": format_rate(rates.step)}
    for interface_request in request.interfaces:
        if interface_request.shape is None:
            continue
        rate, bucket = shaped(interface_request)
        place = Place(device=request.device, interface=interface_request.name, direction="output")
        facts: dict[str, Any] = {"requested": format_rate(interface_request.shape), "variant": "steps", **steps}
        if rate is None:
            preferred = interface_request.shape_prefer
            yield note("port-shape-unsupported", place, applied="not shaped", preferred=preferred, **facts)
            continue
        facts["applied"] = f"{format_rate(rate)} with a bucket of {bucket} bytes"
        if rate == interface_request.shape:
            yield note("port-shaped", place, **facts)
        else:
            if interface_request.shape - rate > request.tolerance * interface_request.shape:
                facts["variant"] = "steps-beyond"
            yield note("port-shape-approximate", place, **facts)
