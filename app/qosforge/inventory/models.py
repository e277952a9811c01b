"""The network as the inventory describes it: devices, interfaces, links, stations and offered traffic."""

from __future__ import annotations

import ipaddress
import re
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from qosforge.inventory.changes import ChangeRules
from qosforge.inventory.probes import Probes
from qosforge.inventory.reach import Reach
from qosforge.units import Rate, Seconds, format_rate, shortened


class DeviceRole(StrEnum):
    """Place of a device or interface in the network."""

    EDGE = "edge"
    MIDDLE = "middle"
    ACCESS = "access"
    CORE = "core"


class Framing(StrEnum):
    """Layer-2 framing of a link."""

    ETHERNET = "ethernet"
    HDLC = "hdlc"
    PPP = "ppp"
    MLPPP = "mlppp"
    FRAME_RELAY = "frame-relay"
    ATM = "atm"


class InventoryModel(BaseModel):
    """Base of the inventory's models."""

    model_config = ConfigDict(frozen=True, extra="forbid")


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
_PORT_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9 /.:_-]{0,61}[A-Za-z0-9])?")


def is_name(value: str) -> bool:
    """Whether a text may name a device, a station or a network."""
    return _NAME.fullmatch(value) is not None


def _name(value: str) -> str:
    if not is_name(value):
        raise ValueError(f"{shortened(value)} is not a name: letters, digits, '.', '-' and '_' only, at most 63")
    return value


def _port_name(value: str) -> str:
    # Interface names reach device templates: one newline would be a command on a router.
    if _PORT_NAME.fullmatch(value) is None:
        raise ValueError(f"{shortened(value)} is not an interface: write it as the device does, like Serial0/0")
    return value


def _ip_address(value: str) -> str:
    try:
        return str(ipaddress.ip_address(value))
    except ValueError:
        raise ValueError(f"{shortened(value)} is not an IP address: write one like 192.0.2.10") from None


Name = Annotated[str, AfterValidator(_name)]
PortName = Annotated[str, AfterValidator(_port_name)]
IpAddress = Annotated[str, AfterValidator(_ip_address)]
PortNumber = Annotated[int, Field(ge=0, le=65535, strict=True)]
Count = Annotated[int, Field(ge=1, strict=True)]


Vlan = Annotated[int, Field(ge=1, le=4094, strict=True)]


class Circuit(InventoryModel):
    """A virtual circuit: VPI and VCI of an ATM PVC, or the DLCI of a Frame Relay one."""

    vpi: Annotated[int, Field(ge=0, le=255, strict=True)] | None = None
    vci: Annotated[int, Field(ge=1, le=65535, strict=True)] | None = None
    dlci: Annotated[int, Field(ge=16, le=1007, strict=True)] | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        atm = self.vpi is not None and self.vci is not None
        if atm == (self.dlci is not None) or (self.vpi is None) != (self.vci is None):
            raise ValueError("a circuit is an ATM PVC or a Frame Relay one: give vpi and vci, or dlci")
        return self


class Interface(InventoryModel):
    """One interface of a device; rates are in bits per second.

    ``vlans`` are those it carries, ``voice_vlan`` that of the phones on it; ``lag`` is the link aggregation it is
    a member of; ``circuit`` the virtual circuit that carries it (ATM and Frame Relay).
    """

    name: PortName
    rate: Rate
    contracted: Rate | None = None
    role: DeviceRole
    tags: frozenset[str] = frozenset()
    encapsulation: Framing = Framing.ETHERNET
    tagged: bool = False
    member: PortName | None = None
    vlans: tuple[Vlan, ...] = ()
    voice_vlan: Vlan | None = None
    lag: PortName | None = None
    circuit: Circuit | None = None

    @model_validator(mode="after")
    def _contract(self) -> Self:
        if self.contracted is not None and self.contracted > self.rate:
            rates = f"({format_rate(self.contracted)}) is above that of the line ({format_rate(self.rate)})"
            raise ValueError(f"the contracted rate {rates}: give at most what the line carries")
        return self

    @model_validator(mode="after")
    def _carried(self) -> Self:
        by = {Framing.ATM: "vci", Framing.FRAME_RELAY: "dlci"}.get(self.encapsulation)
        if (self.circuit is not None) != (by is not None):
            raise ValueError("a circuit goes with encapsulation atm or frame-relay: give both or none")
        if by and getattr(self.circuit, by) is None:
            raise ValueError(f"encapsulation {self.encapsulation.value} wants a circuit with a {by}: give that one")
        return self

    @property
    def usable(self) -> int:
        """The rate that shares are taken of: the contracted one where it is lower."""
        return min(self.rate, self.contracted or self.rate)


