"""The CAM of an E-Series line card: what classification rules take of it, and which ones fit.

Every port-pipe has a CAM of its own; a policy map on several ports of one pipe is stored once.  A
policy that does not fit is installed in part: classes of the higher queues come first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from qoslab.boxes.force10_e300.names import short
from qoslab.boxes.force10_e300.state import Chassis, ClassMap, Interface, Match, PolicyMap

PIPES = 2
"""Port-pipes of a line card (the published sample of ``test cam-usage`` has two)."""

PORTS_PER_PIPE = 24
"""Front ports that one port-pipe serves.  UNCONFIRMED."""

CAPACITY = {"L2ACL": 500, "IPv4Flow": 8192}
"""Entries that QoS has per port-pipe: for layer 2 as the published sample shows it, for layer 3
UNCONFIRMED, as is the name of that partition."""

TRUST_ENTRIES = 1
"""Entries of a trust rule.  UNCONFIRMED."""


def pipe_of(interface: Interface) -> tuple[int, int]:
    """Line card and port-pipe of a physical port."""
    slot, _, port = interface.number.partition("/")
    return int(slot), min(int(port) // PORTS_PER_PIPE, PIPES - 1)


def partition(policy: PolicyMap) -> str:
    """The part of the CAM that a policy map is stored in."""
    return "L2ACL" if policy.layer2 else "IPv4Flow"


def _line_entries(chassis: Chassis, match: Match) -> int:
    if not match.acl:
        return len(match.values)
    acl = chassis.lists("mac" if match.kind.startswith("mac") else "ip").get(match.acl)
    return sum(rule.entries() for rule in acl.rules.values()) if acl else 0


def class_entries(chassis: Chassis, class_map: ClassMap) -> int:
    """Entries of a class map: conditions that must all hold multiply."""
    entries = [_line_entries(chassis, match) for match in class_map.matches]
    if class_map.mode == "match-all":
        return math.prod(entries) if entries else 0
    return sum(entries)


def _classes(chassis: Chassis, policy: PolicyMap) -> Iterator[tuple[int, int]]:
    """(queue, entries) of the classes that a policy map programs, the first installed first."""
    if policy.trust and not policy.fallback:
        return
    for queue in sorted(policy.services, reverse=True):
        class_map = chassis.class_maps.get(policy.services[queue].class_map)
        if class_map:
            yield queue, class_entries(chassis, class_map)


def map_entries(chassis: Chassis, policy: PolicyMap) -> int:
    """Entries of a whole policy map."""
    return (TRUST_ENTRIES if policy.trust else 0) + sum(entries for _, entries in _classes(chassis, policy))


@dataclass
class Cam:
    """One port-pipe: free entries per partition, and the queues of each policy map on it, installed or not."""

    free: dict[str, int] = field(default_factory=lambda: dict(CAPACITY))
    stored: dict[str, frozenset[int]] = field(default_factory=dict)
    left_out: dict[str, list[int]] = field(default_factory=dict)

    def store(self, chassis: Chassis, policy: PolicyMap) -> None:
        """Install what fits of a policy map."""
        where = partition(policy)
        self.free[where] -= TRUST_ENTRIES if policy.trust else 0
        queues, left_out = set(), []
        for queue, entries in _classes(chassis, policy):
            if entries <= self.free[where]:
                self.free[where] -= entries
                queues.add(queue)
            else:
                left_out.append(queue)
        self.stored[policy.name] = frozenset(queues)
        self.left_out[policy.name] = left_out


def _attached(chassis: Chassis) -> Iterator[tuple[Interface, PolicyMap]]:
    """Ports with the input policy map that each has."""
    for interface in chassis.interfaces.values():
        policy = chassis.policy_maps["input"].get(interface.policies.get("input", ""))
        if policy is not None:
            yield interface, policy


def _filled(chassis: Chassis) -> dict[tuple[int, int], Cam]:
    """The CAM of every port-pipe that holds a policy map."""
    cams: dict[tuple[int, int], Cam] = {}
    for interface, policy in _attached(chassis):
        cam = cams.setdefault(pipe_of(interface), Cam())
        if policy.name not in cam.stored:
            cam.store(chassis, policy)
    return cams


def installed(chassis: Chassis, interface: Interface) -> frozenset[int]:
    """Queues of the port's input policy map whose classes the CAM holds."""
    cam = _filled(chassis).get(pipe_of(interface), Cam())
    return cam.stored.get(interface.policies.get("input", ""), frozenset())


def messages(chassis: Chassis) -> Iterator[str]:
    """What the box logs for every class that did not fit."""
    cams = _filled(chassis)
    for interface, policy in _attached(chassis):
        slot, pipe = pipe_of(interface)
        layer = "L2 Cam(L2ACL)" if policy.layer2 else "L3 Cam(PolicyQos)"
        for queue in cams[slot, pipe].left_out[policy.name]:
            yield (
                f"%EX2YD:{slot} %DIFFSERV-2-DSA_QOS_CAM_INSTALL_FAILED: Not enough space in {layer}"
                f" for class {queue} ({short(interface.name)}) entries on portpipe {pipe} for linecard {slot}"
            )


# -- show ---------------------------------------------------------------------------------------------


def pipes(chassis: Chassis) -> list[tuple[int, int]]:
    """Line cards of the chassis (those with ports or provisioned) with their port-pipes."""
    slots = {pipe_of(port)[0] for port in chassis.interfaces.values() if port.physical}
    slots.update(int(line.text.split()[1]) for line in chassis.plain.starting("linecard "))
    return [(slot, pipe) for slot in sorted(slots) for pipe in range(PIPES)]


def test_usage(chassis: Chassis, policy: PolicyMap, only: tuple[int, int] | None) -> Iterator[str]:
    """``test cam-usage service-policy input``: would the policy map fit (E600i reference p. 1153)."""
    yield "Linecard | Portpipe | CAM Partition | Available CAM | Estimated CAM | Status"
    yield "         |          |               |               | per Port      | (Allowed ports)"
    need, where, cams = map_entries(chassis, policy), partition(policy), _filled(chassis)
    for slot, pipe in pipes(chassis):
        if only in {None, (slot, pipe)}:
            free = cams.get((slot, pipe), Cam()).free[where]
            ports = free // need if need else PORTS_PER_PIPE
            status = f"Allowed ({min(ports, PORTS_PER_PIPE)})" if ports else "Exception"
            yield f"{slot:<11}{pipe:<11}{where:<16}{free:<16}{need:<16}{status}"


def usage(chassis: Chassis) -> Iterator[str]:
    """``show cam-usage``: total, used and free entries of every port-pipe."""
    yield "Linecard | Portpipe | CAM Partition | Total CAM     | Used CAM      | Available CAM"
    cams = _filled(chassis)
    for slot, pipe in pipes(chassis):
        free = cams.get((slot, pipe), Cam()).free
        for where, total in CAPACITY.items():
            yield f"{slot:<11}{pipe:<11}{where:<16}{total:<16}{total - free[where]:<16}{free[where]}"
