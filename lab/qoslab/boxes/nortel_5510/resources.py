"""What the filter hardware of a 5510's ports holds, and what takes how much of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from qoslab.boxes.nortel_5510.acl import masks
from qoslab.boxes.nortel_5510.arguments import refused
from qoslab.boxes.nortel_5510.state import Policy, QosConfig
from qoslab.boxes.nortel_5510.tables import (
    ACL_MASKS,
    DEFAULT_TRACKING,
    PORT_CLASSIFIERS,
    PORT_COUNTERS,
    PORT_MASKS,
    PORT_METERS,
    PORTS,
)
from qoslab.grammar import Refused


@dataclass(frozen=True)
class Usage:
    """What the policies and access-lists of one port take of its filter hardware."""

    masks: int
    acl_masks: int
    classifiers: int
    counters: int
    meters: int


def _classifiers(config: QosConfig, policy: Policy) -> int:
    return len(config.members_of_block(policy.classifier)) if policy.kind == "block" else 1


def _counters(config: QosConfig, policy: Policy) -> int:
    tracking = policy.statistics or config.agent.statistics or DEFAULT_TRACKING
    return {"individual": _classifiers(config, policy), "aggregate": 1}.get(tracking, 0)


def _meters(config: QosConfig, policy: Policy) -> set[int]:
    held = [policy.meter]
    if policy.kind == "block":
        held += [member.meter for member in config.members_of_block(policy.classifier)]
    return {meter for meter in held if meter is not None}


def usage(config: QosConfig, port: int) -> Usage:
    """What is taken on ``port``; one meter that several policies share is one meter."""
    policies = config.policies_on(port)
    lists = [config.entries(assigned.kind, assigned.name) for assigned in config.acls_on(port)]
    acl_masks = sum(len(masks(entries)) for entries in lists)
    return Usage(
        masks=len(policies) + acl_masks,
        acl_masks=acl_masks,
        classifiers=sum(_classifiers(config, policy) for policy in policies) + sum(map(len, lists)),
        counters=sum(_counters(config, policy) for policy in policies),
        meters=len(set().union(*(_meters(config, policy) for policy in policies))),
    )


def acl_precedences(config: QosConfig, port: int) -> dict[int, list[int]]:
    """Precedences of each access-list on ``port`` by the assignment's number.

    Lists take the highest ones that policies leave free, then go downwards (TCG p. 26).
    """
    taken = {policy.precedence for policy in config.policies_on(port)}
    free = [precedence for precedence in range(PORT_MASKS, 0, -1) if precedence not in taken]
    held: dict[int, list[int]] = {}
    for assigned in config.acls_on(port):
        count = len(masks(config.entries(assigned.kind, assigned.name)))
        held[assigned.number], free = free[:count], free[count:]
    return held


def check(config: QosConfig) -> None:
    """Raises Refused when a port would have to hold more than it can."""
    for port in range(1, PORTS + 1):
        precedences = [policy.precedence for policy in config.policies_on(port)]
        twice = next((one for one in precedences if precedences.count(one) > 1), None)
        if twice is not None:
            raise refused(f"Precedence {twice} is already in use on port {port}")
        if len({assigned.kind for assigned in config.acls_on(port)}) > 1:
            raise refused(f"IP and L2 access lists cannot be mixed on port {port}")
        used = usage(config, port)
        for what, count, limit in (
            ("masks", used.masks, PORT_MASKS),
            ("access list precedences", used.acl_masks, ACL_MASKS),
            ("classifiers", used.classifiers, PORT_CLASSIFIERS),
            ("counters", used.counters, PORT_COUNTERS),
            ("meters", used.meters, PORT_METERS),
        ):
            if count > limit:
                raise refused(f"Inappropriate value - insufficient resources: port {port} has {limit} {what}")


@contextmanager
def fitting(config: QosConfig) -> Iterator[None]:
    """Let policies, assignments or tracking change, and take it back when a port cannot hold it."""
    policies, assigned = dict(config.policies), dict(config.assigned)
    lists, agent = dict(config.acl_assignments), replace(config.agent)
    try:
        yield
        check(config)
    except Refused:
        config.policies, config.assigned = policies, assigned
        config.acl_assignments, config.agent = lists, agent
        raise