class Device(InventoryModel):
    """A managed device. ``site`` and ``tags`` are words by which a rollout chooses its waves."""

    name: Name
    platform: Annotated[str, Field(min_length=1)]
    image: str
    role: DeviceRole
    features: frozenset[str] = frozenset()
    driver: str
    site: Annotated[str, Field(max_length=63)] = ""
    tags: frozenset[str] = frozenset()
    interfaces: tuple[Interface, ...]
    startup: str | None = None
    reach: Reach = Reach()

    def interface(self, name: str) -> Interface:
        """The interface of this name.

        Raises:
            KeyError: there is none.
        """
        for entry in self.interfaces:
            if entry.name == name:
                return entry
        raise KeyError(name)


Port = tuple[str, str]


class Link(InventoryModel):
    """A full-duplex link between two ports; propagation delay in seconds."""

    a: Port
    b: Port
    rate: Rate
    delay: Seconds = 0.0
    framing: Framing = Framing.ETHERNET
    tagged: bool = False


class Station(InventoryModel):
    """An end host, attached to a device's interface."""

    name: Name
    address: IpAddress
    attach: Port
    rate: Rate


class TrafficSource(InventoryModel):
    """How a flow offers packets; sizes are IP bytes, ``frame_*`` belong to video.

    A trace sends what ``file`` recorded, a path from the network's folder; ``flow`` picks one of its flows.
    """

    kind: Literal["cbr", "poisson", "video", "tcp", "trace"]
    rate: Rate | None = None
    ip_bytes: Annotated[int, Field(ge=20, le=65535, strict=True)] = 1500
    frames_per_second: Count | None = None
    frame_bytes: Count | None = None
    frame_bytes_sd: Annotated[int, Field(ge=0, strict=True)] | None = None
    file: str | None = None
    flow: str | None = None


class TrafficFlow(InventoryModel):
    """One flow (or ``count`` like it) from station to station."""

    name: Name
    from_: str = Field(alias="from")
    to: str
    application: str | None = None
    protocol: Literal["tcp", "udp"] = "udp"
    dst_port: PortNumber
    src_port: PortNumber = 20000
    dscp: Annotated[int, Field(ge=0, le=63, strict=True)] = 0
    cos: Annotated[int, Field(ge=0, le=7, strict=True)] = 0
    count: Annotated[int, Field(ge=1, le=256)] = 1
    source: TrafficSource
    start: Seconds = 0.0

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    @property
    def is_rtp(self) -> bool:
        """Whether its packets have RTP headers, which a link can compress."""
        return self.application is not None and self.application.startswith("rtp-")


def _tuples(value: object) -> object:
    return tuple(tuple(v) for v in value) if isinstance(value, list) else value


class TrafficScenario(InventoryModel):
    """Traffic offered together; ``between`` names the station pairs whose classes it verifies."""

    name: Name
    title: str
    between: Annotated[tuple[tuple[str, str], ...], BeforeValidator(_tuples)]
    flows: tuple[TrafficFlow, ...]


