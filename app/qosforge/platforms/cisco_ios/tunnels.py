"""Tunnels whose packets outputs tell by what they carry: ``qos pre-classify``.

An output sees the outer header of a tunnel's packets, with the ToS byte copied. To tell what is inside by ports or
addresses, the device keeps a copy of the packet as it was (Cisco tech note 18667).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note
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
    told = tuple(_refusals(request, asked, running))
    findings.extend(told)
    held = (running.system.inside_tunnels if running else None) or ()
    refused = {finding.interface for finding in told}
    return System(inside_tunnels=tuple(sorted({*held, *(n for n, at in asked.items() if at not in refused)})))


def _refusals(request: DeviceRequest, asked: dict[str, str], running: Plan | None) -> Iterator[Finding]:
    for name, at in asked.items():
        place = Place(device=request.device, interface=at, direction="output")
        if not has(request, "pre_classify"):
            yield note(
                "tunnel-unsupported", place, variant="no-copy", image=request.image, since=since("pre_classify")
            )
        elif _TUNNEL.fullmatch(name) is None:
            yield note("tunnel-unsupported", place, variant="no-tunnel", name=name)
        elif running is not None and running.interface(name) is None:
            yield note("tunnel-unsupported", place, variant="missing", name=name)
