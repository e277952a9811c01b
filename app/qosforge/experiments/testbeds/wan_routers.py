"""Routers of the INFN-FNAL path that a printed configuration describes: through the parser to ports of the twin."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from qosforge.errors import ServiceError
from qosforge.inventory.models import Framing, Link
from qosforge.platforms.base import platform
from qosforge.resources import read_text
from qosforge.tester.scenario.ports import twin_port
from qosforge.twin.scenario import PortSpec

_ANY_TO_HOST = re.compile(r"^(access-list \d+ permit \w+) any (host \S+.*)$", re.MULTILINE)


def router_ports(device: Mapping[str, Any], name: str, route: Mapping[str, Any]) -> tuple[PortSpec, PortSpec]:
    """The line's port and that of the stations' LAN.

    ``device`` has ``configuration`` (file), ``platform``, ``image``, the interfaces ``line`` and ``lan``, and
    ``mirrored``: its access lists match the other way, as the router at the far end needs them.

    Raises:
        ServiceError: the configuration lacks an interface.
        TesterError: an interface does what the twin does not model.
    """
    text = read_text(device["configuration"])
    if device.get("mirrored"):
        text = _ANY_TO_HOST.sub(r"\1 \2 any", text)
    adapter = platform(device["platform"], name)
    plan = adapter.parse(text, name, device["image"])
    rate = round(route["line_mbps"] * 1e6)
    circuit = Link(a=(name, device["line"]), b=("far", "line"), rate=rate, framing=Framing.ATM)
    ends: list[PortSpec] = []
    for interface, link, speed in (
        (device["line"], circuit, rate),
        (device["lan"], None, round(route["access_mbps"] * 1e6)),
    ):
        held = plan.interface(interface)
        if held is None:
            raise ServiceError(
                f"{device['configuration']}: no interface {interface}", hint="correct the experiment's device"
            )
        ends.append(twin_port(plan, held, link, speed, adapter.profile))
    return ends[0], ends[1]