@dataclass(frozen=True)
class _Lines:
    """The links of a network by the ports at their ends, and by the devices that they leave, in their order."""

    links: tuple[Link, ...]
    at: Mapping[Port, tuple[Link, Port]]
    leaving: Mapping[str, tuple[tuple[Port, Port], ...]]

    @classmethod
    def of(cls, links: tuple[Link, ...]) -> Self:
        """The lookup of these links; a port with several, which no network has, is at its first."""
        at: dict[Port, tuple[Link, Port]] = {}
        leaving: dict[str, list[tuple[Port, Port]]] = {}
        for link in links:
            for near, far in ((link.a, link.b), (link.b, link.a)):
                at.setdefault(near, (link, far))
                leaving.setdefault(near[0], []).append((near, far))
        return cls(links, at, {device: tuple(ends) for device, ends in leaving.items()})


@dataclass(frozen=True)
class _Names:
    """The devices of a network by their names."""

    devices: tuple[Device, ...]
    by_name: Mapping[str, Device]

    @classmethod
    def of(cls, devices: tuple[Device, ...]) -> Self:
        """The lookup of these devices; of several of one name, which no network has, the first."""
        return cls(devices, {entry.name: entry for entry in reversed(devices)})


_LINES = "_lines_found"
_DEVICES = "_devices_found"
"""Where a network keeps the lookups of its links and devices: beside its fields, and not part of what it is."""


class Network(InventoryModel):
    """A whole network."""

    name: str
    devices: tuple[Device, ...]
    links: tuple[Link, ...]
    stations: tuple[Station, ...]
    traffic: tuple[TrafficScenario, ...] = ()
    changes: ChangeRules = ChangeRules()
    probes: Probes = Probes()

    def device(self, name: str) -> Device:
        """The device of this name.

        Raises:
            KeyError: there is none.
        """
        found = self.__dict__.get(_DEVICES)
        if not isinstance(found, _Names) or found.devices is not self.devices:
            found = self.__dict__[_DEVICES] = _Names.of(self.devices)
        return found.by_name[name]

    def station(self, name: str) -> Station:
        """The station of this name.

        Raises:
            KeyError: there is none.
        """
        for entry in self.stations:
            if entry.name == name:
                return entry
        raise KeyError(name)

    def neighbour(self, port: Port) -> tuple[Link, Port] | None:
        """The link at a port and the port at its other end."""
        return self._lines().at.get(port)

    def path(self, source: str, target: str) -> tuple[Port, ...]:
        """Egress ports of the devices from one station to another, by fewest hops.

        Raises:
            KeyError: a station is unknown.
            ValueError: there is no path.
        """
        start, goal = self.station(source), self.station(target)
        leaving = self._lines().leaving
        came: dict[str, tuple[str, str]] = {}
        queue = deque([start.attach[0]])
        seen = {start.attach[0]}
        while queue:
            for near, far in leaving.get(queue.popleft(), ()):
                if far[0] not in seen:
                    seen.add(far[0])
                    came[far[0]] = near
                    queue.append(far[0])
        if goal.attach[0] not in seen:
            raise ValueError(f"no path from {source} to {target}")
        hops: list[Port] = [goal.attach]
        at = goal.attach[0]
        while at != start.attach[0]:
            hops.append(came[at])
            at = came[at][0]
        return tuple(reversed(hops))

    def part(self, devices: Collection[str]) -> Self:
        """The network with these devices alone, the links between them, and the stations at them.

        A path that leads through none but these devices is the same in both.
        """
        names = frozenset(devices)
        return self.model_copy(
            update={
                "devices": tuple(d for d in self.devices if d.name in names),
                "links": tuple(link for link in self.links if link.a[0] in names and link.b[0] in names),
                "stations": tuple(s for s in self.stations if s.attach[0] in names),
            }
        )

    def _lines(self) -> _Lines:
        """The lookup of the links; a copy with other links makes its own."""
        found = self.__dict__.get(_LINES)
        if not isinstance(found, _Lines) or found.links is not self.links:
            found = self.__dict__[_LINES] = _Lines.of(self.links)
        return found

    def __getstate__(self) -> dict[Any, Any]:
        state = super().__getstate__()
        return {**state, "__dict__": {k: v for k, v in state["__dict__"].items() if k not in (_LINES, _DEVICES)}}
