"""The running plans of a network: what each port does according to the device configurations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from qosforge.inventory.models import Link, Network, Port
from qosforge.plan.model import Discipline, InterfacePlan, Plan, Scheduler
from qosforge.validation.packets import Packet, enter, marked, queue_of
from qosforge.validation.paths import Hop

ONE_QUEUE = (Discipline.FIFO, Discipline.FLOW_WFQ)
"""Disciplines that do not tell marks apart by configuration."""
USUAL_MARKS = (34, 46)
"""AF41 and EF: what phones and conference systems send unasked (RFC 4594, figure 3)."""
_NOBODY = "0.0.0.0"  # noqa: S104 - an address that no classifier names, not one to listen at


@dataclass(frozen=True)
class RunningPlans:
    """A network with the plan of each device, as parsed from its running configuration."""

    network: Network
    plans: Mapping[str, Plan]

    @cached_property
    def _ends(self) -> dict[Port, tuple[Link, Port]]:
        return {
            near: (link, far) for link in self.network.links for near, far in ((link.a, link.b), (link.b, link.a))
        }

    @cached_property
    def _attached(self) -> frozenset[Port]:
        return frozenset(station.attach for station in self.network.stations)

    @cached_property
    def _connected(self) -> Mapping[str, tuple[Port, ...]]:
        found: dict[str, list[Port]] = {}
        for port in sorted({*self._ends, *self._attached}):
            found.setdefault(port[0], []).append(port)
        return {device: tuple(ports) for device, ports in found.items()}

    def interface(self, port: Port) -> InterfacePlan | None:
        """The plan of a port; ``None`` where the device or the port was not read."""
        plan = self.plans.get(port[0])
        return plan.interface(port[1]) if plan else None

    def scheduler(self, port: Port) -> Scheduler | None:
        """What divides a port among its queues: its own policy, inside the shaper of the port where it has one, or
        the device-wide scheduler.
        """
        interface = self.interface(port)
        if interface is None:
            return None
        return interface.egress.dividing.scheduler or self.plans[port[0]].system.scheduler

    def far(self, port: Port) -> tuple[Link, Port] | None:
        """The link at a port and the port at its other end."""
        return self._ends.get(port)

    def connected(self, device: str) -> tuple[Port, ...]:
        """The ports of a device with a link or a station at them, as far as they were read."""
        return tuple(port for port in self._connected.get(device, ()) if self.interface(port) is not None)

    def faces_station(self, port: Port) -> bool:
        """Whether end hosts are at a port, and no link to another device."""
        return port in self._attached and port not in self._ends

    @cached_property
    def marks(self) -> tuple[int, ...]:
        """The DSCPs that matter here: set or read by a device, offered by the traffic, or sent by most hosts."""
        found = {*USUAL_MARKS, *(flow.dscp for scenario in self.network.traffic for flow in scenario.flows)}
        for plan in self.plans.values():
            for interface in plan.interfaces:
                for rule in (*interface.ingress.rules, *interface.egress.rules):
                    found.update(dscp for term in rule.any_of for dscp in term.dscp)
                    found.update([rule.set_dscp] if rule.set_dscp is not None else [])
        return tuple(sorted(found - {0}))

    @cached_property
    def travelling(self) -> tuple[int, ...]:
        """The marks that leave ports of end hosts as these devices treat them; all that matter where none do."""
        found: set[int] = set()
        for device in self.plans:
            for port in filter(self.faces_station, self.connected(device)):
                interface = self.interface(port)
                found.update(self.apply_input(port, self.arriving_packet(port, dscp)).dscp for dscp in self.marks)
                found.update(rule.set_dscp or 0 for rule in (interface.ingress.rules if interface else ()))
        return tuple(sorted(found - {0})) or self.marks

    def arriving_packet(self, port: Port, dscp: int) -> Packet:
        """A packet with a mark as the other end of a port's link sends it; its CoS follows from that end's map."""
        packet = Packet(source=_NOBODY, destination=_NOBODY, dscp=dscp)
        end = self.far(port)
        sender = self.plans.get(end[1][0]) if end else None
        return marked(sender.system, packet, dscp, None) if sender else packet

    def apply_input(self, port: Port, packet: Packet) -> Packet:
        """A packet after the input of a port."""
        interface, end = self.interface(port), self.far(port)
        if interface is None:
            return packet
        return enter(
            self.plans[port[0]].system, interface.ingress, packet, tagged=end is not None and end[0].tagged
        )

    def queue(self, hop: Hop, packet: Packet) -> int | None:
        """The queue that a packet takes which has come in at a hop's entry; none where there is one for all."""
        interface, scheduler, entry = self.interface(hop.exit), self.scheduler(hop.exit), self.interface(hop.entry)
        if interface is None or entry is None or scheduler is None or scheduler.discipline in ONE_QUEUE:
            return None
        return queue_of(self.plans[hop.device].system, interface.egress.dividing, scheduler, packet)

    def hops(self, device: str) -> Iterator[Hop]:
        """Every way through a device, from one connected port to another."""
        for port in self.connected(device):
            yield from self.ways_to(port)

    def ways_to(self, port: Port) -> Iterator[Hop]:
        """Every way through a device to one of its ports."""
        for entry in self.connected(port[0]):
            if entry != port:
                end = self.far(entry)
                yield Hop(entry, port, tagged=end is not None and end[0].tagged)
