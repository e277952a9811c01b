"""The network that a discovery found."""

from __future__ import annotations

from dataclasses import dataclass

from qosforge.discovery.facts import Channel, DeviceFacts, Note, PortFacts, Vlan
from qosforge.discovery.guesses import RoleGuess, TagGuess
from qosforge.inventory.models import Device, DeviceRole, Framing, Interface, Link, Network
from qosforge.inventory.reach import Reach


def interface_of(port: PortFacts, role: DeviceRole, tag: str) -> Interface:
    """A port as the inventory has it.

    Raises:
        ValidationError: the inventory holds no such port.
    """
    return Interface(
        name=port.name,
        rate=port.rate,
        role=role,
        tags=frozenset({tag} if tag else ()),
        encapsulation=port.framing,
        tagged=port.tagged,
        member=port.member,
        vlans=port.vlans,
        voice_vlan=port.voice_vlan,
        lag=port.lag,
        circuit=port.circuit,
    )


End = tuple[str, str]
"""A device and its port."""


@dataclass(frozen=True)
class FoundInterface:
    """A port with what it is taken to be for."""

    port: PortFacts
    tag: TagGuess


@dataclass(frozen=True)
class FoundDevice:
    """A device under the name that the inventory gives it; ``address`` is where its session was."""

    name: str
    address: str
    facts: DeviceFacts
    role: RoleGuess
    interfaces: tuple[FoundInterface, ...]

    @property
    def channels(self) -> tuple[Channel, ...]:
        """Its link aggregations."""
        return self.facts.channels

    @property
    def vlans(self) -> tuple[Vlan, ...]:
        """Its VLANs."""
        return self.facts.vlans


@dataclass(frozen=True)
class FoundLink:
    """A link of two devices, each under its inventory's name; ``rate`` in bits per second.

    ``seen_by`` are the devices that announced or heard the other end.
    """

    a: End
    b: End
    rate: int
    framing: Framing
    tagged: bool
    seen_by: frozenset[str]


@dataclass(frozen=True)
class Discovery:
    """What was found, and every note on what is not understood."""

    devices: tuple[FoundDevice, ...]
    links: tuple[FoundLink, ...]
    notes: tuple[Note, ...]

    def network(self, name: str) -> Network:
        """The inventory's network: without stations, contracts, delays and traffic, which no device tells."""
        return Network(
            name=name,
            devices=tuple(_device(device) for device in self.devices),
            links=tuple(
                Link(a=link.a, b=link.b, rate=link.rate, framing=link.framing, tagged=link.tagged)
                for link in self.links
            ),
            stations=(),
        )


_SSH = 22


def _device(discovered: FoundDevice) -> Device:
    host, separator, port = discovered.address.rpartition(":")
    numbered = bool(separator) and port.isdigit() and ":" not in host
    # Not checked here: who reads the inventory says what is wrong with an address, and where it stands.
    reach = Reach.model_construct(
        hostname=host if numbered else discovered.address,
        port=int(port) if numbered and int(port) != _SSH else None,
    )
    return Device(
        name=discovered.name,
        platform=discovered.facts.platform,
        image=discovered.facts.image,
        role=discovered.role.role,
        features=discovered.facts.features,
        driver=discovered.facts.driver,
        interfaces=tuple(
            interface_of(one.port, discovered.role.role, one.tag.tag) for one in discovered.interfaces
        ),
        reach=reach,
    )
