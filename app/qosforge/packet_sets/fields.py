"""The header fields by which packets are told apart, each as a number of bits."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_network


@dataclass(frozen=True)
class Field:
    """A field of a fixed width; ``first`` is the place of its highest bit among those of all fields."""

    name: str
    width: int
    first: int

    @property
    def places(self) -> range:
        """The places of its bits, the highest first."""
        return range(self.first, self.first + self.width)


_WIDTHS = {
    "ipv4": 1,
    "ipv6": 1,
    "tagged": 1,
    "dscp": 6,
    "protocol": 8,
    "cos": 3,
    "vlan": 12,
    "destination_port": 16,
    "source_port": 16,
    "source": 128,
    "destination": 128,
}
"""Fields in the order in which decision diagrams ask for them: short ones that most classes look at first.

An address of IPv4 has the upper 32 bits of its field. ``tagged`` frames carry a CoS.
"""
ADDRESS_BITS = {4: 32, 6: 128}
WITH_PORTS = (6, 17)
"""Protocols with ports: TCP and UDP."""


def _laid_out() -> dict[str, Field]:
    fields, first = {}, 0
    for name, width in _WIDTHS.items():
        fields[name] = Field(name, width, first)
        first += width
    return fields


FIELDS = _laid_out()
BITS = sum(_WIDTHS.values())
EXCLUSIVE = frozenset({"source_mac", "destination_mac", "input_interface", "mpls_experimental", "qos_group"})
"""What is compared with whole values that no set relates to each other, and of which a packet has one."""


@dataclass(frozen=True, order=True)
class Atom:
    """A condition that no set looks into: an application that a device recognises, a MAC address, a way in.

    Of those in `EXCLUSIVE` a packet has one value at most; of others, such as applications, any number may hold.
    """

    field: str
    value: str


def prefix_bits(prefix: str) -> tuple[int, int, int]:
    """The IP version of a prefix, its leading bits as a number, and how many these are."""
    network = ip_network(prefix, strict=False)
    free = network.max_prefixlen - network.prefixlen
    return network.version, int(network.network_address) >> free, network.prefixlen
