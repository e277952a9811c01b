"""The page of a network: a drawing and tables of the same facts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from qosforge.api.backend import Backend
from qosforge.device_state.drift_watch import DriftWatch, drift_watch
from qosforge.device_state.qos_state import QosStatus
from qosforge.device_state.summaries import KnownDevices, LastReading
from qosforge.device_state.summary import DeviceSummary, PortSummary
from qosforge.inventory.models import Device, Link, Network, Port, Station
from qosforge.platforms.base import installed, platform
from qosforge.units import format_rate
from qosforge.web.views.between import Unsettled, unsettled_devices
from qosforge.web.views.table_pages import ROWS
from qosforge.web.views.topology import MOST_HOSTS, Drawing, draw_network
from qosforge.web.views.unread import still_unread

SYMBOLS = {QosStatus.UNKNOWN: "?", QosStatus.NONE: "–", QosStatus.DRIFTED: "≠"}
"""What stands for a port's state in the drawing; of a policy it is the number of queues."""

_TO_ACT_ON = ("half_way", "changing", "drifted")
_QUIET = ("settled", "new", "pending")
"""States beside which nothing else is to be done on a device."""

SYMBOLS_BETWEEN = {"half_way": "✘", "changing": "●"}
"""What stands there while the device is between two states."""
SYMBOL_UNREACHED = "✘"
"""What stands there, and beside the device's name, where the device could not be read since."""
SYMBOL_UNSAVED = "▲"
"""What stands beside the name of a device that has lines that it did not save."""

_NAME_LENGTH, _KIND_LENGTH, _HOST_LENGTH = 13, 18, 13
"""Characters that a card has room for: of a device's name, its platform, an end host's name."""


@dataclass(frozen=True)
class LinkEnd:
    """One end of a link, or the port of an end host: the device's port and what is known of it.

    ``between`` says whether the device is between two states, as `Unsettled.state` does; else it is empty.
    ``unreached``: whether the device could not be read since, so that the state is the one of before.
    """

    device: str
    port: str
    state: PortSummary
    between: str = ""
    unreached: bool = False

    @property
    def qos(self) -> str:
        """What is known of it at a glance, or that its device is between two states or was not reached."""
        return self.between or ("unreached" if self.unreached else self.state.qos.value)

    @property
    def states(self) -> tuple[str, ...]:
        """What it is found by: also its state of before where its device was not reached."""
        return (self.qos, self.state.qos.value) if self.qos == "unreached" else (self.qos,)

    @property
    def symbol(self) -> str:
        """The symbol of its state in the drawing."""
        if self.between:
            return SYMBOLS_BETWEEN[self.between]
        if self.unreached:
            return SYMBOL_UNREACHED
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
    ``drifted`` or ``settled`` (as the last run left it); ``half_way`` or ``changing`` (see `Unsettled`). That is by
    its last reading: ``unreached`` is one that could not be read since, ``unsaved`` one that had lines that it had
    not saved, and that no run is at.
    """

    device: Device
    hosts: tuple[AttachedStation, ...]
    read: LastReading | None
    summary: DeviceSummary | None
    state: str
    unreached: bool = False
    unsaved: bool = False

    @property
    def worst(self) -> str:
        """What a drawing says of it: that it is between two states, or was not reached, before what was read."""
        if self.unreached and self.state not in SYMBOLS_BETWEEN:
            return "unreached"
        return "unsaved" if self.unsaved and self.state in _QUIET else self.state

    @property
    def symbol(self) -> str:
        """What stands before its name in a drawing, where somebody has to act on it; else empty."""
        if self.is_marked_unsaved:
            return SYMBOL_UNSAVED
        return {"half_way": SYMBOLS_BETWEEN["half_way"], "unreached": SYMBOL_UNREACHED}.get(self.worst, "")

    @property
    def is_marked_unsaved(self) -> bool:
        """Whether a drawing marks it by its lines that are not saved: that it drifted stands at its ports."""
        return self.unsaved and self.worst in ("unsaved", "drifted")

    @property
    def symbol_states(self) -> tuple[str, ...]:
        """What its symbol stands for; with what stands at its ports, as that is not heard with its name."""
        return self.states if self.is_marked_unsaved else (self.worst,)

    @property
    def states(self) -> tuple[str, ...]:
        """What a table says of it: beside that it was not reached or saved only what somebody has to act on."""
        more = [word for word, is_so in (("unreached", self.unreached), ("unsaved", self.unsaved)) if is_so]
        return (self.state, *more) if self.state in _TO_ACT_ON or not more else tuple(more)

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

    def __init__(
        self,
        network: Network,
        known: KnownDevices,
        unsettled: Mapping[str, Unsettled] | None = None,
        unread: Container[str] = (),
    ) -> None:
        self.network = network
        self.known = known
        self.unsettled = unsettled or {}
        self._unread = unread
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
        return tuple(self._card(device, tuple(hosts.get(device.name, ()))) for device in self.network.devices)

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
    def reached(self) -> int:
        """How many devices were read, and could be read when that was last tried."""
        return sum(card.read is not None and not card.unreached for card in self.cards)

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
        between = self.unsettled.get(port[0])
        return LinkEnd(
            port[0],
            port[1],
            (found.ports.get(port[1]) if found else None) or PortSummary(),
            between.state if between else "",
            port[0] in self._unread,
        )

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

    def _card(self, device: Device, hosts: tuple[AttachedStation, ...]) -> DeviceCard:
        name, read = device.name, self.known.readings.get(device.name)
        return DeviceCard(
            device,
            hosts,
            read,
            self.known.summaries.get(name),
            self._state(name),
            name in self._unread,
            read is not None and read.not_saved and name not in self.unsettled,
        )

    def _state(self, device: str) -> str:
        if device in self.unsettled:
            return self.unsettled[device].state
        if device not in self.known.readings:
            return "unknown"
        summary = self.known.summaries.get(device)
        if summary is None:
            return "pending" if device in self.known.pending else "unknown"
        return {None: "new", True: "drifted", False: "settled"}[summary.drifted]


def network_view(backend: Backend, network: Network, watch: DriftWatch | None = None) -> NetworkView:
    """The view of a network, from the last readings of its devices and the last look at all (``watch``, if known).

    Raises:
        StoreError: the store is away, or a reading is missing or damaged.
    """
    unread = still_unread(backend.database, watch or drift_watch(backend.database, network.name))
    return NetworkView(network, backend.summaries.of(network), unsettled_devices(backend).get(network.name), unread)


def _shorten(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
