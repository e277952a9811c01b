"""A device as its page shows it: its ports with their queues, drawn from a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from qosforge.device_state.qos_state import DeviceState, PortQos
from qosforge.inventory.models import Device, Interface, Network
from qosforge.plan.description import (
    car_words,
    discipline_words,
    early_drop_words,
    efficiency_words,
    limit_words,
    map_words,
    queue_names,
    rule_words,
    sending_words,
    service_words,
    trust_words,
)
from qosforge.plan.model import Discipline, Egress, Rule, Scheduler, System
from qosforge.plan.shares import expected_shares
from qosforge.platforms.names import IDLE_QUEUES
from qosforge.units import format_rate


@dataclass(frozen=True)
class QueueView:
    """One queue. ``share`` is the part of the link in per cent that it gets while every queue wants more than its
    own; ``None`` where it gets as much as comes, or what those before it leave.
    """

    number: int
    name: str
    first: bool
    share: float | None
    service: str
    limits: tuple[str, ...]
    early_drops: tuple[str, ...]
    ecn: bool
    takes: tuple[str, ...]
    inside: tuple[QueueView, ...] = ()
    inside_words: str = ""

    @property
    def idle(self) -> bool:
        """Whether the device has it without need: no class is sent through it."""
        return self.name.startswith(IDLE_QUEUES)


@dataclass(frozen=True)
class FarEnd:
    """What is at the other end of a link: a device and its port, or an end host (without a port)."""

    name: str
    port: str = ""


@dataclass(frozen=True)
class PortView:
    """One port: as the inventory has it, what is at its other end, and what the device does there."""

    number: int
    name: str
    interface: Interface | None
    far: tuple[FarEnd, ...]
    port: PortQos | None
    system: System

    @property
    def anchor(self) -> str:
        """The id of its HTML element."""
        return f"port-{self.number}"

    @property
    def only_marks(self) -> bool:
        """Whether it marks what comes in, and sends as the device was delivered."""
        port = self.port
        return port is not None and port.state is not None and port.state.marks and not port.state.by_class

    @property
    def has_policy(self) -> bool:
        """Whether the device is known to treat classes apart here."""
        return self.port is not None and self.port.state is not None and self.port.state.by_class

    @property
    def rate(self) -> str:
        """The rate of the line, as people write it."""
        return format_rate(self.interface.rate) if self.interface else ""

    @property
    def contracted(self) -> str:
        """The contracted rate, where it is lower."""
        entry = self.interface
        return format_rate(entry.usable) if entry and entry.usable < entry.rate else ""

    @property
    def scheduler(self) -> Scheduler | None:
        """The scheduler of its queues."""
        return self.port.state.scheduler if self.port and self.port.state else None

    @property
    def discipline(self) -> str:
        """How the queues share the port."""
        return self.port.service if self.port else ""

    @property
    def egress(self) -> Egress:
        """The output path of the port."""
        return self.port.plan.egress if self.port and self.port.plan else Egress()

    @cached_property
    def queues(self) -> tuple[QueueView, ...]:
        """The queues, in the order of service."""
        if self.scheduler is None or self.interface is None:
            return ()
        dividing = self.egress.dividing
        rate = min(self.interface.usable, self.egress.shape_rate or self.interface.usable)
        views = _queues(self.scheduler, dividing.rules, dividing.default_queue, rate)
        return tuple(replace(view, takes=view.takes or map_words(self.system, view.number)) for view in views)

    @property
    def rules(self) -> tuple[tuple[str, str, str], ...]:
        """The input rules: name, match and action of each."""
        rules = self.port.plan.ingress.rules if self.port and self.port.plan else ()
        return tuple((rule.name, *rule_words(rule)) for rule in rules)

    @property
    def trust(self) -> str:
        """How the port treats the marks of incoming packets."""
        return trust_words(self.port.plan.ingress) if self.port and self.port.plan else ""

    @property
    def policers_in(self) -> tuple[str, ...]:
        """The input policers that apply before any policy."""
        return (
            tuple(car_words(one) for one in self.port.plan.ingress.policers) if self.port and self.port.plan else ()
        )

    @property
    def sending(self) -> tuple[str, ...]:
        """The limits of the port as a whole."""
        return (*sending_words(self.egress), *(car_words(one) for one in self.egress.policers))

    @property
    def efficiency(self) -> tuple[str, ...]:
        """The link-efficiency settings (fragments, compression)."""
        return efficiency_words(self.port.plan.efficiency) if self.port and self.port.plan else ()


def port_views(network: Network, device: Device, state: DeviceState | None) -> tuple[PortView, ...]:
    """The ports of the inventory; after them those that drifted and are not in it."""
    ports = state.ports if state else {}
    system = state.plan.system if state else System()
    known = [
        PortView(number, entry.name, entry, _far(network, device.name, entry.name), ports.get(entry.name), system)
        for number, entry in enumerate(device.interfaces, 1)
    ]
    names = {entry.name for entry in device.interfaces}
    others = [port for name, port in ports.items() if name not in names]
    return (
        *known,
        *(PortView(len(known) + n, port.name, None, (), port, system) for n, port in enumerate(others, 1)),
    )


def _far(network: Network, device: str, port: str) -> tuple[FarEnd, ...]:
    found = network.neighbour((device, port))
    links = (FarEnd(*found[1]),) if found else ()
    return (*links, *(FarEnd(station.name) for station in network.stations if station.attach == (device, port)))


def _queues(scheduler: Scheduler, rules: Sequence[Rule], default: int | None, rate: float) -> tuple[QueueView, ...]:
    names = queue_names(scheduler)
    shares = _share_texts(scheduler, rate)
    views = []
    for name, queue, share in zip(names, scheduler.queues, shares, strict=True):
        takes = [rule_words(rule)[0] for rule in rules if rule.queue == queue.number]
        takes += ["everything else"] if default == queue.number and len(scheduler.queues) > 1 else []
        inside = queue.child.dividing if queue.child else None
        below = inside.scheduler if inside else None
        views.append(
            QueueView(
                number=queue.number,
                name=name,
                first=queue.priority,
                share=share,
                service=service_words(queue, scheduler),
                limits=limit_words(queue),
                early_drops=early_drop_words(queue.red) if queue.red else (),
                ecn=bool(queue.red and queue.red.ecn),
                takes=tuple(takes),
                inside=_queues(below, inside.rules, inside.default_queue, rate * (share or 100.0) / 100)
                if inside and below
                else (),
                inside_words=discipline_words(below) if below else "",
            )
        )
    return tuple(sorted(views, key=lambda view: not view.first))


def _share_texts(scheduler: Scheduler, rate: float) -> tuple[float | None, ...]:
    """Per cent of the link while every queue wants more; priority that nothing bounds is idle meanwhile."""
    if scheduler.discipline is Discipline.STRICT:
        return (None,) * len(scheduler.queues)
    found = expected_shares(scheduler, round(rate), priority_load=0.0)
    return tuple(
        None if queue.priority and not queue.capped else share * 100
        for queue, share in zip(scheduler.queues, found, strict=True)
    )
