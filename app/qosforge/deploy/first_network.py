"""A first network, written from the little that somebody knows of it, with a policy that works on it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from qosforge.errors import InputError, Place
from qosforge.intent.loader import load_intent
from qosforge.inventory.drafts import beside
from qosforge.inventory.editing import add_device, add_network
from qosforge.inventory.loader import load_network
from qosforge.platforms.base import installed, platform
from qosforge.units import parse_rate

Ports = Mapping[str, str]
"""Rates by the names of ports."""


@dataclass(frozen=True, slots=True)
class FirstDevice:
    """A device: without a ``hostname`` it is emulated. ``lan`` ports lead to users, ``uplink`` ports elsewhere."""

    name: str
    platform: str
    image: str
    hostname: str | None
    lan: Ports
    uplink: Ports


_CALL_BPS = 80_000
"""G.711 in packets of 200 bytes, 50 a second."""
_LARGEST_BITS = 12_144
"""The largest Ethernet frame, 1518 bytes."""
_LONG_UP_TO_BPS = 100_000_000
"""Where traffic is measured for half a minute; faster links have as many packets in less time."""

_POLICY = """\
# Calls first, then business applications, then the rest. docs/intent.md tells what else may stand here.
version: 1
intent: {name}
classes:
  - name: voice
    match: {{any: [{{dscp: [ef]}}]}}
    mark: {{dscp: ef, cos: 5}}
    treatment: {{priority: {{percent: 30}}}}
    objective: {{delay: {{p95: {delay}}}, loss: 1 %}}
  - name: business
    match: {{any: [{{dscp: [af21]}}]}}
    mark: {{dscp: af21, cos: 2}}
    treatment: {{bandwidth: {{remaining_percent: 60}}}}
  - name: default
    treatment: {{bandwidth: {{remaining_percent: 40}}}}
apply:
  - {{interfaces: lan, direction: input}}
  - {{interfaces: uplink, direction: input, trust: dscp}}
  - {{interfaces: uplink, direction: output}}
