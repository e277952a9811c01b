"""Facts that a device reports of itself and its neighbours, and notes on what is not understood."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from qosforge.inventory.models import Circuit, Framing


class Topic(StrEnum):
    """What a note is about."""

    UNREACHABLE = "unreachable"
    UNKNOWN_PLATFORM = "unknown-platform"
    NOT_UNDERSTOOD = "not-understood"
    ASSUMED = "assumed"
    LEFT_OUT = "left-out"
    UNSEEN = "unseen"
    ONE_SIDED = "one-sided"
    TWO_NAMES = "two-names"
    SAME_NAME = "same-name"
    LOOP = "loop"
    BOUND = "bound"
    UNMAPPED = "unmapped"


@dataclass(frozen=True)
class Note:
    """Something that is not as the inventory says: on which device, in which line, and what to do about it."""

    topic: Topic
    device: str
    line: str
    message: str
    hint: str


@dataclass(frozen=True)
class Neighbour:
    """What a device heard on a port. Empty texts were not told; ``mac`` has twelve hexadecimal digits.

    ``station`` is a phone, a server or an access point by its own account: no session is opened to it.
    """

    protocol: str
    port: str
    remote_port: str
    name: str = ""
    addresses: tuple[str, ...] = ()
    platform: str = ""
    mac: str = ""
    station: bool = False

    def __str__(self) -> str:
        who = self.name or ", ".join(self.addresses) or self.mac or "somebody"
        return f"{self.protocol} on {self.port}: {who} {self.remote_port}".rstrip()


@dataclass(frozen=True)
class PortFacts:
    """A port that is up; ``rate`` in bits per second. ``lag`` is its link aggregation, ``member`` the line that a
    bundle runs over, ``routed`` whether it is no switch port."""

    name: str
    rate: int
    framing: Framing = Framing.ETHERNET
    tagged: bool = False
    vlans: tuple[int, ...] = ()
    voice_vlan: int | None = None
    lag: str | None = None
    member: str | None = None
    circuit: Circuit | None = None
    routed: bool = False


@dataclass(frozen=True)
class Channel:
    """A link aggregation (port-channel, MLT) and its ports."""

    name: str
    ports: tuple[str, ...]


@dataclass(frozen=True)
class Vlan:
    """A VLAN, and the name it has on the device."""

    number: int
    name: str = ""


@dataclass(frozen=True)
class DeviceFacts:
    """One device: ``platform``, ``image`` and ``driver`` as an inventory has them.

    ``names`` are the names it may go by to others, ``addresses`` all its own; ``serial`` and ``mac`` are empty
    where it tells none. ``speaks`` are the discovery protocols that its image has and that are on.
    """

    hostname: str
    platform: str
    image: str
    driver: str
    model: str = ""
    serial: str = ""
    mac: str = ""
    names: frozenset[str] = frozenset()
    addresses: frozenset[str] = frozenset()
    features: frozenset[str] = frozenset()
    ports: tuple[PortFacts, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    channels: tuple[Channel, ...] = ()
    vlans: tuple[Vlan, ...] = ()
    speaks: frozenset[str] = frozenset()
    notes: tuple[Note, ...] = ()
