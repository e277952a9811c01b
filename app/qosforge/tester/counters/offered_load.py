"""Offered load: the packets that a device's counters must show, by its configuration.

The twin classifies: each offer is carried through a twin of the one device, by the same rules that measurements are
made with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from qosforge.errors import Place, TesterError
from qosforge.intent.models import RESERVED_CLASS
from qosforge.inventory.models import Framing, Network
from qosforge.plan.model import Discipline, Egress, InterfacePlan, Plan
from qosforge.platforms.base import Direction, platform
from qosforge.tester.scenario.ports import framing_name, twin_port
from qosforge.twin.part import VERSION
from qosforge.twin.report import RuleReport
from qosforge.twin.scenario import PS, FlowSpec, LinkSpec, NodeSpec, PacketSpec, PortSpec, TwinScenario
from qosforge.twin.simulation import ScenarioError, simulate
from qosforge.twin.sources import CbrSource

CLASS_DEFAULT = "class-default"
"""The class of a policy that takes what no other class matches."""

_FROM, _TO = "from", "to"
_NIC = PortSpec(name="nic")
_SECONDS = 2
_PROBE_BITS_PER_SECOND = 8_000
_PROBE_BYTES = 100
"""Ten packets a second on any link of 9600 b/s or more: nothing waits, so nothing is dropped or policed."""


@dataclass(frozen=True)
class OfferedPackets:
    """Equal packets that a device took at one interface and carried to another.

    Marks are those on arrival; ``tagged`` says whether they came in tagged frames, without which ``cos`` is 0.
    ``size`` is in bytes.
    """

    device: str
    into: str
    out: str
    packets: int
    size: int
    dscp: int
    cos: int
    tagged: bool
    protocol: int
    source: str
    destination: str
    source_port: int
    destination_port: int
    application: str | None = None


@dataclass(frozen=True)
class CounterKey:
    """One counter of a device: a class's name or a queue's number, on an interface in a direction."""

    interface: str
    direction: Direction
    queue: str

    def __str__(self) -> str:
        place = f"{self.interface} {self.direction}".strip()
        return f"{place}, {'queue' if self.queue.isdigit() else 'class'} {self.queue}"


@dataclass(frozen=True)
class ExpectedCounts:
    """Packets that each class or queue must count, and which of them the device serves first."""

    packets: dict[CounterKey, int]
    priority: frozenset[CounterKey]


def expected_counts(network: Network, plan: Plan, offers: Iterable[OfferedPackets]) -> ExpectedCounts:
    """What the device of ``plan`` must count of the offers made to it.

    Raises:
        TesterError: the twin refuses the device's configuration.
    """
    packets: Counter[CounterKey] = Counter()
    for offer in offers:
        if offer.device == plan.device:
            for key in _keys(network, plan, offer):
                packets[key] += offer.packets
    return ExpectedCounts(dict(packets), frozenset(_priority(plan)))


def _priority(plan: Plan) -> Iterable[CounterKey]:
    for interface in plan.interfaces:
        scheduler = interface.egress.dividing.scheduler or plan.system.scheduler
        for queue in scheduler.queues if scheduler else ():
            by_class = scheduler is not None and scheduler.discipline is Discipline.LLQ_CBWFQ
            name = (queue.name or CLASS_DEFAULT) if by_class else str(queue.number)
            if queue.priority:
                yield CounterKey(interface.name, "output", name)


def _keys(network: Network, plan: Plan, offer: OfferedPackets) -> Iterable[CounterKey]:
    """The counters that one offer moves: of the rule that takes it on the way in, and of its way out."""
    document = _document(network, plan, offer)
    try:
        answer = simulate(document, 1)
    except ScenarioError as error:
        raise TesterError(f"the twin refuses the configuration: {error}", Place(device=plan.device)) from None
    ports = {entry.port: entry for entry in answer.ports if entry.node == plan.device}
    ingress = _interface_plan(plan, offer.into).ingress
    hit = _first_hit(ports[offer.into].rules.ingress)
    names = [rule.name for rule in ingress.rules if rule.any_of]
    if hit < len(names):
        yield CounterKey(offer.into, "input", names[hit])
    elif ingress.policy is not None:
        yield CounterKey(offer.into, "input", CLASS_DEFAULT)
    egress = _interface_plan(plan, offer.out).egress.dividing
    scheduler = egress.scheduler or plan.system.scheduler
    if scheduler is None or scheduler.discipline in {Discipline.FIFO, Discipline.FLOW_WFQ}:
        return
    if scheduler.discipline is Discipline.LLQ_CBWFQ:
        ways = _ways(egress)
        taken = _first_hit(ports[offer.out].rules.egress)
        for name in ways[taken] if taken < len(ways) else (CLASS_DEFAULT,):
            yield CounterKey(offer.out, "output", name)
    else:
        position = next(at for at, entry in enumerate(ports[offer.out].queues) if entry.packets_in)
        yield CounterKey(offer.out, "output", str(scheduler.queues[position].number))


def _ways(egress: Egress) -> list[tuple[str, ...]]:
    """The classes that count what each rule of the twin takes, in its order: a class, and those below it.

    What no class below takes is in the count of the class alone.
    """
    queues = egress.scheduler.queues if egress.scheduler else ()
    below = {q.number: _ways(q.child) for q in queues if q.child and q.child.scheduler and q.child.scheduler.queues}
    ways: list[tuple[str, ...]] = []
    for rule in egress.rules:
        if rule.queue is not None and rule.any_of:
            ways += [(rule.name, *_told(inside)) for inside in below.get(rule.queue, ())]
            ways.append((rule.name,))
    return [*ways, *((CLASS_DEFAULT, *_told(inside)) for inside in below.get(_usual(egress), ()))]


def _told(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in {CLASS_DEFAULT, RESERVED_CLASS})


def _usual(egress: Egress) -> int:
    """The number of the queue for what no rule takes."""
    queues = egress.scheduler.queues if egress.scheduler else ()
    numbers = [queue.number for queue in queues]
    return egress.default_queue if egress.default_queue in numbers else numbers[0]


def _first_hit(rules: Sequence[RuleReport]) -> int:
    return next(at for at, entry in enumerate(rules) if entry.packets)


def _interface_plan(plan: Plan, name: str) -> InterfacePlan:
    return plan.interface(name) or InterfacePlan(name=name)


def _document(network: Network, plan: Plan, offer: OfferedPackets) -> TwinScenario:
    """One device between two stations."""
    device = network.device(plan.device)
    profile = platform(plan.platform, plan.device).profile
    ports, links = [], []
    for name, station in ((offer.into, _FROM), (offer.out, _TO)):
        end = network.neighbour((device.name, name))
        link = end[0] if end else None
        rate = device.interface(name).usable
        ports.append(twin_port(plan, _interface_plan(plan, name), link, rate, profile))
        links.append(
            LinkSpec(
                a=(station, _NIC.name),
                b=(device.name, name),
                rate_bps=link.rate if link else rate,
                framing=framing_name(link.framing if link else Framing.ETHERNET),
                tagged=offer.tagged if station == _FROM else bool(link and link.tagged),
            )
        )
    flow = FlowSpec(
        name="offer",
        path=((_FROM, _NIC.name), (device.name, offer.out)),
        packet=PacketSpec(
            dscp=offer.dscp,
            cos=offer.cos,
            protocol=offer.protocol,
            src=offer.source,
            dst=offer.destination,
            src_port=offer.source_port,
            dst_port=offer.destination_port,
            application=offer.application,
        ),
        source=CbrSource(rate_bps=_PROBE_BITS_PER_SECOND, ip_bytes=_PROBE_BYTES),
    )
    return TwinScenario(
        version=VERSION,
        duration_ps=_SECONDS * PS,
        nodes=(
            NodeSpec(name=_FROM, ports=(_NIC,)),
            NodeSpec(name=device.name, ports=tuple(ports)),
            NodeSpec(name=_TO, ports=(_NIC,)),
        ),
        links=tuple(links),
        flows=(flow,),
    )
