"""Networks and intents made for benchmarks: any number of devices, twelve classes."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from qosforge.intent.loader import LoadedIntent, parse_intent
from qosforge.inventory.models import Device, DeviceRole, Interface, Network
from qosforge.platforms.base import installed

IMAGES = {
    "catalyst_2950": "12.1EA-EI",
    "catalyst_2970": "12.2",
    "catalyst_9000": "17.12",
    "cisco_ios": "12.4",
    "force10_e300": "6.5",
    "nortel_5510": "5.1",
}
"""An image of each platform that has all the classes need."""
_PORTS = {
    "catalyst_2950": ("FastEthernet0/{}", "GigabitEthernet0/{}"),
    "catalyst_2970": ("GigabitEthernet0/{}", "GigabitEthernet0/{}"),
    "catalyst_9000": ("GigabitEthernet1/0/{}", "GigabitEthernet1/0/{}"),
    "cisco_ios": ("FastEthernet0/{}", "Serial1/{}"),
    "force10_e300": ("GigabitEthernet 0/{}", "GigabitEthernet 1/{}"),
    "nortel_5510": ("{}", "{}"),
}
"""How a platform names its ports towards hosts and towards the network."""
_ROLES = ["edge", "middle", "access", "core"]
_INPUT = {"role": _ROLES, "interfaces": ["lan", "wan"], "direction": "input"}
_OUTPUT = {"role": _ROLES, "interfaces": ["lan", "wan"], "direction": "output"}


def _class(name: str, dscp: str, share: int, *terms: dict[str, Any], priority: bool = False) -> dict[str, Any]:
    service = {"priority": {"percent": share}} if priority else {"bandwidth": {"remaining_percent": share}}
    return {
        "name": name,
        "match": {"any": [*terms, {"dscp": [dscp]}]},
        "mark": {"dscp": dscp},
        "treatment": service,
    }


def _flow(protocol: str, prefix: str, *ports: int | str) -> dict[str, Any]:
    return {"protocol": protocol, "destination": prefix, "destination_port": list(ports)}


def _intent(name: str, classes: list[dict[str, Any]], *scopes: dict[str, Any], **more: object) -> LoadedIntent:
    document = {"version": 1, "intent": name, "classes": classes, "apply": scopes, **more}
    return parse_intent(json.dumps(document, indent=1), f"{name}.yaml")


@cache
def recognised_classes() -> LoadedIntent:
    """The twelve service classes of RFC 4594, told by applications and DSCPs: what every platform can match."""
    default = {"name": "default", "treatment": {"bandwidth": {"remaining_percent": 25}, "wred": {"prefer": True}}}
    return _intent(
        "twelve-classes",
        [
            _class("telephony", "ef", 20, {"application": ["rtp-audio"]}, priority=True),
            _class("network-control", "cs6", 5),
            _class("signaling", "cs5", 5, {"application": ["sip"]}),
            _class("conferencing", "af41", 10, {"application": ["rtp-video"]}),
            _class("interactive", "cs4", 10),
            _class("streaming", "af31", 10),
            _class("broadcast-video", "cs3", 5),
            _class("low-latency-data", "af21", 10, {"application": ["http"]}),
            _class("management", "cs2", 5),
            _class("high-throughput", "af11", 10, {"application": ["ftp"]}),
            _class("low-priority", "cs1", 5),
            default,
        ],
        _INPUT,
        _OUTPUT,
    )


@cache
def numbered_classes(count: int) -> LoadedIntent:
    """So many classes, each told by ports of its own: what grows with their number and with nothing else."""
    names = [f"class-{number}" for number in range(1, count)]
    applications = [
        {"name": f"app-{number}", "protocol": "udp", "ports": [20_000 + 2 * number]} for number in range(1, count)
    ]
    marks = ("af41", "af31", "af21", "af11")
    classes = [
        {
            "name": name,
            "match": {"any": [{"application": [application["name"]]}]},
            "mark": {"dscp": marks[number % len(marks)]},
            "treatment": {"bandwidth": {"remaining_percent": 100 // count}},
        }
        for number, (name, application) in enumerate(zip(names, applications, strict=True))
    ]
    default = {"name": "default", "treatment": {"bandwidth": {"remaining_percent": 100 // count}}}
    return _intent("numbered-classes", [*classes, default], _INPUT, _OUTPUT, applications=applications)


@cache
def flow_classes() -> LoadedIntent:
    """Twelve classes recognised by protocol, prefix and port, and marked: what access lists are written for."""
    flows = {
        "telephony": [_flow("udp", "10.16.0.0/12", "16384-32767")],
        "network-control": [_flow("tcp", "10.0.0.0/16", 179), {"protocol": "ospf", "destination": "10.0.0.0/16"}],
        "signaling": [_flow("udp", "10.16.0.0/12", 5060), _flow("tcp", "10.16.0.0/12", 5060, 5080)],
        "conferencing": [_flow("udp", "10.32.0.0/12", "16384-32767"), _flow("tcp", "10.32.0.0/12", 1720)],
        "interactive": [_flow("tcp", "10.48.1.0/24", 22, 3389), _flow("udp", "10.48.1.0/24", 3389)],
        "streaming": [_flow("tcp", "10.48.2.0/24", 554, 1935, 8554)],
        "broadcast-video": [_flow("udp", "239.1.0.0/16", "5000-5999")],
        "low-latency-data": [_flow("tcp", "10.64.0.0/16", 80, 443, 1521, 1433, 3306, 5432)],
        "management": [_flow("udp", "10.1.0.0/24", 161, 514), _flow("tcp", "10.1.0.0/24", 22, 49, 830)],
        "high-throughput": [_flow("tcp", "10.80.0.0/16", 21, 873, 2049), _flow("tcp", "10.81.0.0/16", 445)],
        "low-priority": [_flow("tcp", "10.96.0.0/12", "6881-6999"), _flow("udp", "10.96.0.0/12", "6881-6999")],
    }
    marks = ["ef", "cs6", "cs5", "af41", "cs4", "af31", "cs3", "af21", "cs2", "af11", "cs1"]
    classes = [
        {"name": name, "match": {"any": terms}, "mark": {"dscp": mark}}
        for (name, terms), mark in zip(flows.items(), marks, strict=True)
    ]
    return _intent("flow-classes", [*classes, {"name": "default", "mark": {"dscp": 0}}], _INPUT)


def fleet(count: int, *, shapes: int | None = None, platforms: tuple[str, ...] = ()) -> Network:
    """A network of ``count`` devices over ``platforms`` (all that are installed), each with four ports.

    With ``shapes`` only so many differ in more than their names; without, no two have the same rates.
    """
    chosen = platforms or tuple(sorted(set(installed()) & set(IMAGES)))
    made = tuple(_device(number, number if shapes is None else number % shapes, chosen) for number in range(count))
    return Network(name="fleet", devices=made, links=(), stations=())


def _device(number: int, shape: int, platforms: tuple[str, ...]) -> Device:
    kind = platforms[shape % len(platforms)]
    variant = shape // len(platforms)
    roles = (DeviceRole.EDGE, DeviceRole.MIDDLE) if kind == "cisco_ios" else (DeviceRole.ACCESS, DeviceRole.CORE)
    role = roles[variant % 2]
    host, trunk = _PORTS[kind]
    # Ports that few others have, and rates in whole kb/s that no other shape has.
    places = [1 + variant % 10, 11 + variant // 10 % 10, 21 + variant // 100 % 10, 31 + variant // 1000 % 10]
    interfaces = tuple(
        Interface(name=name, rate=(10_000 + 4 * shape + at) * 1000, role=role, tags=frozenset({tag}))
        for at, (tag, name) in enumerate(
            [("lan", host.format(place)) for place in places[:2]]
            + [("wan", trunk.format(place)) for place in places[2:]]
        )
    )
    return Device(
        name=f"d{number}", platform=kind, image=IMAGES[kind], role=role, driver="none", interfaces=interfaces
    )
