"""Routers in a row between stations, and how late packets were there beside the bounds of their flows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from qosforge.calculus.delay_bounds import delay_bounds
from qosforge.calculus.stages import TrafficStream
from qosforge.inventory.models import (
    Circuit,
    Device,
    Framing,
    Interface,
    Link,
    Network,
    Station,
    TrafficFlow,
    TrafficScenario,
)
from qosforge.plan.model import Efficiency, Egress, Ingress, InterfacePlan, Plan
from qosforge.tester.scenario.streams import find_streams
from qosforge.tester.twin import TwinTester
from qosforge.twin.scenario import PS

ACCESS = 100_000_000
_CIRCUITS = {Framing.ATM: Circuit(vpi=1, vci=100), Framing.FRAME_RELAY: Circuit(dlci=100)}
FORWARD, BACK = "Serial0/0", "Serial0/1"


@dataclass(frozen=True)
class Port:
    """What a router does at one of its ports."""

    egress: Egress = field(default_factory=Egress)
    ingress: Ingress = field(default_factory=Ingress)
    efficiency: Efficiency = field(default_factory=Efficiency)


@dataclass(frozen=True)
class Run:
    """One scenario on the twin: its streams, and of every flow the largest delay and its bound, in seconds, what
    came of it in IP bits per second, and the mean IP bytes of its packets."""

    streams: dict[str, TrafficStream]
    worst: dict[str, Fraction]
    bounds: dict[str, Fraction | None]
    throughput: dict[str, float]
    packet_bytes: dict[str, float]

    def late(self) -> dict[str, tuple[float, float]]:
        """The flows of which a packet was later than the bound: how late, and the bound."""
        return {
            name: (float(seen), float(bound))
            for name, seen in self.worst.items()
            if (bound := self.bounds[name]) is not None and seen > bound
        }


def flow(name: str, source: Mapping[str, Any], **more: Any) -> TrafficFlow:
    """A flow from ``west`` to ``east``, unless said otherwise."""
    described = {"name": name, "from": "west", "to": "east", "dst_port": 5000, "source": source} | more
    if source["kind"] == "tcp":
        described["protocol"] = "tcp"
    return TrafficFlow.model_validate(described)


def row(
    rates: list[int],
    framing: Framing | list[Framing] = Framing.HDLC,
    ports: Mapping[tuple[str, str], Port] | None = None,
) -> tuple[Network, dict[str, Plan]]:
    """Routers ``r0``, ``r1``, … joined by lines of these rates (and framings, all alike or one each), with stations
    ``west``, ``west2``, ``east`` and ``east2`` at the ends."""
    last = len(rates)
    framings = framing if isinstance(framing, list) else [framing] * last
    stations = [
        ("west", "r0", "FastEthernet0/0", "192.0.2.1"),
        ("west2", "r0", "FastEthernet0/1", "192.0.2.2"),
        ("east", f"r{last}", "FastEthernet0/0", "198.51.100.1"),
        ("east2", f"r{last}", "FastEthernet0/1", "198.51.100.2"),
    ]
    held = dict(ports or {})
    devices, plans = [], {}
    for number in range(last + 1):
        name = f"r{number}"
        lines = [(FORWARD, rates[number], framings[number])] if number < last else []
        lines += [(BACK, rates[number - 1], framings[number - 1])] if number else []
        interfaces = [
            Interface(
                name=port,
                rate=rate,
                role="middle",
                encapsulation=framed,
                circuit=_CIRCUITS.get(framed),
            )
            for port, rate, framed in lines
        ]
        interfaces += [
            Interface(name=port, rate=ACCESS, role="access") for _, at, port, _ in stations if at == name
        ]
        devices.append(
            Device(
                name=name,
                platform="cisco_ios",
                image="",
                role="middle",
                driver="ios",
                interfaces=tuple(interfaces),
            )
        )
        planned = tuple(
            InterfacePlan(
                name=each.name,
                egress=held.get((name, each.name), Port()).egress,
                ingress=held.get((name, each.name), Port()).ingress,
                efficiency=held.get((name, each.name), Port()).efficiency,
            )
            for each in interfaces
        )
        plans[name] = Plan(device=name, platform="cisco_ios", interfaces=planned)
    network = Network(
        name="row",
        devices=tuple(devices),
        links=tuple(
            Link(a=(f"r{n}", FORWARD), b=(f"r{n + 1}", BACK), rate=rate, framing=framed)
            for n, (rate, framed) in enumerate(zip(rates, framings, strict=True))
        ),
        stations=tuple(
            Station(name=name, address=address, attach=(at, port), rate=ACCESS)
            for name, at, port, address in stations
        ),
    )
    return network, plans


def run(
    network: Network, plans: Mapping[str, Plan], flows: list[TrafficFlow], seconds: int = 10, seed: int = 1
) -> Run:
    """Run these flows together."""
    described = TrafficScenario(name="all", title="", between=(), flows=tuple(flows))
    tester = TwinTester(network, plans, seed)
    document = tester.scenario(described, seconds, set())
    answer = tester._run(document)
    found = find_streams(network, plans, described, document, tester._run)
    bounds = delay_bounds(found)
    by_flow = {name: bounds[stream.name] for stream in found for name in stream.flows}
    arrived = [entry for entry in answer.flows if entry.delivered]
    return Run(
        streams={stream.name: stream for stream in found},
        worst={entry.name: Fraction(entry.delay_ps.max or 0, PS) for entry in arrived},
        bounds=by_flow,
        throughput={entry.name: entry.throughput_bps for entry in answer.flows},
        packet_bytes={entry.name: entry.bytes_delivered / entry.delivered for entry in arrived},
    )
