"""Tunnels whose packets outputs tell by what they carry: ``qos pre-classify``.

An output sees the outer header of a tunnel's packets, with the ToS byte copied. To tell what is inside by ports or
addresses, the device keeps a copy of the packet as it was (Cisco tech note 18667).
"""

from __future__ import annotations

import re

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import Reason, because
from qosforge.plan.model import Plan, System
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.cisco_ios.capabilities import since
from qosforge.platforms.cisco_ios.trains import has

_TUNNEL = re.compile(r"(?:Tunnel|Virtual-Template)[0-9]+")


def inside_tunnels(request: DeviceRequest, running: Plan | None, findings: list[Finding]) -> System:
    """The tunnels that outputs look into: those that the device has already stay."""
    asked = {name: i.name for i in request.interfaces for name in i.tunnels}
    if not asked:
        return System()
    inside = set((running.system.inside_tunnels if running else None) or ())
    for name, at in asked.items():
        refusal = _refusal(request, name, running)
        if refusal is None:
            inside.add(name)
        else:
            findings.append(refusal.note(Place(device=request.device, interface=at, direction="output")))
    return System(inside_tunnels=tuple(sorted(inside)))


def _refusal(request: DeviceRequest, name: str, running: Plan | None) -> Reason | None:
    """Why no output looks into a tunnel; None where one does."""
    if not has(request, "pre_classify"):
        return because("tunnel-unsupported", variant="no-copy", image=request.image, since=since("pre_classify"))
    if _TUNNEL.fullmatch(name) is None:
        return because("tunnel-unsupported", variant="no-tunnel", name=name)
    if running is not None and running.interface(name) is None:
        return because("tunnel-unsupported", variant="missing", name=name)
    return None
