"""A Catalyst 9000 with four ports, and classes for its intents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from qosforge.compiler.candidate import make_candidate, plan_differences
from qosforge.compiler.compile import Compilation, CompiledDevice, compile_intent
from qosforge.findings import Finding
from qosforge.intent.loader import parse_intent
from qosforge.inventory.models import Device, Network
from qosforge.plan.model import InterfacePlan, Queue
from qosforge.platforms.catalyst_9000 import PLATFORM
from qoslab.box import Box
from qoslab.boxes import make_box
from qoslab.clock import Clock
from qoslab.spec import BoxSpec
from qoslab.storage import Storage

STARTUP = """\
hostname sw
interface GigabitEthernet1/0/1
 switchport mode access
interface GigabitEthernet1/0/2
 switchport mode access
interface GigabitEthernet1/0/24
interface TenGigabitEthernet1/1/1
 switchport mode trunk
"""
LAN, PLAIN, CONTRACTED, TRUNK = (
    "GigabitEthernet1/0/1",
    "GigabitEthernet1/0/2",
    "GigabitEthernet1/0/24",
    "TenGigabitEthernet1/1/1",
)
PORTS: tuple[dict[str, Any], ...] = (
    {"name": LAN, "rate": 10**9, "role": "edge", "tags": {"lan"}, "vlans": (3,)},
    {"name": PLAIN, "rate": 10**9, "role": "edge", "tags": {"plain"}},
    {"name": CONTRACTED, "rate": 10**9, "contracted": 10**8, "role": "edge", "tags": {"wan"}},
    {"name": TRUNK, "rate": 10**10, "role": "edge", "tags": {"trunk"}, "tagged": True},
)
APPLY = (
    {"interfaces": "lan", "direction": "input"},
    {"interfaces": ["trunk", "wan"], "direction": "output"},
)
VOICE = {
    "name": "voice",
    "match": {"any": [{"application": "rtp-audio"}, {"dscp": ["ef"]}]},
    "mark": {"dscp": "ef", "cos": 5},
    "treatment": {"priority": {"percent": 10}},
}
VIDEO = {
    "name": "video",
    "match": {"any": [{"dscp": ["af41", "af42"]}]},
    "mark": {"dscp": "af41"},
    "treatment": {"priority": {"percent": 20}},
}
WEB = {
    "name": "web",
    "match": {"any": [{"protocol": "tcp", "destination_port": [80, 443]}]},
    "mark": {"dscp": "af21"},
    "treatment": {"bandwidth": {"remaining_percent": 60}, "wred": True},
}
MARKED_DOWN = {
    **WEB,
    "treatment": {
        "bandwidth": {"remaining_percent": 60},
        "police": {"rate": "5 Mb/s", "exceed": {"remark": "cs1"}},
    },
}
REST = {"name": "default", "treatment": {"bandwidth": {"remaining_percent": 40}}}


def marked(name: str, dscp: Any, **treatment: Any) -> dict[str, Any]:
    """A class that is told by its DSCP and keeps it."""
    return {"name": name, "match": {"any": [{"dscp": [dscp]}]}, "mark": {"dscp": dscp}, "treatment": treatment}


WEB_6 = {
    **WEB,
    "match": {
        "any": [
            {"protocol": "tcp", "source": "2001:db8:1::/48", "destination_port": 443, "dscp": "af22"},
            {"protocol": "tcp", "destination_port": 80},
            {"destination": ["2001:db8::1/128", "2001:db8::2/128"]},
            {"protocol": 58},
        ]
    },
}
"""Flows of IPv6, and some of either version."""
TWO_RATES = {
    **WEB,
    "treatment": {
        "bandwidth": {"remaining_percent": 60},
        "police": {"rate": "4 Mb/s", "peak_rate": "8 Mb/s", "exceed": {"remark": "af22"}, "violate": "drop"},
    },
}
"""What exceeds is marked down, and what violates is dropped."""
SIZED = (
    marked("voice", "ef", priority={"percent": 10}, buffers={"percent": 5}, queue_limit={"percent": 70}),
    marked(
        "bulk",
        "af11",
        bandwidth={"remaining_percent": 20},
        buffers={"percent": 30},
        queue_limit={"thresholds": [{"dscp": "af11", "percent": 80}]},
    ),
    marked(
        "data",
        "af21",
        bandwidth={"remaining_percent": 20},
        wred={"profiles": [{"dscp": "af21", "minimum": "55 %", "maximum": "75 %"}]},
    ),
)
"""Classes whose queues are sized in parts."""


def compilation(
    *classes: dict[str, Any],
    apply: Any = APPLY,
    running: str = STARTUP,
    ports: Any = PORTS,
    image: str = "17.12",
    **more: Any,
) -> Compilation:
    """What an intent of these classes becomes on one switch."""
    document = {"version": 1, "intent": "made", "classes": list(classes), "apply": list(apply), **more}
    device = Device.model_validate(
        {
            "name": "sw",
            "platform": "catalyst_9000",
            "image": image,
            "role": "edge",
            "driver": "ios",
            "interfaces": ports,
        }
    )
    network = Network(name="made", devices=(device,), links=(), stations=())
    return compile_intent(parse_intent(json.dumps(document), "made.yaml"), network, {"sw": running})


def made(*classes: dict[str, Any], **more: Any) -> CompiledDevice:
    return compilation(*classes, **more).devices[0]


def port(device: CompiledDevice, name: str = TRUNK) -> InterfacePlan:
    found = device.plan.interface(name)
    assert found is not None
    return found


def queues(device: CompiledDevice, name: str = TRUNK) -> tuple[Queue, ...]:
    scheduler = port(device, name).egress.dividing.scheduler
    assert scheduler is not None
    return scheduler.queues


def finding(result: Compilation, code: str) -> Finding:
    """The one finding with this code."""
    (found,) = [f for f in result.findings if f.code == code]
    return found


def pushed(box: Box, device: CompiledDevice) -> tuple[str, ...]:
    """Enter what was compiled for what the device runs, and read it back; what takes it back."""
    candidate = make_candidate(device, box.running_text())
    assert box.configure(candidate.delta) == []
    running = box.running_text()
    assert plan_differences(device, running) == ()
    assert make_candidate(device, running).empty
    assert PLATFORM.parse(running, "sw", "17.12").unknown == ()
    return candidate.inverse


def booted(folder: Path) -> Box:
    """An emulated switch."""
    spec = BoxSpec(name="sw", platform="catalyst_9000", image="17.12", username="u", password="p")
    made = make_box(spec, Storage(folder, STARTUP), Clock())
    made.boot()
    assert made.boot_messages == []
    return made
