"""Answers of an E-Series chassis to ``show``: the listing, QoS objects, counters.

Only the listing and ``show qos statistics wred-profile`` have a published layout; the other tables
follow the house style (a header line, then one row per queue) and are the lab's assumption.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from qoslab.boxes.force10_e300.names import short
from qoslab.boxes.force10_e300.plane import egress
from qoslab.boxes.force10_e300.rates import Rate
from qoslab.boxes.force10_e300.state import PREDEFINED_WRED, QUEUES, Chassis, Interface
from qoslab.packets import PortCount
from qoslab.wiring import Cable

STAMP = "%a %b %d %H:%M:%S %Y"
"""How FTOS writes a time in the head of a listing."""


@dataclass
class QueueCounters:
    """Packets and bytes per queue: arrived and matched by a class-map rule on the way in, queued on the way out."""

    matched_packets: Counter[int] = field(default_factory=Counter)
    matched_bytes: Counter[int] = field(default_factory=Counter)
    queued_packets: Counter[int] = field(default_factory=Counter)
    queued_bytes: Counter[int] = field(default_factory=Counter)
    arrived_packets: Counter[int] = field(default_factory=Counter)
    arrived_bytes: Counter[int] = field(default_factory=Counter)

    def arrive(self, queue: int, packets: int, size: int) -> None:
        self.arrived_packets[queue] += packets
        self.arrived_bytes[queue] += packets * size

    def match(self, queue: int, packets: int, size: int) -> None:
        self.matched_packets[queue] += packets
        self.matched_bytes[queue] += packets * size

    def queue(self, queue: int, packets: int, size: int) -> None:
        self.queued_packets[queue] += packets
        self.queued_bytes[queue] += packets * size

    def forget_matches(self) -> None:
        """What an edit of the policy does: its rules are installed anew."""
        self.matched_packets.clear()
        self.matched_bytes.clear()


def body(chassis: Chassis) -> list[str]:
    """What is saved: the version, then all blocks of the configuration parted by ``!``."""
    lines = [f"! Version {chassis.version}"]
    for _, block in chassis.sections():
        lines += ["!", *block]
    return [*lines, "!", "end"]


def listing(chassis: Chassis, changed: str) -> list[str]:
    """``show running-config``: what is saved, and when it was changed."""
    version, *blocks = body(chassis)
    return ["Current Configuration ...", version, f"! Last configuration change at {changed}", *blocks]


def part(chassis: Chassis, keyword: str, name: str = "") -> list[str]:
    """``show running-config KEYWORD [NAME]``: the blocks of one kind."""
    lines: list[str] = []
    for section, block in chassis.sections():
        if section == keyword and (not name or f" {name} " in f"{block[0]} "):
            lines += ["!", *block]
    return lines


def qos_statistics(chassis: Chassis, counters: dict[str, QueueCounters], only: str) -> Iterator[str]:
    """``show qos statistics [INTERFACE]``."""
    for interface in _chosen(chassis, only):
        counted = counters.get(interface.name, QueueCounters())
        yield f"Interface {short(interface.name)}"
        yield "Queue#   Queued Pkts   Queued Bytes   Matched Pkts   Matched Bytes"
        for queue in range(QUEUES):
            yield (
                f"{queue:>6}   {counted.queued_packets[queue]:>11}   {counted.queued_bytes[queue]:>12}"
                f"   {counted.matched_packets[queue]:>12}   {counted.matched_bytes[queue]:>13}"
            )


def wred_statistics(chassis: Chassis, only: str) -> Iterator[str]:
    """``show qos statistics wred-profile [INTERFACE]``: three rows per queue (TeraScale guide p. 873).

    Offered packets meet an empty queue, so nothing is ever dropped at random.
    """
    for interface in _chosen(chassis, only):
        yield f"Interface {short(interface.name)}"
        yield "Queue#  Drop-statistic   WRED-name        Min    Max   Dropped Pkts"
        for queue in range(QUEUES):
            for number, colour in ((queue, "green"), ("", "yellow")):
                served = egress(chassis, interface, queue, colour)
                if served.wred is None:
                    continue
                low, high = served.wred.thresholds
                yield (
                    f"{number:<7} {colour.capitalize():<16} {served.wred.profile:<14} {low:>5}  {high:>5}   {0:>12}"
                )
            yield f"{'':<7} {'Out of Profile':<16} {'':<14} {'':>5}  {'':>5}   {0:>12}"


def wred_profiles(chassis: Chassis, only: str) -> Iterator[str]:
    """``show qos wred-profile [NAME]``."""
    yield "Wred-profile-name   min-threshold   max-threshold"
    for name in [*PREDEFINED_WRED, *chassis.wred]:
        if only in {"", name}:
            low, high = chassis.thresholds(name)
            yield f"{name:<20}{low:<16}{high}"


def version(chassis: Chassis, seconds: float) -> list[str]:
    """``show version`` of an E300."""
    minutes = int(seconds) // 60
    up = f"{minutes // 1440} day(s), {minutes // 60 % 24} hour(s), {minutes % 60} minute(s)"
    return [
        "Force10 Networks Real Time Operating System Software",
        "Force10 Operating System Version: 1.0",
        f"Force10 Application Software Version: {chassis.version}",
        f'System image file is "flash://FTOS-EF-{chassis.version}.bin"',
        "",
        f"{chassis.hostname} uptime is {up}",
        "",
        "Chassis Type: E300",
        "Chassis serial number: FX000004711",
    ]


def policy_summary(chassis: Chassis) -> Iterator[str]:
    """``show qos policy-map summary``."""
    yield "Interface    policy-map-input                   policy-map-output"
    for interface in _chosen(chassis, ""):
        if interface.policies:
            ingress, out = (interface.policies.get(way, "-") for way in ("input", "output"))
            yield f"{short(interface.name):<13}{ingress:<35}{out}"


def policy_detail(chassis: Chassis, only: str) -> Iterator[str]:
    """``show qos policy-map detail [INTERFACE]``: each map with what it uses."""
    for interface in _chosen(chassis, only):
        if not interface.policies:
            continue
        yield f"Interface {short(interface.name)}"
        for direction in ("input", "output"):
            policy = chassis.policy_maps[direction].get(interface.policies.get(direction, ""))
            if policy:
                yield from (f" {line}" for line in policy.lines())


def input_maps(chassis: Chassis, name: str, class_map: str, policy: str) -> Iterator[str]:
    """``show qos policy-map-input [NAME] [class C] [qos-policy-input Q]``: only what names both."""
    for held in chassis.policy_maps["input"].values():
        if name not in {"", held.name}:
            continue
        services = {
            queue: service
            for queue, service in held.services.items()
            if class_map in {"", service.class_map} and policy in {"", service.qos_policy}
        }
        if services or not (class_map or policy):
            yield "!"
            yield from replace(held, services=services).lines()


_FASTEST = {"GigabitEthernet": 1000, "TenGigabitEthernet": 10000, "ManagementEthernet": 100}
"""Mb/s by family of ports."""


def speed(held: Interface, cable: Cable | None) -> int:
    """The speed (Mb/s) of a port: as set, else as agreed with the other end."""
    given = held.options.get("speed", "").split()[-1:]
    most = _FASTEST.get(held.family, 1000)
    if given and given[0].isdigit():
        return int(given[0])
    return most if cable is None else min(most, cable.rate // 1_000_000)


def interface(held: Interface, cables: Mapping[str, Cable] | None, mac: str) -> Iterator[str]:
    """``show interfaces NAME``; of a physical port also the hardware and the speed.

    Those two lines as a published topology tool quotes them from an E-Series (``LineSpeed 1000 Mbit, Mode full
    duplex``, ``LineSpeed auto`` where nothing is plugged in).
    """
    up = not held.shutdown and (cables is None or not held.physical or held.name in cables)
    yield f"{held.name} is {'down' if held.shutdown else 'up'}, line protocol is {'up' if up else 'down'}"
    if "description" in held.options:
        yield f"Description: {held.options['description'].partition(' ')[2]}"
    if held.physical:
        yield f"Hardware is Force10Eth, address is {':'.join(mac[at : at + 2] for at in range(0, 12, 2))}"
    yield f"Internet address is {held.address or 'not set'}"
    mtu = held.options.get("mtu", "mtu 1554").split()[1]
    yield f"MTU {mtu} bytes, IP MTU {int(mtu) - 54} bytes"
    if held.physical:
        cable = (cables or {}).get(held.name)
        yield f"LineSpeed {speed(held, cable)} Mbit, Mode full duplex" if up else "LineSpeed auto"
    yield from _rates(held, ("police", "limit"))
    if held.port_qos.shape is not None:
        yield f"Rate shape {held.port_qos.shape.text()}"


def passed(count: PortCount) -> Iterator[str]:
    """The counters of ``show interfaces NAME``, as recorded answers of later FTOS releases print them."""
    yield "Input Statistics:"
    yield f"     {count.input_packets} packets, {count.input_bytes} bytes"
    yield "Output Statistics:"
    yield f"     {count.output_packets} packets, {count.output_bytes} bytes, 0 underruns"


def rates(chassis: Chassis, kind: str) -> Iterator[str]:
    """``show interfaces rate [limit|police]``."""
    for held in chassis.interfaces.values():
        lines = list(_rates(held, (kind,) if kind else ("police", "limit")))
        if lines:
            yield from (f"Interface {short(held.name)}", *(f"  {line}" for line in lines))


def _rates(held: Interface, kinds: Iterable[str]) -> Iterator[str]:
    for kind in kinds:
        for vlan, meter in held.port_qos.meters(kind).items():
            committed, peak = (_amount(rate) for rate in (meter.committed, meter.ceiling))
            yield f"Rate {kind} {committed} peak {peak}" + ("" if vlan is None else f" vlan {vlan}")


def _amount(rate: Rate) -> str:
    return f"{rate.amount}{' kbps' if rate.kbps else ''} ({rate.burst_bytes // 1024})"


def queue_statistics(
    chassis: Chassis, counters: dict[str, QueueCounters], direction: str, only: str
) -> Iterator[str]:
    """``show queue statistics egress|ingress [INTERFACE]``: packets and bytes per queue."""
    for held in _chosen(chassis, only):
        counted = counters.get(held.name, QueueCounters())
        packets, size = (
            (counted.queued_packets, counted.queued_bytes)
            if direction == "egress"
            else (counted.arrived_packets, counted.arrived_bytes)
        )
        yield f"Interface {short(held.name)}"
        yield "Queue#          Packets            Bytes"
        yield from (f"{queue:>6}   {packets[queue]:>14}   {size[queue]:>14}" for queue in range(QUEUES))


def _chosen(chassis: Chassis, only: str) -> list[Interface]:
    return [i for i in chassis.interfaces.values() if i.physical and only in {"", i.name}]
