"""Divide the traffic that entered a port among the classes of its policy, by the device's counters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qosforge.plan.model import Plan, Rule, Term
from qosforge.platforms.base import QueueCount, platform
from qosforge.platforms.port_counters import FRAME_OVERHEAD_BYTES

_DSCP_OF_PRECEDENCE = 8
"""A precedence is the first three bits of a DSCP (RFC 2474, section 4.2.2)."""
_TCP = 6
_LEAST_IP_BYTES = 20


@dataclass(frozen=True)
class PacketMark:
    """By what a device would know a packet of a class: the first alternative of its classifier.

    ``known`` is false where that alternative asks for more than marks, ports and protocol, or for nothing.
    """

    dscp: int = 0
    protocol: str = "udp"
    port: int | None = None
    known: bool = True


@dataclass(frozen=True)
class ClassPart:
    """One class of a port's traffic: its part of the bytes (0 to 1), and the mean size of its IP packets in bytes,
    ``None`` where the device counts packets of the class alone."""

    name: str
    part: float
    ip_bytes: int | None
    mark: PacketMark


def class_parts(
    plan: Plan, port: str, first: Sequence[QueueCount], second: Sequence[QueueCount]
) -> tuple[ClassPart, ...]:
    """The classes of what came in at a port, by two readings; none where the device does not count them one by one.

    Counters that went backwards divide nothing.
    """
    interface = plan.interface(port)
    if interface is None or "input" not in platform(plan.platform, plan.device).counts:
        return ()
    rules = {rule.name: rule for rule in interface.ingress.rules}
    before = {_key(count): count for count in first}
    grown: dict[str, tuple[int, int | None]] = {}
    for count in second:
        if count.interface != port or count.direction != "input" or count.overlapping:
            continue
        earlier = before.get(_key(count))
        packets = count.packets - (earlier.packets if earlier else 0)
        size = None
        if count.size_bytes is not None:
            size = count.size_bytes - ((earlier.size_bytes or 0) if earlier else 0)
        if packets < 0 or (size is not None and size < 0):
            return ()
        if packets:
            grown[count.queue] = packets, size
    sized = all(size for _, size in grown.values())
    weights = {name: (size if sized and size else packets) for name, (packets, size) in grown.items()}
    total = sum(weights.values())
    return tuple(
        ClassPart(
            name,
            weights[name] / total,
            max(round(size / packets) - FRAME_OVERHEAD_BYTES, _LEAST_IP_BYTES) if sized and size else None,
            _mark(rules.get(name)),
        )
        for name, (packets, size) in grown.items()
    )


def _key(count: QueueCount) -> tuple[str, str, str]:
    return count.interface, count.direction, count.queue


def _mark(rule: Rule | None) -> PacketMark:
    """Of what no rule takes, the rest: no mark at all."""
    if rule is None:
        return PacketMark()
    term = next(iter(rule.any_of), None)
    if term is None:
        return PacketMark(known=False)
    dscp = next(iter(term.dscp), None)
    if dscp is None and term.precedence:
        dscp = term.precedence[0] * _DSCP_OF_PRECEDENCE
    port = _low(term)
    told = dscp is not None or port is not None
    return PacketMark(dscp or 0, "tcp" if term.protocol == _TCP else "udp", port, told and not _asks_more(term))


def _low(term: Term) -> int | None:
    ports = next(iter(term.destination_ports), None)
    return None if ports is None else ports.first


def _asks_more(term: Term) -> bool:
    return any(
        (
            term.cos,
            term.application,
            term.source,
            term.destination,
            term.source_ports,
            term.source_mac,
            term.destination_mac,
            term.input_interface,
            term.vlan,
            term.mpls_experimental,
            term.qos_group,
        )
    )
