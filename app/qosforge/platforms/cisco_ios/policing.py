"""Policers of policy classes, as far as the image takes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.intent.models import Police, PoliceAction, Remark
from qosforge.note import note
from qosforge.plan.model import DROP, TRANSMIT, Action, InterfacePlan, Policer
from qosforge.plan.percentages import percentage_rules
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES, since
from qosforge.platforms.cisco_ios.trains import has, uses_car


def policer(
    request: DeviceRequest, class_request: ClassRequest, side: Literal["input", "output"]
) -> Policer | None:
    """The policer of a class on one side of the device; None where none is asked for or the device refuses it."""
    requested = class_request.treatment.police
    if (
        requested is None
        or requested.direction != side
        or uses_car(request)
        or any(check_policer(request, class_request))
    ):
        return None
    exceed = _action(requested.exceed)
    violate = _action(requested.violate) if requested.violate is not None else exceed
    values: dict[str, Any] = {
        "conform": _action(requested.conform),
        "exceed": exceed,
        "violate": violate if violate != exceed else None,
    }
    if requested.percent is not None:
        return Policer(
            percent=requested.percent,
            peak_percent=requested.peak_percent,
            burst_ms=_milliseconds(requested.burst_time),
            excess_burst_ms=_milliseconds(requested.excess_burst_time),
            **values,
        )
    return Policer(
        rate=requested.committed_rate,
        burst=requested.burst_bytes,
        peak_rate=requested.peak_rate,
        excess_burst=requested.excess_bytes,
        **values,
    )


def _milliseconds(time: float | None) -> int | None:
    return None if time is None else int(round(time * 1000, 6))


def _action(requested: PoliceAction) -> Action:
    if isinstance(requested, Remark):
        return Action(set_dscp=requested.remark, set_precedence=requested.precedence, set_cos=requested.cos)
    return DROP if requested == "drop" else TRANSMIT


def check_policer(request: DeviceRequest, class_request: ClassRequest) -> Iterator[Finding]:
    """What the image does not take of a policer."""
    requested = class_request.treatment.police
    if requested is None or not any(
        i.recognise if requested.direction == "input" else i.schedule for i in request.interfaces
    ):
        return
    if uses_car(request):
        return  # CAR polices, and tells what it refuses
    if requested.percent is not None:
        yield from _check_percentage(request, class_request, requested)
        yield from _check_actions(request, class_request, requested)
        return
    place = class_place(request, class_request, direction=requested.direction)
    for refusal in CAPABILITIES.police.refusals(requested):
        yield refusal.note(place, preferred=requested.prefer)
    if requested.peak_rate is not None and not has(request, "police_actions_below"):
        yield _refused(request, class_request, "no-two-rates", image=request.image)
    yield from _check_actions(request, class_request, requested)


def _check_percentage(request: DeviceRequest, class_request: ClassRequest, requested: Police) -> Iterator[Finding]:
    if not has(request, "police_percent"):
        yield _refused(request, class_request, "no-percentage", image=request.image, since=since("police_percent"))
    limits = CAPABILITIES.police_burst_ms
    for time in (requested.burst_time, requested.excess_burst_time):
        value = _milliseconds(time)
        if value is not None and not limits.minimum <= value <= limits.maximum:
            facts = {"value": value, "low": limits.minimum, "high": limits.maximum}
            yield _refused(request, class_request, "burst-time-out-of-range", **facts)


def check_percentages(
    request: DeviceRequest, interface: InterfacePlan, classes: Mapping[str, str]
) -> Iterator[Finding]:
    """Percentages that come to rates which the device does not take: it refuses the policy at that interface."""
    low, high = CAPABILITIES.police.rate.minimum, CAPABILITIES.police.rate.maximum
    prefer = {c.name: c.treatment.police.prefer for c in request.classes if c.treatment.police}
    for side, rules in (("input", interface.ingress.rules), ("output", percentage_rules(interface.egress))):
        for rule in rules:
            police = rule.police
            if police is None or police.percent is None:
                continue
            name = classes.get(rule.name, rule.name)
            for percent, rate in ((police.percent, police.rate), (police.peak_percent, police.peak_rate)):
                if percent is not None and rate is not None and not low <= rate <= high:
                    yield note(
                        "police-unsupported",
                        Place(device=request.device, interface=interface.name, direction=side, traffic_class=name),
                        variant="percentage-out-of-range",
                        percent=percent,
                        value=rate,
                        low=low,
                        high=high,
                        preferred=prefer.get(name, False),
                    )


def _check_actions(request: DeviceRequest, class_request: ClassRequest, requested: Police) -> Iterator[Finding]:
    marks = [a for a in (requested.conform, requested.exceed, requested.violate) if isinstance(a, Remark)]
    if any(m.remark is not None for m in marks) and any(m.precedence is not None for m in marks):
        yield _refused(request, class_request, "dscp-or-precedence")
    if requested.violate == "transmit" and requested.exceed != "transmit":
        yield _refused(request, class_request, "violate-milder")
    if any(m.cos is not None for m in marks) and requested.direction == "input":
        yield _refused(request, class_request, "no-cos-on-input")
    elif any(m.cos is not None for m in marks):
        untagged = [i.name for i in request.interfaces if i.schedule and not i.tagged]
        if untagged:
            yield _refused(request, class_request, "no-cos-untagged", interfaces=", ".join(untagged))


def _refused(request: DeviceRequest, class_request: ClassRequest, variant: str, **facts: Any) -> Finding:
    requested = class_request.treatment.police
    return note(
        "police-unsupported",
        class_place(request, class_request, direction=requested.direction if requested else None),
        variant=variant,
        preferred=requested is not None and requested.prefer,
        **facts,
    )
