"""How a BayStack 5510 treats packets, worked out from its own configuration alone.

All policies of the port are evaluated and their actions merge field by field, the higher
precedence first (TCG 3.4).  What no policy set falls to the default action of the port's group
class (TCG table 1).  The 802.1p priority that results picks the queue in the queue set in force.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from qoslab.boxes.nortel_5510.acl import AclAssignment, ordered
from qoslab.boxes.nortel_5510.fields import IpFields, L2Fields
from qoslab.boxes.nortel_5510.resources import acl_precedences
from qoslab.boxes.nortel_5510.state import Action, Policy, QosConfig, bucket
from qoslab.boxes.nortel_5510.tables import (
    DEFAULT_PORT_PRIORITY,
    QUEUE_SET_WEIGHTS,
    SERVICE_CLASSES,
    STRICT,
    STRICT_QUEUES,
    WEIGHTED,
    WELL_KNOWN_DSCP,
    default_egress_row,
)
from qoslab.metering import Metering
from qoslab.packets import Packets

IPV4 = 0x800
"""Ethertype of what the control channel offers."""


def action_of(config: QosConfig, number: int) -> Action:
    """A predefined or configured action; a reference to a removed one does nothing."""
    service = SERVICE_CLASSES.get(number)
    if service is None:
        return config.actions.get(number, Action(number))
    priority = "" if service.priority is None else str(service.priority)
    return Action(number, service.name, service.drop, service.dscp, priority, service.drop_precedence)


def _ip_matches(element: IpFields, packets: Packets) -> bool:
    if element.family != "ipv4":
        return False  # the control channel offers IPv4 only
    for network, address in ((element.src, packets.src), (element.dst, packets.dst)):
        if network is not None and ipaddress.IPv4Address(address) not in network:
            return False
    for span, port in ((element.src_ports, packets.src_port), (element.dst_ports, packets.dst_port)):
        if span is not None and port not in span:
            return False
    if element.protocol is not None and packets.protocol != element.protocol:
        return False
    return element.dscp is None or packets.dscp == element.dscp


def _masked(mac: tuple[str, str] | None) -> bool:
    """Whether an address condition looks at any bit: offered packets carry no MAC addresses."""
    return mac is not None and int(mac[1].replace(":", ""), 16) != 0


def _l2_matches(element: L2Fields, packets: Packets) -> bool:
    if _masked(element.src_mac) or _masked(element.dst_mac):
        return False
    if element.vlan is not None and packets.vlan not in element.vlan:
        return False
    if element.vlan_tag in {"tagged", "untagged"} and packets.tagged != (element.vlan_tag == "tagged"):
        return False
    if element.ethertype not in {None, IPV4}:
        return False
    return element.priority is None or (packets.tagged and packets.cos == element.priority)


def _set_matches(config: QosConfig, set_id: int, packets: Packets) -> bool:
    members = config.members_of_set(set_id)
    for member in members:
        if member.kind == "ip":
            matched = _ip_matches(config.ip_elements[member.element].fields, packets)
        else:
            matched = _l2_matches(config.l2_elements[member.element].fields, packets)
        if not matched:
            return False
    return bool(members)


@dataclass(frozen=True)
class Verdict:
    """What a policy or an access-list says about packets: its action, whether it matched, how many conform.

    ``excess`` is the action for matched packets out of profile (of a meter); ``policy`` is None for an
    access-list.
    """

    precedence: int
    name: str
    policy: Policy | None
    action: Action | None
    matched: bool
    conforming: int
    excess: Action | None = None


def _optional(config: QosConfig, number: int | None) -> Action | None:
    return None if number is None else action_of(config, number)


def _judge(config: QosConfig, policy: Policy, packets: Packets, metering: Metering) -> Verdict:
    action, meter = policy.action, policy.meter
    if policy.kind == "classifier":
        matched = _set_matches(config, policy.classifier, packets)
    else:
        members = config.members_of_block(policy.classifier)
        member = next((held for held in members if _set_matches(config, held.set_id, packets)), None)
        matched = member is not None
        if member is not None and member.acts:
            action, meter = member.action, member.meter
    kept, excess = packets.count, None
    if not matched:
        action = policy.other_action
    elif meter is not None:
        held = config.meters[meter]
        size = bucket(held.rate, held.burst_rate, held.duration)
        kept = metering.conforming(meter, held.rate * 1000.0, size, packets)
        action, excess = held.in_action, _optional(config, held.out_action)
    name = policy.name or str(policy.number)
    return Verdict(policy.precedence, name, policy, _optional(config, action), matched, kept, excess)


def _listed(config: QosConfig, assigned: AclAssignment, precedence: int, packets: Packets) -> Verdict:
    """What an access-list says: its first entry that matches, else drop."""
    for entry in ordered(config.entries(assigned.kind, assigned.name)):
        if isinstance(entry.fields, IpFields):
            matched = _ip_matches(entry.fields, packets)
        else:
            matched = _l2_matches(entry.fields, packets)
        if matched:
            action = Action(
                entry.number,
                drop=entry.drop or "disable",
                dscp=entry.dscp,
                priority="" if entry.priority is None else str(entry.priority),
            )
            return Verdict(precedence, assigned.name, None, action, matched=True, conforming=packets.count)
    drop = Action(0, drop="enable")
    return Verdict(precedence, assigned.name, None, drop, matched=False, conforming=packets.count)


@dataclass(frozen=True)
class Part:
    """Packets after the ingress port, with their new marks."""

    packets: Packets
    dropped: bool


def ingress(config: QosConfig, port: int, packets: Packets, metering: Metering) -> tuple[list[Part], list[Verdict]]:
    """Marks after the ingress port's policies and its group's default action.

    Packets out of a meter's profile are a part of their own.  Also returns what each policy said.
    """
    verdicts = [_judge(config, policy, packets, metering) for policy in config.policies_on(port)]
    held = acl_precedences(config, port)
    verdicts += [_listed(config, one, max(held[one.number]), packets) for one in config.acls_on(port)]
    verdicts.sort(key=lambda verdict: -verdict.precedence)
    within = min((verdict.conforming for verdict in verdicts), default=packets.count)
    parts = []
    if within or not packets.count:
        actions = [verdict.action for verdict in verdicts]
        parts.append(_treated(config, port, packets.kept(within), actions))
    if within < packets.count:
        actions = [
            verdict.action if verdict.excess is None or verdict.conforming > within else verdict.excess
            for verdict in verdicts
        ]
        parts.append(_treated(config, port, packets.kept(packets.count - within), actions))
    return parts, verdicts


def _treated(config: QosConfig, port: int, packets: Packets, said: list[Action | None]) -> Part:
    """Packets under the actions of the policies, the first of which weighs most."""
    actions = [action for action in said if action is not None]
    dscp = next((action.dscp for action in actions if action.dscp is not None), None)
    priority = next((action.priority for action in actions if action.priority), "")
    # A definite drop or pass of a lower policy beats the deferred pass of a higher one.
    drop = next((action.drop for action in actions if action.drop != "deferred-pass"), "disable")
    trust = config.groups[config.group_of(port)]
    if dscp is None:
        dscp = packets.dscp
        if trust == "untrusted":
            dscp = 0 if packets.tagged else config.ingress_map[DEFAULT_PORT_PRIORITY].dscp
    row = config.egress_map[dscp]
    received = packets.cos if packets.tagged else DEFAULT_PORT_PRIORITY
    mapped = False
    if priority == "use-tos-prec":
        cos = packets.dscp >> 3
    elif priority == "use-egress":
        cos, mapped = row.priority, True
    elif priority:
        cos = int(priority)
    elif trust == "unrestricted":
        cos = received
    elif trust == "trusted" and dscp not in WELL_KNOWN_DSCP and row == default_egress_row(dscp):
        cos = received  # partial mapping: only well-known DSCPs are remapped
    else:
        cos, mapped = row.priority, True
    return Part(packets.marked(dscp=row.new_dscp if mapped else dscp, cos=cos), drop == "enable")


def discipline(queue_set: int, queue: int) -> str:
    """Service discipline of a queue in the words of ``show qos queue-set``."""
    return STRICT if queue <= STRICT_QUEUES[queue_set] else WEIGHTED


def egress_queue(config: QosConfig, queue_set: int, cos: int) -> int:
    """Queue of an 802.1p priority in the queue set in force."""
    return min(config.queue_of[(queue_set, cos)], len(QUEUE_SET_WEIGHTS[queue_set]))
