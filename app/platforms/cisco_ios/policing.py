"""Policers of policy classes: what is asked as the box holds it, its lines, and how they are read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from app.configtree import Line
from app.dscp import parse_dscp
from app.findings import Finding, Severity
from app.intent.models import Remark
from app.plan.model import Policer
from app.plan.request import ClassRequest, DeviceRequest
from app.platforms.cisco_ios.capabilities import capabilities, train

_NUMBERS = re.compile(
    r"police (?:cir (?P<cir>[0-9]{1,12}) bc (?P<bc>[0-9]{1,12})"
    r"|(?P<rate>[0-9]{1,12}) (?P<burst>[0-9]{1,12})(?: (?P=burst))?)(?P<rest> .*)?"
)
_ACTION = re.compile(r"(conform|exceed|violate)-action (transmit|drop|set-dscp-transmit \S+)")


def policer(request: DeviceRequest, wanted: ClassRequest, side: Literal["input", "output"]) -> Policer | None:
    """The policer of a class on one side of the box; None where none is asked for or the box refuses it."""
    asked = wanted.treatment.police
    if asked is None or asked.direction != side or any(check_policer(request, wanted)):
        return None
    return Policer(
        rate=asked.rate,
        burst=asked.burst_bytes,
        exceed_dscp=asked.exceed.remark if isinstance(asked.exceed, Remark) else None,
    )


def check_policer(request: DeviceRequest, wanted: ClassRequest) -> Iterator[Finding]:
    """What the image does not take of a policer."""
    asked = wanted.treatment.police
    if asked is None or not any(
        i.recognise if asked.direction == "input" else i.schedule for i in request.interfaces
    ):
        return
    limits = capabilities()["police"]
    if train(request.image, request.device) < train(limits["since"]):
        yield _refused(request, wanted, f"image {request.image} has no class-based policer", "load a newer image")
    for name, value, unit in (("rate", asked.rate, "b/s"), ("burst", asked.burst_bytes, "bytes")):
        low, high = limits[name]["minimum"], limits[name]["maximum"]
        if not low <= value <= high:
            message = f"a policer's {name} of {value} {unit} is outside {low} to {high} {unit}"
            yield _refused(request, wanted, message, f"ask for {low} to {high} {unit}")
    if wanted.is_default and asked.direction == "output":
        message = "the output policy has no policer of the class of everything else here"
        yield _refused(request, wanted, message, "shape the class, or police it on input")


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


def read_policer(line: Line) -> Policer | None:
    """The policer of a ``police`` line with its actions; None where plans hold no such policer.

    An excess burst of the size of the burst is what the box prints for a single bucket.
    """
    numbers = _NUMBERS.fullmatch(line.text)
    if numbers is None:
        return None
    actions = {"conform": "transmit", "exceed": "drop"}
    words = [(numbers["rest"] or "").strip(), *(child.text for child in line.children)]
    for text in words:
        rest = text
        while rest:
            found = _ACTION.match(rest)
            if found is None:
                return None
            actions[found[1]] = found[2]
            rest = rest[found.end() :].strip()
    exceed = actions["exceed"]
    if actions["conform"] != "transmit" or actions.get("violate", exceed) != exceed or exceed == "transmit":
        return None
    try:
        dscp = None if exceed == "drop" else parse_dscp(exceed.split()[1])
    except ValueError:
        return None
    rate, burst = numbers["cir"] or numbers["rate"], numbers["bc"] or numbers["burst"]
    return Policer(rate=int(rate), burst=int(burst), exceed_dscp=dscp)
