"""Inputs that trust the marks of packets: a router keeps every DSCP, the rest is done by policies."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.plan.model import Rule
from qosforge.plan.request import DeviceRequest, InterfaceRequest
from qosforge.platforms.cisco_ios.trains import uses_car
from qosforge.platforms.mqc import trust
from qosforge.platforms.mqc.lines import CLASS_DEFAULT


def trust_policy(
    request: DeviceRequest, interface_request: InterfaceRequest
) -> tuple[str, tuple[Rule, ...]] | None:
    """The input policy, by name and rules, that does what an interface is to trust; None where it needs none."""
    if uses_car(request):
        return None
    marks = [c.mark for c in request.classes if c.mark]
    dscp_of = {m.cos: m.dscp for m in reversed(marks) if m.cos is not None and m.dscp is not None}
    return trust.trust_policy(interface_request, dscp_of, CLASS_DEFAULT)


def check_trust(request: DeviceRequest, interface_request: InterfaceRequest) -> Iterator[Finding]:
    """``trust-unsupported``: what the image cannot trust, and a CoS that no packet carries."""
    if not interface_request.trust or interface_request.trust_in in (None, "dscp"):
        return
    place = Place(device=request.device, interface=interface_request.name, direction="input")
    requested = f"trust {interface_request.trust_in}"
    if uses_car(request):
        yield note(
            "trust-unsupported",
            place,
            requested=requested,
            applied="trust dscp",
            variant="no-marking",
            image=request.image,
        )
    elif interface_request.trust_in == "cos" and not interface_request.tagged:
        yield note(
            "trust-unsupported", place, requested=requested, applied="every DSCP becomes 0", variant="untagged"
        )
