"""What an element or an access-list entry of a 5510 looks at: header fields and the bits of them.

The filter hardware compares under a mask, so ranges of ports and VLANs are those that one mask
expresses, and filters can share a mask only when they look at the same bits.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True)
class Span:
    """A range that one mask can express: its size is a power of two, its start a multiple of it."""

    low: int
    high: int

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    def maskable(self) -> bool:
        return self.size > 0 and self.size & (self.size - 1) == 0 and self.low % self.size == 0

    def __contains__(self, value: int) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True)
class IpFields:
    """Conditions on the IP header and ports; what is None is not looked at.

    ``protocol`` belongs to IPv4, ``flow`` (label) and ``next_header`` to IPv6.
    """

    family: str = "ipv4"
    src: Network | None = None
    dst: Network | None = None
    dscp: int | None = None
    protocol: int | None = None
    src_ports: Span | None = None
    dst_ports: Span | None = None
    flow: int | None = None
    next_header: int | None = None

    def mask(self) -> tuple[object, ...]:
        """Which fields and bits are looked at: members of one block must agree in this."""
        return (
            "ip",
            self.family,
            self.src and self.src.prefixlen,
            self.dst and self.dst.prefixlen,
            self.dscp is not None,
            self.protocol is not None,
            self.src_ports and self.src_ports.size,
            self.dst_ports and self.dst_ports.size,
            self.flow is not None,
            self.next_header is not None,
        )

    def text(self) -> str:
        """The options of a configuration line, each with a blank in front."""
        text = f" addr-type {self.family}"
        for word, value in (
            ("src-ip", self.src), ("dst-ip", self.dst), ("ds-field", self.dscp), ("protocol", self.protocol),
        ):  # fmt: skip
            if value is not None:
                text += f" {word} {value}"
        for side, span in (("src", self.src_ports), ("dst", self.dst_ports)):
            if span is not None:
                text += f" {side}-port-min {span.low} {side}-port-max {span.high}"
        text += "" if self.flow is None else f" flow-id {self.flow}"
        return text if self.next_header is None else f"{text} next-header {self.next_header}"


@dataclass(frozen=True)
class L2Fields:
    """Conditions on the Ethernet header: addresses are text (mac, mask); None is not looked at."""

    src_mac: tuple[str, str] | None = None
    dst_mac: tuple[str, str] | None = None
    vlan: Span | None = None
    vlan_tag: str = ""
    ethertype: int | None = None
    priority: int | None = None

    def mask(self) -> tuple[object, ...]:
        """See :meth:`IpFields.mask`."""
        return (
            "l2",
            self.src_mac and self.src_mac[1],
            self.dst_mac and self.dst_mac[1],
            self.vlan and self.vlan.size,
            self.vlan_tag,
            self.ethertype is not None,
            self.priority is not None,
        )

    def text(self) -> str:
        """See :meth:`IpFields.text`."""
        text = ""
        for side, mac in (("src", self.src_mac), ("dst", self.dst_mac)):
            if mac is not None:
                text += f" {side}-mac {mac[0]} {side}-mac-mask {mac[1]}"
        if self.vlan is not None:
            text += f" vlan-min {self.vlan.low} vlan-max {self.vlan.high}"
        if self.vlan_tag:
            text += f" vlan-tag {self.vlan_tag}"
        if self.ethertype is not None:
            text += f" ethertype 0x{self.ethertype:X}"
        return text if self.priority is None else f"{text} priority {self.priority}"
