"""The files of a made campus: a hierarchy of access switches with 48 ports under distribution and core."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from qosforge.intent.loader import LoadedIntent, parse_intent
from qosforge.inventory.models import Device

PORTS = 48
FAN_OUT = 8
"""Devices below one of them, so that a campus of 1,000 is four levels deep."""
_CHANGED = "changed"
"""The tag of the ports of the first devices: what a change of few concerns."""


@dataclass(frozen=True)
class _Kind:
    """Devices of a platform: how their ports are named, and the first number."""

    platform: str
    image: str
    driver: str
    port: str
    first: int = 1

    def name(self, number: int | str) -> str:
        return self.port.format(number)

    def numbers(self) -> range:
        return range(self.first, self.first + PORTS)


_KINDS = (
    _Kind("catalyst_2970", "12.2", "ios_legacy", "GigabitEthernet0/{}"),
    _Kind("nortel_5510", "5.1", "ers", "{}"),
    _Kind("force10_e300", "6.5", "force10", "GigabitEthernet 0/{}", first=0),
    _Kind("cisco_ios", "12.4", "ios_legacy", "FastEthernet0/{}"),
)


def write_campus(
    folder: Path, devices: int, *, ranges: bool = True, changed: int = 3, startup: bool = False
) -> None:
    """Write the inventory of so many devices; their ports as ranges or one by one.

    The ports of the first ``changed`` ones towards hosts are tagged ``changed``, all others ``lan``. With
    ``startup`` a lab can be started of it.
    """
    folder.mkdir(parents=True)
    host_lines: list[str] = []
    for number in range(devices):
        host_lines += _device(number, devices, ranges, number < changed)
        host_lines += [f"    startup: d{number}.cfg"] if startup else []
    (folder / "hosts.yaml").write_text("\n".join(host_lines) + "\n", encoding="utf-8")
    (folder / "groups.yaml").write_text(
        "".join(f"{kind.platform}: {{platform: {kind.platform}}}\n" for kind in _KINDS), encoding="utf-8"
    )
    (folder / "links.yaml").write_text("\n".join(_links(devices)) + "\n", encoding="utf-8")
    for number in range(devices if startup else 0):
        (folder / f"d{number}.cfg").write_text(_startup(number), encoding="utf-8")


_INTENT = """\
version: 1
intent: {name}
classes:
  - name: voice
    match: {{any: [{{application: [rtp-audio]}}, {{dscp: [ef]}}]}}
    mark: {{dscp: ef}}
    treatment: {{priority: {{percent: 20}}}}
  - name: business
    match: {{any: [{{dscp: [af21]}}]}}
    mark: {{dscp: af21}}
    treatment: {{bandwidth: {{remaining_percent: 60}}}}
  - name: default
    treatment: {{bandwidth: {{remaining_percent: 40}}}}
apply:
  - {{interfaces: [{tag}], direction: input}}
  - {{interfaces: [{tag}], direction: output}}
"""
INTENT_OF_ALL = _INTENT.format(name="all", tag="lan")
"""Voice first on the ports towards hosts, as text."""


def change() -> LoadedIntent:
    """A change that concerns the first devices of a campus alone: voice first on their ports towards hosts."""
    return parse_intent(_INTENT.format(name="few", tag=_CHANGED), "few.yaml")


def change_of_all() -> LoadedIntent:
    """The same change at the ports of all other devices."""
    return parse_intent(INTENT_OF_ALL, "all.yaml")


def _kind(number: int) -> _Kind:
    return _KINDS[number % len(_KINDS)]


def _device(number: int, devices: int, ranges: bool, changed: bool) -> Iterator[str]:
    kind = _kind(number)
    down, up = _trunks(number, devices)
    trunks = [*([up] if up is not None else []), *down]
    hosts = [port for port in kind.numbers() if port not in trunks]
    yield f"d{number}:"
    yield f"  groups: [{kind.platform}]"
    yield "  data:"
    yield f"    role: {'edge' if kind.platform == 'cisco_ios' else 'access'}"
    yield f'    image: "{kind.image}"'
    yield f"    driver: {kind.driver}"
    yield "    interfaces:"
    lan = f"{{rate: 100 Mb/s, tags: [{_CHANGED if changed else 'lan'}]}}"
    trunk = "{rate: 1 Gb/s, tags: [trunk], tagged: true}"
    for ports, body in ((hosts, lan), (trunks, trunk)):
        if ranges and ports:
            yield f'      "{kind.name(f"[{_format_ranges(sorted(ports))}]")}": {body}'
        elif not ranges:
            yield from (f'      "{kind.name(port)}": {body}' for port in sorted(ports))


def _startup(number: int) -> str:
    """What a device boots with: its name and its ports, and on a 5510 queues for three classes."""
    kind = _kind(number)
    if kind.platform == "nortel_5510":
        return f"enable\nconfigure terminal\nsnmp-server name d{number}\nqos agent queue-set 7\nend\n"
    is_router = kind.platform == "cisco_ios"
    port_lines = " no ip address\n" if is_router else ""  # as a router saves a port without one
    ports = "".join(f"interface {kind.name(port)}\n{port_lines}!\n" for port in kind.numbers())
    switching = "ip cef\n!\n" if is_router else ""  # without it, a router marks nothing
    return f"hostname d{number}\n!\n{switching}{ports}"


def _trunks(number: int, devices: int) -> tuple[list[int], int | None]:
    """Ports towards the devices below, and the one towards the device above."""
    numbers = _kind(number).numbers()
    below = range(number * FAN_OUT + 1, min(number * FAN_OUT + 1 + FAN_OUT, devices))
    return [numbers[-2 - at] for at, _ in enumerate(below)], numbers[-1] if number else None


def _format_ranges(ports: list[int]) -> str:
    """Numbers as a range of an inventory has them; those of a made device follow one another."""
    runs: list[list[int]] = []
    for port in ports:
        if runs and port == runs[-1][1] + 1:
            runs[-1][1] = port
        else:
            runs.append([port, port])
    return ",".join(f"{first}-{last}" if last > first else str(first) for first, last in runs)


def _links(devices: int) -> Iterator[str]:
    yield "links:" if devices > 1 else "links: []"
    for number in range(1, devices):
        above = (number - 1) // FAN_OUT
        ports, _ = _trunks(above, devices)
        port = ports[number - 1 - above * FAN_OUT]
        _, up = _trunks(number, devices)
        ends = f'a: [d{above}, "{_kind(above).name(port)}"], b: [d{number}, "{_kind(number).name(up or 0)}"]'
        yield f"  - {{{ends}, rate: 1 Gb/s, delay: 1 us, tagged: true}}"
    yield "stations: []"


def bare_configuration(device: Device) -> str:
    """The least that a device prints: its name and its ports."""
    ports = "".join(f"interface {interface.name}\n!\n" for interface in device.interfaces)
    return f"hostname {device.name}\n!\n{ports}" if device.platform != "nortel_5510" else ""
