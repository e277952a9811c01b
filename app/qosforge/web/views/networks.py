"""The page of a network: a drawing and a table of the same facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from qosforge.api.backend import Backend
from qosforge.device_state.drift import find_baselines
from qosforge.device_state.last_known import LastKnown, last_known
from qosforge.device_state.qos_state import DeviceState, PortQos, QosStatus, device_state
from qosforge.inventory.models import Device, Link, Network, Port, Station
from qosforge.units import format_rate
from qosforge.web.views.shapes import Rectangle
from qosforge.web.views.topology import MOST_HOSTS, Drawing, DrawnLink, draw_network

SYMBOLS = {QosStatus.UNKNOWN: "?", QosStatus.NONE: "–", QosStatus.DRIFTED: "≠"}
"""What stands for a port's state in the drawing; of a policy it is the number of queues."""

_NAME_LENGTH, _KIND_LENGTH, _HOST_LENGTH = 13, 18, 13
"""Characters that a card has room for: of a device's name, its platform, an end host's name."""


@dataclass(frozen=True)
class LinkEnd:
    """One end of a link, or the port of an end host: the device's port and what is known of it."""

    device: str
    port: str
    port_state: PortQos

    @property
    def symbol(self) -> str:
        """The symbol of its state in the drawing."""
        state = self.port_state.state
        return (
            str(state.queues) if state and self.port_state.qos is QosStatus.POLICY else SYMBOLS[self.port_state.qos]
        )


@dataclass(frozen=True)
class LinkView:
    """A link with its two ends, and where it is drawn."""

    number: int
    link: Link
    ends: tuple[LinkEnd, LinkEnd]
    line: DrawnLink

    @property
    def rate(self) -> str:
        """As people write it."""
        return format_rate(self.link.rate)


@dataclass(frozen=True)
class AttachedStation:
    """An end host, and the device port that it is attached to."""

    station: Station
    end: LinkEnd

    @property
    def label(self) -> str:
        """Its name, as long as a card has room for."""
        return _shorten(self.station.name, _HOST_LENGTH)


@dataclass(frozen=True)
class DeviceCard:
    """A device with its end hosts, and where it is drawn."""

    device: Device
    place: Rectangle
    hosts: tuple[AttachedStation, ...]
    read: LastKnown | None
    device_state: DeviceState | None

    @property
    def label(self) -> str:
        """Its name, as long as there is room for."""
        return _shorten(self.device.name, _NAME_LENGTH)

    @property
    def kind(self) -> str:
        """Its platform, as long as there is room for."""
        return _shorten(self.device.platform.replace("_", " "), _KIND_LENGTH)

    @property
    def state(self) -> str:
        """What is known of its configuration: ``unknown``, ``drifted`` or ``read``."""
        if self.read is None or self.device_state is None:
            return "unknown"
        return "drifted" if self.device_state.drifted else "read"

    @property
    def named(self) -> tuple[AttachedStation, ...]:
        """The end hosts that the card names."""
        return self.hosts if len(self.hosts) <= MOST_HOSTS else self.hosts[: MOST_HOSTS - 1]


class NetworkView:
    """A network with the last known state of its devices."""

    def __init__(self, network: Network, reads: Mapping[str, LastKnown], states: Mapping[str, DeviceState]) -> None:
        self.network = network
        self.reads = reads
        self.states = states

    @cached_property
    def drawing(self) -> Drawing:
        """The layout of the drawing."""
        place = {device.name: number for number, device in enumerate(self.network.devices)}
        hosts = tuple(sum(s.attach[0] == d.name for s in self.network.stations) for d in self.network.devices)
        return draw_network(hosts, tuple((place[link.a[0]], place[link.b[0]]) for link in self.network.links))

    @cached_property
    def cards(self) -> tuple[DeviceCard, ...]:
        """The devices."""
        return tuple(
            DeviceCard(
                device, place, self._hosts(device.name), self.reads.get(device.name), self.states.get(device.name)
            )
            for device, place in zip(self.network.devices, self.drawing.cards, strict=True)
        )

    @cached_property
    def links(self) -> tuple[LinkView, ...]:
        """The links."""
        return tuple(
            LinkView(number, link, (self.end(link.a), self.end(link.b)), line)
            for number, (link, line) in enumerate(zip(self.network.links, self.drawing.lines, strict=True), 1)
        )

    @property
    def counts(self) -> dict[QosStatus, int]:
        """How many ends of links are in each state."""
        found = [end.port_state.qos for link in self.links for end in link.ends]
        return {state: found.count(state) for state in QosStatus}

    @property
    def oldest(self) -> datetime | None:
        """The time of the oldest reading."""
        return min((read.at for read in self.reads.values()), default=None)

    @property
    def newest(self) -> datetime | None:
        """The time of the newest reading."""
        return max((read.at for read in self.reads.values()), default=None)

    def end(self, port: Port) -> LinkEnd:
        """What is known of a port."""
        found = self.states.get(port[0])
        return LinkEnd(port[0], port[1], (found.ports.get(port[1]) if found else None) or PortQos(port[1]))

    def address(self, end: LinkEnd) -> str:
        """The address of a port on its device's page."""
        names = [interface.name for interface in self.network.device(end.device).interfaces]
        anchor = f"#port-{names.index(end.port) + 1}" if end.port in names else ""
        return f"/networks/{self.network.name}/devices/{end.device}{anchor}"

    def _hosts(self, device: str) -> tuple[AttachedStation, ...]:
        return tuple(AttachedStation(s, self.end(s.attach)) for s in self.network.stations if s.attach[0] == device)


def network_view(backend: Backend, network: Network) -> NetworkView:
    """The view of a network, from the last readings of its devices.

    Raises:
        StoreError: a reading is missing or damaged.
    """
    store, artifacts = backend.run_requests.store, backend.artifacts
    reads = last_known(store, artifacts, network)
    last = find_baselines(store, network)
    states = {n: device_state(network, n, read.text, last.get(n), artifacts) for n, read in reads.items()}
    return NetworkView(network, reads, states)


def _shorten(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