verify:
{checks}"""

_SCENARIO = """\
# Traffic that the twin sends: calls, a business application and a download that fills the uplink. Make it yours.
scenarios:
  - name: busy
    title: A busy hour
    between: [{pairs}]
    flows:
{flows}"""


@dataclass(frozen=True, slots=True)
class _Crossing:
    """Two stations, with the slowest uplink between them; rates in bit/s."""

    near: str
    far: str
    uplink_bps: int
    lan_bps: int


def emulated_platforms() -> tuple[str, ...]:
    """The platforms whose devices are emulated where nobody says how they are reached."""
    return tuple(name for name in sorted(installed()) if platform(name).family.emulated_start is not None)


def require_new(folder: Path) -> None:
    """Refuse a folder that exists.

    Raises:
        InputError: it does.
    """
    if folder.exists():
        raise InputError("there is something already", Place(file=str(folder)), "name a folder that does not exist")


def write_first_network(folder: Path, devices: Sequence[FirstDevice], policy: str) -> Path:
    """Make the folder of a network with a policy in it, a file of the name ``policy``; its path.

    Stations stand at the ports: traffic goes from users over an uplink, so that all of it can be predicted and
    measured. Of two devices the uplinks are the ends of one link.

    Raises:
        InputError, InputErrors: a device is described wrong, or something is there already; nothing is written.
    """
    require_new(folder)
    for device in devices:
        if len(device.lan) < 1 or len(device.uplink) != 1:
            hint = "give it ports towards users, and one uplink: policies are about where traffic queues"
            raise InputError("has no port towards users, or not one uplink", Place(device=device.name), hint)
    with beside(folder) as draft:
        add_network(draft)
        for device in devices:
            add_device(draft, device.name, _body(device))
            if device.hostname is None:
                _write(draft / _startup(device), _emulated(device))
        links, stations, crossings = _ends(devices)
        _write(draft / "links.yaml", _listed("links", links) + _listed("stations", stations))
        _write(draft / "traffic.yaml", _scenario(crossings))
        _write(draft / policy, _policy(folder.resolve().name, crossings))
        load_network(draft)
        load_intent(draft / policy, ())
        draft.rename(folder)
    return folder / policy


def _body(device: FirstDevice) -> dict[str, object]:
    family = platform(device.platform, device.name).family
    ports = {port: {"rate": rate, "tags": ["lan"]} for port, rate in device.lan.items()}
    ports |= {port: {"rate": rate, "tags": ["uplink"]} for port, rate in device.uplink.items()}
    data = {"role": family.role.value, "image": device.image, "driver": family.driver, "interfaces": ports}
    if device.hostname is None:
        return {"platform": device.platform, "data": data | {"startup": _startup(device)}}
    return {"hostname": device.hostname, "platform": device.platform, "data": data}


def _emulated(device: FirstDevice) -> str:
    """The configuration that an emulated device begins with.

    Raises:
        InputError: none can be made for its platform.
    """
    family = platform(device.platform, device.name).family
    if family.emulated_start is None:
        hint = "say where it is reached: --host NAME=HOST; or write its inventory and startup by hand"
        raise InputError(f"a {family.title} is not emulated from so little", Place(device=device.name), hint)
    return family.emulated_start({p: parse_rate(r) // 1000 for p, r in {**device.lan, **device.uplink}.items()})


def _startup(device: FirstDevice) -> str:
    return f"startup/{device.name}.cfg"


def _ends(devices: Sequence[FirstDevice]) -> tuple[list[object], list[object], list[_Crossing]]:
    """Links, stations, and between which stations traffic crosses an uplink."""
    stations: list[object] = []
    users: list[tuple[FirstDevice, str, int]] = []
    for number, device in enumerate(devices, 1):
        port, lan = next(iter(device.lan.items()))
        name = f"users-{device.name}"
        stations.append(_station(name, f"192.0.2.{number}", device, port, lan))
        users.append((device, name, parse_rate(lan)))
    uplinks = [next(iter(device.uplink.items())) for device in devices]
    if len(devices) == 2 and parse_rate(uplinks[0][1]) == parse_rate(uplinks[1][1]):
        ends = [[device.name, port] for device, (port, _) in zip(devices, uplinks, strict=True)]
        link = {"a": ends[0], "b": ends[1], "rate": uplinks[0][1]}
        rate = parse_rate(uplinks[0][1])
        slowest = min(users[0][2], users[1][2])
        both = [(users[0][1], users[1][1]), (users[1][1], users[0][1])]
        return [link], stations, [_Crossing(near, far, rate, slowest) for near, far in both]
    crossings = []
    for number, ((device, name, lan_bps), (port, uplink)) in enumerate(zip(users, uplinks, strict=True), 1):
        far, rate = f"beyond-{device.name}", parse_rate(uplink)
        stations.append(_station(far, f"198.51.100.{number}", device, port, uplink))
        crossings.append(_Crossing(name, far, rate, lan_bps))
    return [], stations, crossings


def _station(name: str, address: str, device: FirstDevice, port: str, rate: str) -> dict[str, object]:
    return {"name": name, "address": address, "attach": [device.name, port], "rate": rate}


def _listed(key: str, entries: Sequence[object]) -> str:
    if not entries:
        return f"{key}: []\n"
    return f"{key}:\n" + "".join(f"  - {json.dumps(entry)}\n" for entry in entries)


def _scenario(crossings: Sequence[_Crossing]) -> str:
    pairs = ", ".join(f"[{one.near}, {one.far}]" for one in crossings)
    return _SCENARIO.format(pairs=pairs, flows="".join(line for one in crossings for line in _flows(one)))


def _flows(crossing: _Crossing) -> Iterator[str]:
    """Calls for a fifth of the uplink, an application for a tenth, and a download that would fill it."""
    most = min(crossing.uplink_bps, crossing.lan_bps)
    calls = min(max(most // 5 // _CALL_BPS, 1), 20)
    fill = min(crossing.uplink_bps * 11 // 10, crossing.lan_bps * 6 // 10)
    for kind, dscp, port, count, source in (
        ("calls", 46, 16384, calls, {"kind": "cbr", "rate": f"{_CALL_BPS} b/s", "ip_bytes": 200}),
        ("business", 18, 5001, 1, {"kind": "cbr", "rate": f"{max(most // 10, 1000)} b/s", "ip_bytes": 1000}),
        ("download", 0, 5002, 1, {"kind": "cbr", "rate": f"{fill} b/s", "ip_bytes": 1400}),
    ):
        flow = {
            "name": f"{kind}-{crossing.near}", "from": crossing.near, "to": crossing.far, "dst_port": port,
            "dscp": dscp, "count": count, "source": source,
        }  # fmt: skip
        yield f"      - {json.dumps(flow)}\n"


def _policy(name: str, crossings: Sequence[_Crossing]) -> str:
    # Four of the largest packets: one that is being sent, and what a hop more adds.
    slowest = min(min(one.uplink_bps, one.lan_bps) for one in crossings)
    delay = max(20, -(-4 * _LARGEST_BITS * 1000 // slowest))
    seconds = 30 if max(one.uplink_bps for one in crossings) <= _LONG_UP_TO_BPS else 5
    checks = "".join(
        f"  - {{from: {one.near}, to: {one.far}, classes: [voice], beside: [business, default], "
        f"seconds: {seconds}, confidence: 95 %}}\n"
        for one in crossings
    )
    return _POLICY.format(name=name, delay=f"{delay} ms", checks=checks)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
