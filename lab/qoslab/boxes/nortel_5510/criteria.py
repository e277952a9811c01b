"""The options of ``qos ip-element``, ``l2-element`` and of access-lists: their patterns and meaning."""

from __future__ import annotations

import ipaddress

from qoslab.boxes.nortel_5510.arguments import incomplete, number, refused
from qoslab.boxes.nortel_5510.fields import IpFields, L2Fields, Network, Span
from qoslab.grammar import Match

_PORT = "<0-65535>"

IP_OPTIONS = (
    "addr-type {ipv4|ipv6}:family|src-ip PREFIX:src|dst-ip PREFIX:dst"
    "|ds-field <0-63>:dscp|protocol <0-255>:protocol"
    f"|src-port-min {_PORT}:src_low|src-port-max {_PORT}:src_high"
    f"|dst-port-min {_PORT}:dst_low|dst-port-max {_PORT}:dst_high"
    "|flow-id <0-1048575>:flow|next-header <0-255>:next_header"
)
"""Alternatives of one option; a flow label has 20 bits (RFC 8200)."""

L2_OPTIONS = (
    "src-mac ETHER:src_mac|src-mac-mask ETHER:src_mask|dst-mac ETHER:dst_mac|dst-mac-mask ETHER:dst_mask"
    "|vlan-min <1-4094>:vlan_low|vlan-max <1-4094>:vlan_high|vlan-tag {tagged|untagged|ignore}:tag"
    "|ethertype TYPE:type|priority {<0-7>|all}:l2_priority"
)

_ONLY = {"ipv4": ("protocol",), "ipv6": ("flow", "next_header")}
"""Options that one address type alone has."""

_WORDS = {"protocol": "protocol", "flow": "flow-id", "next_header": "next-header"}


def _span(match: Match, low: str, high: str, what: str) -> Span | None:
    if low not in match and high not in match:
        return None
    if low not in match or high not in match:
        raise incomplete(match)
    span = Span(match.number(low), match.number(high))
    if not span.maskable():
        raise refused(f"Invalid {what} range: it cannot be expressed by one mask")
    return span


def _network(match: Match, name: str, family: str) -> Network | None:
    if name not in match:
        return None
    network = ipaddress.ip_network(match[name])
    if f"ipv{network.version}" != family:
        raise refused(f"Address {network} does not fit address type {family}")
    return network


def ip_fields(match: Match) -> IpFields:
    """The IP conditions of a line. Raises Refused for what no mask expresses or no such packet has."""
    family = match.get("family", "ipv4")
    for name in _ONLY["ipv6" if family == "ipv4" else "ipv4"]:
        if name in match:
            raise refused(f"{_WORDS[name]} does not apply to address type {family}")
    return IpFields(
        family,
        src=_network(match, "src", family),
        dst=_network(match, "dst", family),
        dscp=number(match, "dscp"),
        protocol=number(match, "protocol"),
        src_ports=_span(match, "src_low", "src_high", "port"),
        dst_ports=_span(match, "dst_low", "dst_high", "port"),
        flow=number(match, "flow"),
        next_header=number(match, "next_header"),
    )


def _address(match: Match, side: str) -> tuple[str, str] | None:
    if f"{side}_mac" not in match:
        if f"{side}_mask" in match:
            raise incomplete(match)
        return None
    return match[f"{side}_mac"], match.get(f"{side}_mask", "ff:ff:ff:ff:ff:ff")


def l2_fields(match: Match) -> L2Fields:
    """The Ethernet conditions of a line. Raises Refused for a range that no mask expresses."""
    return L2Fields(
        src_mac=_address(match, "src"),
        dst_mac=_address(match, "dst"),
        vlan=_span(match, "vlan_low", "vlan_high", "VLAN"),
        vlan_tag="" if match.get("tag") == "ignore" else match.get("tag"),
        ethertype=int(match["type"], 16) if "type" in match else None,
        priority=None if match.get("l2_priority", "all") == "all" else match.number("l2_priority"),
    )
