"""A packet that shows what a proof found, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from qosforge.dscp import dscp_label
from qosforge.packet_sets.fields import ADDRESS_BITS, FIELDS, WITH_PORTS, Atom

_PROTOCOLS = {1: "ICMP", 2: "IGMP", 6: "TCP", 17: "UDP", 47: "GRE", 50: "ESP", 58: "ICMPv6", 89: "OSPF"}
_ATOMS = {
    "application": "recognised as {}",
    "source_mac": "from the MAC address {}",
    "destination_mac": "to the MAC address {}",
    "input_interface": "received on {}",
}


@dataclass(frozen=True)
class Witness:
    """One packet: the value of every field, the atoms that hold of it, and the fields that ``matter``.

    A field matters where the set that the packet is of would be another one without it.
    """

    values: Mapping[str, int]
    atoms: tuple[Atom, ...] = ()
    matters: frozenset[str] = frozenset()

    @property
    def version(self) -> int | None:
        """The IP version; None for what is not IP."""
        return 4 if self.values["ipv4"] else 6 if self.values["ipv6"] else None

    def address(self, field: str) -> IPv4Address | IPv6Address | None:
        """The address in ``source`` or ``destination``; None for what is not IP."""
        if self.version is None:
            return None
        value = self.values[field] >> FIELDS[field].width - ADDRESS_BITS[self.version]
        return IPv4Address(value) if self.version == 4 else IPv6Address(value)

    def __str__(self) -> str:
        return " ".join(self._words())

    def _words(self) -> Iterator[str]:
        version = self.version
        if version is None:
            yield "a frame without IP"
        else:
            told = self.matters & {"ipv4", "ipv6", "source", "destination"}
            yield f"an IPv{version} packet" if told else "a packet"
            if "protocol" in self.matters:
                number = self.values["protocol"]
                yield f"of {_PROTOCOLS.get(number, f'protocol {number}')}"
            yield from self._end("from", "source", "source_port")
            yield from self._end("to", "destination", "destination_port")
            if "dscp" in self.matters:
                yield f"with DSCP {dscp_label(self.values['dscp'])}"
        if {"cos", "tagged"} & self.matters:
            yield f"with CoS {self.values['cos']}" if self.values["tagged"] else "without a tag"
        if "vlan" in self.matters:
            yield f"in VLAN {self.values['vlan']}"
        for atom in self.atoms:
            yield _ATOMS.get(atom.field, f"with {atom.field.replace('_', ' ')} {{}}").format(atom.value)

    def _end(self, way: str, field: str, port: str) -> Iterator[str]:
        ported = port in self.matters and self.values["protocol"] in WITH_PORTS
        if field in self.matters:
            yield f"{way} {self.address(field)}"
            if ported:
                yield f"port {self.values[port]}"
        elif ported:
            yield f"{way} port {self.values[port]}"
