"""Policers of policy classes, as far as the image takes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from qosforge.findings import Finding
from qosforge.intent.models import Police, PoliceAction, Remark
from qosforge.note import note
from qosforge.plan.model import DROP, TRANSMIT, Action, Policer
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES
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
    return Policer(
        rate=requested.rate,
        burst=requested.burst_bytes,
        peak_rate=requested.peak_rate,
        excess_burst=requested.excess_bytes,
        conform=_action(requested.conform),
        exceed=exceed,
        violate=violate if violate != exceed else None,
    )


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
    limits = CAPABILITIES.police
    for bounds, variant, value in (
        (limits.rate, "rate-out-of-range", requested.rate),
        (limits.burst, "burst-out-of-range", requested.burst_bytes),
        (limits.rate, "rate-out-of-range", requested.peak_rate),
        (limits.burst, "burst-out-of-range", requested.excess_bytes),
    ):
        low, high = bounds.minimum, bounds.maximum
        if value is not None and not low <= value <= high:
            yield _refused(request, class_request, variant, value=value, low=low, high=high)
    if requested.peak_rate is not None and not has(request, "police_actions_below"):
        yield _refused(request, class_request, "no-two-rates", image=request.image)
    yield from _check_actions(request, class_request, requested)


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
