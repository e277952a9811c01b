"""How an E-Series chassis treats a packet, worked out from its own configuration alone.

Ingress: a policy map marks and picks one of eight queues; a rule with the lower ``order`` wins,
then the higher queue (FTOS 8.4.1.5 guide p. 812).  The six bits of a DSCP that a queue's policy
writes name the queue, too: in another queue its number replaces the first three (C150 configuration
manual p. 861, Z9000 guide p. 728).  ``trust`` without ``fallback`` makes the class maps dead (E600i
reference p. 1153).  Without a policy ``dot1p-priority`` decides, else queue 0.
Egress: one box-wide strict queue, weighted fair queueing by percentage among the rest, WRED by
colour.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from qoslab.boxes.force10_e300.acl import DEFAULT_ORDER
from qoslab.boxes.force10_e300.cam import installed
from qoslab.boxes.force10_e300.rates import Meter
from qoslab.boxes.force10_e300.state import (
    Chassis,
    ClassMap,
    InputPolicy,
    Interface,
    Match,
    OutputPolicy,
    PolicyMap,
)
from qoslab.metering import Metering
from qoslab.packets import Packets

DOT1P_QUEUE = (2, 0, 1, 3, 4, 5, 6, 7)
"""Queue per 802.1p priority on an E-Series (S6000 reference p. 697)."""

YELLOW_DROP_BITS = (0b100, 0b110)
"""Low DSCP bits that make a trusted packet yellow (AFx2, AFx3); every other one is green."""

DEFAULT_WRED = {
    "GigabitEthernet": {"green": "wred_ge_g", "yellow": "wred_ge_y"},
    "TenGigabitEthernet": {"green": "wred_teng_g", "yellow": "wred_teng_y"},
}
"""Profiles in force without a ``wred`` line, by port speed."""


@dataclass(frozen=True)
class Ingress:
    """What the way in did: new marks, queue, the class map that matched, colour."""

    packets: Packets
    queue: int
    class_map: str
    """The class map whose rule was hit; trusted packets hit none and move no match counter."""
    colour: str
    policy: InputPolicy | None
    meter: str = ""
    """What meters under one name share: each queue has its own, the aggregate policy one for all."""


@dataclass(frozen=True)
class Hit:
    rank: tuple[int, int]
    queue: int
    class_map: str
    set_dscp: int | None


def _line_matches(chassis: Chassis, match: Match, packets: Packets) -> tuple[int, bool] | None:
    """(order, permit) when one ``match`` line applies to the packets."""
    if match.acl:
        acl = chassis.lists("mac" if match.kind.startswith("mac") else "ip").get(match.acl)
        found = acl.first_match(packets) if acl else None
        return None if found is None else (found[0], found[2].permit)
    field = {
        "ip dscp": packets.dscp,
        "ip precedence": packets.dscp >> 3,
        "ip vlan": packets.vlan,
        "mac dot1p": packets.cos,
        "mac vlan": packets.vlan,
    }[match.kind]
    return (DEFAULT_ORDER, True) if field in match.values else None


def _class_hit(chassis: Chassis, class_map: ClassMap, queue: int, packets: Packets) -> Hit | None:
    results = [(match, _line_matches(chassis, match, packets)) for match in class_map.matches]
    hits = [(match, found) for match, found in results if found is not None]
    if not hits or (class_map.mode == "match-all" and len(hits) < len(results)):
        return None
    match, (order, permit) = min(hits, key=lambda hit: hit[1][0])
    if class_map.mode == "match-all":
        permit = all(found[1] for _, found in hits)
    # A deny that the packet hits is programmed as "to queue 0", it does not fall through.
    return Hit((order, -queue), queue if permit else 0, class_map.name, match.set_dscp if permit else None)


def _classify(chassis: Chassis, interface: Interface, policy: PolicyMap, packets: Packets) -> Hit | None:
    fitting = installed(chassis, interface)
    hits = []
    for queue, service in policy.services.items():
        if queue not in fitting:
            continue
        class_map = chassis.class_maps.get(service.class_map)
        hit = _class_hit(chassis, class_map, queue, packets) if class_map else None
        if hit:
            hits.append(hit)
    return min(hits, key=lambda hit: hit.rank, default=None)


def _trusted_queue(trust: str, packets: Packets) -> int:
    return packets.dscp >> 3 if trust == "diffserv" else DOT1P_QUEUE[packets.cos]


def _port_priority(chassis: Chassis, interface: Interface) -> int | None:
    """``dot1p-priority`` of the port, or of the port-channel that it is a member of."""
    channel = chassis.interfaces.get(chassis.channel_of(interface.name))
    return (channel or interface).port_qos.dot1p


def ingress(chassis: Chassis, interface: Interface, packets: Packets) -> Ingress:
    """Marks and queue of a packet that enters at ``interface``."""
    policy = chassis.policy_maps["input"].get(interface.policies.get("input", ""))
    if policy is None:
        cos = _port_priority(chassis, interface)
        if cos is None:
            return Ingress(packets, 0, "", "green", None)
        return Ingress(replace(packets, cos=cos), DOT1P_QUEUE[cos], "", "green", None)
    hit = None if policy.trust and not policy.fallback else _classify(chassis, interface, policy, packets)
    otherwise = _trusted_queue(policy.trust, packets) if policy.trust else 0
    queue = hit.queue if hit else otherwise
    yellow = policy.trust == "diffserv" and (packets.dscp & 0b111) in YELLOW_DROP_BITS
    service = policy.services.get(queue)
    marker = chassis.input_policies.get(policy.aggregate or (service.qos_policy if service else ""))
    dscp, cos = packets.dscp, packets.cos
    if marker:
        dscp = dscp if marker.set_dscp is None else _written(marker.set_dscp, None if policy.aggregate else queue)
        cos = cos if marker.set_dot1p is None else marker.set_dot1p
    if hit and hit.set_dscp is not None:
        dscp = hit.set_dscp
    return Ingress(
        replace(packets, dscp=dscp, cos=cos),
        queue,
        hit.class_map if hit else "",
        "yellow" if yellow else "green",
        marker,
        "aggregate" if policy.aggregate else f"queue {queue}",
    )


def _written(dscp: int, queue: int | None) -> int:
    """The DSCP that leaves; a policy for all queues (None) is taken to write it whole.  UNCONFIRMED."""
    return dscp if queue is None else queue << 3 | dscp & 0b111


@dataclass(frozen=True)
class Drop:
    """A WRED profile in force: thresholds in KB."""

    profile: str
    thresholds: tuple[int, int]


@dataclass(frozen=True)
class Served:
    """How an egress port serves a queue; ``policy`` is None when nothing was configured for it."""

    policy: OutputPolicy | None
    strict: bool
    wred: Drop | None
    meter: str
    """See :attr:`Ingress.meter`."""

    @property
    def scheduled(self) -> bool:
        """False when the queue was given no share at all."""
        return self.strict or self.policy is None or self.policy.percentage != 0


def egress(chassis: Chassis, interface: Interface, queue: int, colour: str) -> Served:
    """What the egress port does with a queue and a colour."""
    attached = chassis.policy_maps["output"].get(interface.policies.get("output", ""))
    name, meter = "", ""
    if attached:
        service = attached.services.get(queue)
        name = service.qos_policy if service else attached.aggregate
        meter = f"queue {queue}" if service else "aggregate"
    policy = chassis.output_policies.get(name)
    profile = DEFAULT_WRED.get(interface.family, {}).get(colour, "")
    profile = policy.wred.get(colour, profile) if policy else profile
    drop = Drop(profile, chassis.thresholds(profile)) if profile else None
    return Served(policy, queue == chassis.strict_queue, drop, meter)


def metered(port: Interface, kind: str, packets: Packets, metering: Metering) -> Packets:
    """The packets that ``rate police`` or ``rate limit`` (``kind``) of a port lets pass.

    The rate of the packets' VLAN stands before the one of the whole port.
    """
    meters = port.port_qos.meters(kind)
    vlan = packets.vlan if packets.vlan in meters else None
    return conforming(f"{port.name} rate {kind} {vlan}", meters.get(vlan), packets, metering)


def conforming(name: str, meter: Meter | None, packets: Packets, metering: Metering) -> Packets:
    """The packets that the meter called ``name`` lets pass; all of them when there is none."""
    if meter is None:
        return packets
    rate = meter.ceiling
    return packets.kept(metering.conforming(name, rate.bits_per_second, rate.burst_bytes, packets))
