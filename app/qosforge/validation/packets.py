"""Follow one packet through a plan: its remarking on input and its queue on output."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import NamedTuple

from qosforge.plan.model import Egress, Ingress, PortRange, Rule, Scheduler, System, Term, Trust


class Packet(NamedTuple):
    """The fields that classifiers look at, labels aside; ``group`` is the queue chosen on input, where one was."""

    source: str
    destination: str
    dscp: int = 0
    cos: int = 0
    application: str | None = None
    protocol: int | None = None
    port: int | None = None
    source_port: int | None = None
    group: int | None = None
    qos_group: int = 0


def enter(system: System, ingress: Ingress, packet: Packet, *, tagged: bool) -> Packet:
    """A packet after the input of an interface: the first rule that matches, else what trust makes of it.

    A packet without a tag carries no CoS: it counts with the port's. Policers see it within their rates, and a port
    that trusts a phone has one.
    """
    packet = packet._replace(cos=packet.cos if tagged else ingress.port_cos, group=None, qos_group=0)
    for policer in ingress.policers:
        if not policer.any_of or any(matches(t, packet) for t in policer.any_of):
            conform = policer.police.conform
            packet = _marked(system, packet, conform.set_dscp, conform.set_precedence)
            if not conform.proceed:
                return packet
    for rule in ingress.rules:
        if takes(rule, packet):
            return by_rule(system, rule, packet)
    match ingress.trust:
        case Trust.NONE:
            dscp = system.untrusted_dscp(ingress.port_cos)
            return packet._replace(dscp=packet.dscp if dscp is None else dscp, cos=ingress.port_cos)
        case Trust.COS | Trust.PHONE if system.cos_to_dscp:
            return packet._replace(dscp=system.cos_to_dscp[packet.cos])
        case Trust.DSCP:
            chosen = system.dscp_to_queue[packet.dscp] if system.queue_on_input and system.dscp_to_queue else None
            return _with_dscp(system, packet, packet.dscp)._replace(group=chosen)
    return packet


def by_rule(system: System, rule: Rule, packet: Packet) -> Packet:
    """What a rule of an input makes of a packet that it takes."""
    packet = _marked(system, packet, rule.set_dscp, rule.set_precedence)
    if rule.set_cos is not None:
        packet = packet._replace(cos=rule.set_cos)
    return packet._replace(group=rule.queue, qos_group=rule.set_qos_group or 0)


def _marked(system: System, packet: Packet, dscp: int | None, precedence: int | None) -> Packet:
    if dscp is not None:
        return _with_dscp(system, packet, dscp)
    if precedence is not None:
        return _with_dscp(system, packet, precedence << 3 | packet.dscp & 7)
    return packet


def _with_dscp(system: System, packet: Packet, dscp: int) -> Packet:
    cos = system.dscp_to_cos[dscp] if system.dscp_to_cos else packet.cos
    return packet._replace(dscp=dscp, cos=cos)


def marked(system: System, packet: Packet, dscp: int, cos: int | None) -> Packet:
    """A packet as it ought to stand before the output: with the marks of its class."""
    return _with_dscp(system, packet._replace(cos=cos or 0, group=None), dscp)


def queue_of(system: System, egress: Egress, scheduler: Scheduler, packet: Packet) -> int | None:
    """The number of the queue a packet takes: by the output policy, the choice on input, the maps, the default."""
    rule = _output_rule(egress, packet)
    if rule is not None:
        return rule.queue
    if not egress.rules:
        numbers = [queue.number for queue in scheduler.queues]
        if packet.group in numbers:
            return packet.group
        if system.queue_on_input:
            return egress.default_queue
        if system.dscp_to_queue:
            return system.dscp_to_queue[packet.dscp]
        if system.cos_to_queue:
            return system.cos_to_queue[packet.cos]
    return egress.default_queue


def leave(egress: Egress, packet: Packet) -> Packet:
    """A packet as it leaves an output: with the marks that the rule which takes it sets there."""
    rule = _output_rule(egress, packet)
    if rule is None:
        return packet
    dscp = packet.dscp if rule.set_dscp is None else rule.set_dscp
    if rule.set_precedence is not None:
        dscp = rule.set_precedence << 3 | packet.dscp & 7
    return packet._replace(dscp=dscp, cos=packet.cos if rule.set_cos is None else rule.set_cos)


def _output_rule(egress: Egress, packet: Packet) -> Rule | None:
    """The rule of an output that takes a packet into its queue."""
    return next((rule for rule in egress.rules if rule.queue is not None and takes(rule, packet)), None)


def takes(rule: Rule, packet: Packet) -> bool:
    """Whether a rule takes a packet."""
    return any(matches(t, packet) for t in rule.any_of) and not any(matches(t, packet) for t in rule.none_of)


def matches(term: Term, packet: Packet) -> bool:
    """Whether a packet has everything a term asks for; MACs, VLANs, labels and the way in are never known."""
    return (
        (not term.dscp or packet.dscp in term.dscp)
        and (not term.cos or packet.cos in term.cos)
        and (not term.precedence or packet.dscp >> 3 in term.precedence)
        and (term.application is None or term.application == packet.application)
        and (term.protocol is None or term.protocol == packet.protocol)
        and (term.source is None or inside(packet.source, term.source))
        and (term.destination is None or inside(packet.destination, term.destination))
        and not (term.source_mac or term.destination_mac or term.input_interface or term.vlan)
        and not term.mpls_experimental
        and (not term.qos_group or packet.qos_group in term.qos_group)
        and (not term.source_ports or _in_ports(packet.source_port, term.source_ports))
        and (not term.destination_ports or _in_ports(packet.port, term.destination_ports))
    )


def inside(address: str, prefix: str) -> bool:
    """Whether an address is in a prefix; never where they are of different IP versions."""
    return ip_address(address) in ip_network(prefix, strict=False)


def _in_ports(port: int | None, ranges: tuple[PortRange, ...]) -> bool:
    return port is not None and any(entry.first <= port <= entry.last for entry in ranges)
