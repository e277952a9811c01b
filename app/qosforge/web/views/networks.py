"""The page of a network: a drawing and tables of the same facts."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from qosforge.api.backend import Backend
from qosforge.device_state.qos_state import QosStatus
from qosforge.device_state.summaries import KnownDevices, Reading
from qosforge.device_state.summary import DeviceSummary, PortSummary
from qosforge.inventory.models import Device, Link, Network, Port, Station
from qosforge.platforms.base import installed, platform
from qosforge.units import format_rate
from qosforge.web.views.topology import MOST_HOSTS, Drawing, draw_network

SYMBOLS = {QosStatus.UNKNOWN: "?", QosStatus.NONE: "–", QosStatus.DRIFTED: "≠"}
"""What stands for a port's state in the drawing; of a policy it is the number of queues."""

ROWS = 50
"""Rows of a page of a table."""
_NAME_LENGTH, _KIND_LENGTH, _HOST_LENGTH = 13, 18, 13
"""Characters that a card has room for: of a device's name, its platform, an end host's name."""


@dataclass(frozen=True)
class LinkEnd:
    """One end of a link, or the port of an end host: the device's port and what is known of it."""

    device: str
    port: str
    state: PortSummary

    @property
    def symbol(self) -> str:
        """The symbol of its state in the drawing."""
        return str(self.state.queues) if self.state.qos is QosStatus.POLICY else SYMBOLS[self.state.qos]


@dataclass(frozen=True)
class LinkView:
    """A link with its two ends."""

    number: int
    link: Link
    ends: tuple[LinkEnd, LinkEnd]

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
    """A device with its end hosts, when it was last read, and what it amounted to then.

    ``state`` is ``unknown`` (never read), ``pending`` (read, and being summarized), ``new`` (no run settled it),
    ``drifted`` or ``settled`` (as the last run left it).
    """

    device: Device
    hosts: tuple[AttachedStation, ...]
    read: Reading | None
    summary: DeviceSummary | None
    state: str

    @property
    def label(self) -> str:
        """Its name, as long as there is room for."""
        return _shorten(self.device.name, _NAME_LENGTH)

    @property
    def kind(self) -> str:
        """Its platform, as long as there is room for: without the maker where that does not fit."""
        name = self.device.platform
        title = platform(name).family.title if name in installed() else name
        short = title.partition(" ")[2] if len(title) > _KIND_LENGTH else title
        return _shorten(short or title, _KIND_LENGTH)

    @property
    def named(self) -> tuple[AttachedStation, ...]:
        """The end hosts that the card names."""
        return self.hosts if len(self.hosts) <= MOST_HOSTS else self.hosts[: MOST_HOSTS - 1]


class NetworkView:
    """A network with the last known state of its devices."""

    def __init__(self, network: Network, known: KnownDevices) -> None:
        self.network = network
        self.known = known
        self._ports: dict[str, dict[str, int]] = {}

    @cached_property
    def drawing(self) -> Drawing:
        """The layout of the drawing: cards in the order of the devices, lines in that of the links."""
        place = {device.name: number for number, device in enumerate(self.network.devices)}
        hosts = Counter(station.attach[0] for station in self.network.stations)
        links = tuple((place[link.a[0]], place[link.b[0]]) for link in self.network.links)
        return draw_network(tuple(hosts[device.name] for device in self.network.devices), links)

    @cached_property
    def cards(self) -> tuple[DeviceCard, ...]:
        """The devices."""
        hosts: defaultdict[str, list[AttachedStation]] = defaultdict(list)
        for station in self.network.stations:
            hosts[station.attach[0]].append(AttachedStation(station, self.end(station.attach)))
        return tuple(
            DeviceCard(
                device,
                tuple(hosts.get(device.name, ())),
                self.known.readings.get(device.name),
                self.known.summaries.get(device.name),
                self._state(device.name),
            )
            for device in self.network.devices
        )

    @cached_property
    def links(self) -> tuple[LinkView, ...]:
        """The links."""
        return tuple(
            LinkView(number, link, (self.end(link.a), self.end(link.b)))
            for number, link in enumerate(self.network.links, 1)
        )

    @cached_property
    def states(self) -> Counter[str]:
        """How many devices are in each state."""
        return Counter(card.state for card in self.cards)

    @property
    def oldest(self) -> datetime | None:
        """The time of the oldest reading."""
        return min((read.at for read in self.known.readings.values()), default=None)

    @property
    def newest(self) -> datetime | None:
        """The time of the newest reading."""
        return max((read.at for read in self.known.readings.values()), default=None)

    def end(self, port: Port) -> LinkEnd:
        """What is known of a port."""
        found = self.known.summaries.get(port[0])
        return LinkEnd(port[0], port[1], (found.ports.get(port[1]) if found else None) or PortSummary())

    def address(self, end: LinkEnd) -> str:
        """The address of a port on its device's page."""
        numbers = self._ports.get(end.device)
        if numbers is None:
            interfaces = self.network.device(end.device).interfaces
            numbers = self._ports[end.device] = {entry.name: n for n, entry in enumerate(interfaces, 1)}
        anchor = f"#port-{numbers[end.port]}" if end.port in numbers else ""
        return f"/networks/{self.network.name}/devices/{end.device}{anchor}"

    def link_address(self, link: LinkView) -> str:
        """The address of a link in the table of links."""
        page = (link.number - 1) // ROWS + 1
        return f"/networks/{self.network.name}?tab=links&page={page}#link-{link.number}"

    def _state(self, device: str) -> str:
        if device not in self.known.readings:
            return "unknown"
        summary = self.known.summaries.get(device)
        if summary is None:
            return "pending" if device in self.known.pending else "unknown"
        return {None: "new", True: "drifted", False: "settled"}[summary.drifted]


def network_view(backend: Backend, network: Network) -> NetworkView:
    """The view of a network, from the last readings of its devices.

    Raises:
        StoreError: the store is away, or a reading is missing or damaged.
    """
    return NetworkView(network, backend.summaries.of(network))


def _shorten(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
