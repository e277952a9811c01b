"""Policers of policy classes: what is asked as the box holds it, its lines, and how they are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from app.dscp import dscp_name
from app.findings import Finding, Severity
from app.intent.models import Police, PoliceAction, Remark
from app.plan.model import DROP, TRANSMIT, Action, Policer
from app.plan.request import ClassRequest, DeviceRequest
from app.platforms.cisco_ios.capabilities import capabilities
from app.platforms.cisco_ios.trains import has, uses_car


def policer(request: DeviceRequest, wanted: ClassRequest, side: Literal["input", "output"]) -> Policer | None:
    """The policer of a class on one side of the box; None where none is asked for or the box refuses it."""
    asked = wanted.treatment.police
    if asked is None or asked.direction != side or uses_car(request) or any(check_policer(request, wanted)):
        return None
    exceed = _action(asked.exceed)
    violate = _action(asked.violate) if asked.violate is not None else exceed
    return Policer(
        rate=asked.rate,
        burst=asked.burst_bytes,
        peak_rate=asked.peak_rate,
        excess_burst=asked.excess_bytes,
        conform=_action(asked.conform),
        exceed=exceed,
        violate=violate if violate != exceed else None,
    )


def _action(asked: PoliceAction) -> Action:
    if isinstance(asked, Remark):
        return Action(set_dscp=asked.remark, set_precedence=asked.precedence, set_cos=asked.cos)
    return DROP if asked == "drop" else TRANSMIT


def _words(action: Action) -> str:
    """What a policer does with a packet, as the box writes it."""
    if action.drop:
        return "drop"
    if action.set_dscp is not None:
        return f"set-dscp-transmit {dscp_name(action.set_dscp)}"
    if action.set_precedence is not None:
        return f"set-prec-transmit {action.set_precedence}"
    return f"set-cos-transmit {action.set_cos}" if action.set_cos is not None else "transmit"


@dataclass(frozen=True)
class PoliceLines:
    """A policer as it is entered; ``below`` where its actions stand below it, one a line."""

    policer: Policer
    conform: str
    exceed: str
    violate: str | None
    below: bool


def police_lines(request: DeviceRequest, policer: Policer) -> PoliceLines:
    """The lines of a policer as the image takes them. A second bucket is told by what violates it."""
    last = policer.violate or (policer.exceed if policer.excess_burst is not None else None)
    return PoliceLines(
        policer=policer,
        conform=_words(policer.conform),
        exceed=_words(policer.exceed),
        violate=_words(last) if last is not None else None,
        below=has(request, "police_actions_below"),
    )


def check_policer(request: DeviceRequest, wanted: ClassRequest) -> Iterator[Finding]:
    """What the image does not take of a policer."""
    asked = wanted.treatment.police
    if asked is None or not any(
        i.recognise if asked.direction == "input" else i.schedule for i in request.interfaces
    ):
        return
    if uses_car(request):
        return  # CAR polices, and tells what it refuses
    limits = capabilities()["police"]
    for name, value, unit in (
        ("rate", asked.rate, "b/s"),
        ("burst", asked.burst_bytes, "bytes"),
        ("rate", asked.peak_rate, "b/s"),
        ("burst", asked.excess_bytes, "bytes"),
    ):
        low, high = limits[name]["minimum"], limits[name]["maximum"]
        if value is not None and not low <= value <= high:
            message = f"a policer's {name} of {value} {unit} is outside {low} to {high} {unit}"
            yield _refused(request, wanted, message, f"ask for {low} to {high} {unit}")
    if asked.peak_rate is not None and not has(request, "police_actions_below"):
        message = f"image {request.image} has no policer of two rates"
        yield _refused(request, wanted, message, "leave the peak_rate out, or load a newer image")
    yield from _check_actions(request, wanted, asked)


def _check_actions(request: DeviceRequest, wanted: ClassRequest, asked: Police) -> Iterator[Finding]:
    marks = [a for a in (asked.conform, asked.exceed, asked.violate) if isinstance(a, Remark)]
    if any(m.remark is not None for m in marks) and any(m.precedence is not None for m in marks):
        message = "a policer marks DSCPs or precedences, not both"
        yield _refused(request, wanted, message, "mark dscps alone: cs0 to cs7 are the precedences")
    if asked.violate == "transmit" and asked.exceed != "transmit":
        message = "what violates would be sent as it is while what exceeds is not"
        yield _refused(request, wanted, message, "give violate what exceed has, or less")
    untagged = [i.name for i in request.interfaces if i.schedule and not i.tagged]
    if any(m.cos is not None for m in marks) and (asked.direction == "input" or untagged):
        where = "on input" if asked.direction == "input" else f"at {', '.join(untagged)}, which is not tagged"
        yield _refused(request, wanted, f"a policer cannot mark a CoS {where}", "mark a dscp")


def _refused(request: DeviceRequest, wanted: ClassRequest, message: str, mend: str) -> Finding:
    asked = wanted.treatment.police
    return Finding(
        code="police-unsupported",
        severity=Severity.WARNING if asked and asked.prefer else Severity.ERROR,
        message=message,
        device=request.device,
        direction=asked.direction if asked else None,
        traffic_class=wanted.name,
        line=wanted.line,
        mend=mend,
    )
