"""Access-lists of FTOS: rules with sequence numbers and ``order``, and what they match.

FTOS writes addresses with a prefix length or a (not inverted) mask; the listing shows prefix
lengths.  Rules get sequence numbers in steps of five when the operator gives none.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass, field

from qoslab.packets import Packets

PROTOCOLS = {"icmp": 1, "tcp": 6, "udp": 17}
"""Protocol keywords; ``ip`` means any protocol, every other one is written by number."""

SEQUENCE_STEP = 5
MAX_RULE_ENTRIES = 16
DEFAULT_ORDER = 254
"""``order`` of a rule that names none; a lower one is programmed first."""


@dataclass(frozen=True)
class Ports:
    """A port condition: ``eq``, ``neq``, ``gt``, ``lt`` or ``range``."""

    operator: str
    low: int
    high: int

    def matches(self, port: int) -> bool:
        if self.operator == "neq":
            return port != self.low
        if self.operator == "gt":
            return port > self.low
        if self.operator == "lt":
            return port < self.low
        return self.low <= port <= self.high

    def prefixes(self) -> int:
        """How many value/mask pairs express the condition."""
        last = 65_535
        spans = {
            "neq": [(0, self.low - 1), (self.low + 1, last)],
            "gt": [(self.low + 1, last)],
            "lt": [(0, self.low - 1)],
        }.get(self.operator, [(self.low, self.high)])
        return sum(_prefixes(low, high) for low, high in spans)

    def text(self) -> str:
        return f" {self.operator} {self.low}" + (f" {self.high}" if self.operator == "range" else "")


def _prefixes(low: int, high: int) -> int:
    """Aligned blocks of a power of two that make up low..high."""
    count = 0
    while low <= high:
        size = low & -low or 1 << 16
        while low + size - 1 > high:
            size >>= 1
        low += size
        count += 1
    return count


@dataclass(frozen=True)
class Rule:
    """One permit or deny line; ``protocol`` None is any, an address None is ``any``."""

    permit: bool
    protocol: int | None
    src: ipaddress.IPv4Network | None
    dst: ipaddress.IPv4Network | None
    src_ports: Ports | None = None
    dst_ports: Ports | None = None
    dscp: int | None = None
    order: int = DEFAULT_ORDER
    tail: str = ""

    def entries(self) -> int:
        """CAM entries that the rule takes: one per pair of port prefixes, 16 at most (E600i p. 1153)."""
        sides = [ports.prefixes() if ports else 1 for ports in (self.src_ports, self.dst_ports)]
        return min(sides[0] * sides[1], MAX_RULE_ENTRIES)

    def matches(self, packets: Packets) -> bool:
        if self.protocol is not None and packets.protocol != self.protocol:
            return False
        for network, address in ((self.src, packets.src), (self.dst, packets.dst)):
            if network is not None and ipaddress.IPv4Address(address) not in network:
                return False
        for ports, port in ((self.src_ports, packets.src_port), (self.dst_ports, packets.dst_port)):
            if ports is not None and not ports.matches(port):
                return False
        return self.dscp is None or packets.dscp == self.dscp

    def text(self, extended: bool) -> str:
        """The line without its sequence number; a standard list has neither protocol nor ports."""
        verb = "permit" if self.permit else "deny"
        order = "" if self.order == DEFAULT_ORDER else f" order {self.order}"
        if not extended:
            return f"{verb} {address_text(self.src)}{self.tail}{order}"
        names = {number: name for name, number in PROTOCOLS.items()}
        protocol = "ip" if self.protocol is None else names.get(self.protocol, str(self.protocol))
        source = address_text(self.src) + (self.src_ports.text() if self.src_ports else "")
        target = address_text(self.dst) + (self.dst_ports.text() if self.dst_ports else "")
        dscp = "" if self.dscp is None else f" dscp {self.dscp}"
        return f"{verb} {protocol} {source} {target}{dscp}{self.tail}{order}"


def address_text(network: ipaddress.IPv4Network | None) -> str:
    """``any``, ``host A`` or ``A/len``."""
    if network is None:
        return "any"
    return f"host {network.network_address}" if network.prefixlen == network.max_prefixlen else str(network)


@dataclass(frozen=True)
class MacRule:
    """One permit or deny line of a MAC list: (address, mask) or None for ``any``.

    A mask has ones where the address does not matter.
    """

    permit: bool
    src: tuple[str, str] | None
    dst: tuple[str, str] | None
    order: int = DEFAULT_ORDER
    tail: str = ""

    def entries(self) -> int:
        """CAM entries that the rule takes."""
        return 1

    def matches(self, packets: Packets) -> bool:
        """Offered packets carry no addresses, so only conditions that look at none are met."""
        del packets
        return all(mac is None or set(mac[1]) <= {"f", ":"} for mac in (self.src, self.dst))

    def text(self, extended: bool) -> str:
        """The line without its sequence number; MAC lists are always extended."""
        assert extended
        order = "" if self.order == DEFAULT_ORDER else f" order {self.order}"
        ends = " ".join(_mac_text(mac) for mac in (self.src, self.dst))
        return f"{'permit' if self.permit else 'deny'} {ends}{self.tail}{order}"


def _mac_text(mac: tuple[str, str] | None) -> str:
    if mac is None:
        return "any"
    return f"host {mac[0]}" if set(mac[1]) <= {"0", ":"} else f"{mac[0]} {mac[1]}"


AnyRule = Rule | MacRule


@dataclass
class AccessList:
    """A named list; ``kind`` is ``extended``, ``standard`` or ``mac``; rules by sequence number."""

    name: str
    kind: str
    rules: dict[int, AnyRule] = field(default_factory=dict)
    remarks: dict[str, str] = field(default_factory=dict)

    def next_number(self) -> int:
        """Sequence number of a rule that is typed without one: a step after the last."""
        return max(self.rules, default=0) + SEQUENCE_STEP

    def lines(self) -> Iterator[str]:
        yield (
            f"mac access-list extended {self.name}"
            if self.kind == "mac"
            else f"ip access-list {self.kind} {self.name}"
        )
        yield from (f" {text}" for text in self.remarks.values())
        extended = self.kind != "standard"
        yield from (f" seq {seq} {self.rules[seq].text(extended)}" for seq in sorted(self.rules))

    def first_match(self, packets: Packets) -> tuple[int, int, AnyRule] | None:
        """(order, sequence, rule) of the rule the hardware would hit first, None when none does."""
        hits = [(rule.order, seq) for seq, rule in self.rules.items() if rule.matches(packets)]
        if not hits:
            return None
        order, sequence = min(hits)
        return order, sequence, self.rules[sequence]
