"""What a BayStack 5510 holds: its QoS objects and how the configuration generator prints them.

Object lines follow the published grammar of the ``! *** QOS ***`` section; the forms of action,
meter, policy, classifier-block and if-shaper lines and their place are not published: here they are
printed as they are typed, after the objects that they refer to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from qoslab.boxes.nortel_5510.acl import AclAssignment, AclEntry
from qoslab.boxes.nortel_5510.fields import IpFields, L2Fields
from qoslab.boxes.nortel_5510.tables import (
    BUCKETS,
    DEFAULT_BUFFER,
    DEFAULT_GROUP,
    DEFAULT_NVRAM_DELAY,
    DEFAULT_QUEUE_SET,
    PORTS,
    QUEUE_SET_WEIGHTS,
    EgressRow,
    IngressRow,
    default_egress_row,
    default_ingress_row,
    default_queue,
)
from qoslab.config import Section


def name_part(name: str) -> str:
    """`` name W`` or nothing."""
    return f" name {name}" if name else ""


def port_list(ports: Iterable[int]) -> str:
    """``1-4,7``: how the box writes ports of a standalone unit."""
    runs: list[list[int]] = []
    for port in sorted(ports):
        if runs and port == runs[-1][1] + 1:
            runs[-1][1] = port
        else:
            runs.append([port, port])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


class Printed(Protocol):
    """A QoS object that knows its configuration line."""

    def line(self) -> str:
        """The object as the listing shows it."""


@dataclass(frozen=True)
class IpElement:
    """``qos ip-element``."""

    number: int
    name: str
    fields: IpFields

    def line(self) -> str:
        return f"qos ip-element {self.number}{name_part(self.name)}{self.fields.text()}"


@dataclass(frozen=True)
class L2Element:
    """``qos l2-element``."""

    number: int
    name: str
    fields: L2Fields

    def line(self) -> str:
        return f"qos l2-element {self.number}{name_part(self.name)}{self.fields.text()}"


@dataclass(frozen=True)
class Classifier:
    """``qos classifier``: one element as member of the set ``set_id``."""

    number: int
    set_id: int
    name: str
    kind: str
    element: int

    def line(self) -> str:
        return (
            f"qos classifier {self.number} set-id {self.set_id}{name_part(self.name)}"
            f" element-type {self.kind} element-id {self.element}"
        )


@dataclass(frozen=True)
class BlockMember:
    """``qos classifier-block``: one classifier set as member of block ``block``."""

    number: int
    block: int
    name: str
    set_id: int
    action: int | None = None
    meter: int | None = None

    @property
    def acts(self) -> bool:
        """Whether the member has an action or a meter of its own."""
        return self.action is not None or self.meter is not None

    def line(self) -> str:
        text = (
            f"qos classifier-block {self.number} block-number {self.block}{name_part(self.name)}"
            f" set-id {self.set_id}"
        )
        text += "" if self.action is None else f" in-profile-action {self.action}"
        return text if self.meter is None else f"{text} meter {self.meter}"


@dataclass(frozen=True)
class Action:
    """``qos action``: ``priority`` is 0-7, ``use-tos-prec``, ``use-egress`` or "" (leave it)."""

    number: int
    name: str = ""
    drop: str = "deferred-pass"
    dscp: int | None = None
    priority: str = ""
    drop_precedence: str = "low-drop"

    def line(self) -> str:
        text = f"qos action {self.number}{name_part(self.name)}"
        if self.drop != "deferred-pass":
            text += f" drop-action {self.drop}"
        if self.dscp is not None:
            text += f" update-dscp {self.dscp}"
        if self.priority:
            text += f" update-1p {self.priority}" if self.priority.isdigit() else f" {self.priority}"
        return text if self.drop_precedence == "low-drop" else f"{text} set-drop-prec {self.drop_precedence}"


@dataclass(frozen=True)
class Meter:
    """``qos meter``: rates in kb/s, duration in ms (None: largest bucket)."""

    number: int
    name: str
    rate: int
    burst_rate: int
    duration: int | None
    in_action: int
    out_action: int

    def line(self) -> str:
        duration = "" if self.duration is None else f" max-burst-duration {self.duration}"
        return (
            f"qos meter {self.number}{name_part(self.name)} committed-rate {self.rate}"
            f" max-burst-rate {self.burst_rate}{duration}"
            f" in-profile-action {self.in_action} out-profile-action {self.out_action}"
        )


@dataclass(frozen=True)
class Policy:
    """``qos policy``: a classifier set or block on a group or a port; meter or action, not both."""

    number: int
    name: str
    enabled: bool
    group: str
    port: int | None
    kind: str
    classifier: int
    action: int | None
    meter: int | None
    other_action: int | None
    precedence: int
    statistics: str

    def switched(self, on: bool) -> Policy:
        """The same policy, enabled or not."""
        return replace(self, enabled=on)

    def line(self) -> str:
        where = f"if-group {self.group}" if self.port is None else f"port {self.port}"
        text = f"qos policy {self.number}{'' if self.enabled else ' disable'}{name_part(self.name)} {where}"
        text += f" clfr-type {self.kind} clfr-id {self.classifier}"
        text += "" if self.action is None else f" in-profile-action {self.action}"
        text += "" if self.meter is None else f" meter {self.meter}"
        text += "" if self.other_action is None else f" non-match-action {self.other_action}"
        text += f" precedence {self.precedence}"
        return f"{text} track-statistics {self.statistics}" if self.statistics else text


@dataclass(frozen=True)
class Shaper:
    """``qos if-shaper``: rates in kb/s, duration in ms (None: largest bucket)."""

    port: int
    name: str
    rate: int
    burst_rate: int
    duration: int | None

    def line(self) -> str:
        duration = "" if self.duration is None else f" max-burst-duration {self.duration}"
        return (
            f"qos if-shaper port {self.port}{name_part(self.name)} shape-rate {self.rate}"
            f" max-burst-rate {self.burst_rate}{duration}"
        )


def bucket(rate: int, burst_rate: int, duration: int | None) -> int:
    """The token bucket (bytes) whose duration at the two rates (kb/s) is nearest to ``duration`` (ms)."""
    if duration is None:
        return BUCKETS[-1]
    per_ms = (burst_rate - rate) / 8
    return min(BUCKETS, key=lambda size: abs(round(size / per_ms) - duration))


@dataclass
class Agent:
    """``qos agent``: settings that hold for the whole switch."""

    queue_set: int = DEFAULT_QUEUE_SET
    buffer: str = DEFAULT_BUFFER
    nvram_delay: int = DEFAULT_NVRAM_DELAY
    ubp: str = ""
    statistics: str = ""

    def lines(self, everything: bool = False) -> Iterator[str]:
        if everything or self.queue_set != DEFAULT_QUEUE_SET:
            yield f"qos agent queue-set {self.queue_set}"
        if everything or self.buffer != DEFAULT_BUFFER:
            yield f"qos agent buffer {self.buffer}"
        if everything or self.nvram_delay != DEFAULT_NVRAM_DELAY:
            yield f"qos agent nvram-delay {self.nvram_delay}"
        if self.ubp:
            yield f"qos agent ubp {self.ubp}"
        if self.statistics:
            yield f"qos agent statistics-tracking {self.statistics}"


@dataclass
class QosConfig:
    """Everything of the ``! *** QOS ***`` section, factory fresh."""

    groups: dict[str, str] = field(default_factory=lambda: {DEFAULT_GROUP: "untrusted"})
    assigned: dict[int, str] = field(default_factory=dict)
    ip_elements: dict[int, IpElement] = field(default_factory=dict)
    l2_elements: dict[int, L2Element] = field(default_factory=dict)
    classifiers: dict[int, Classifier] = field(default_factory=dict)
    blocks: dict[int, BlockMember] = field(default_factory=dict)
    actions: dict[int, Action] = field(default_factory=dict)
    meters: dict[int, Meter] = field(default_factory=dict)
    policies: dict[int, Policy] = field(default_factory=dict)
    shapers: dict[int, Shaper] = field(default_factory=dict)
    acls: dict[str, dict[int, AclEntry]] = field(default_factory=lambda: {"ip": {}, "l2": {}})
    acl_assignments: dict[int, AclAssignment] = field(default_factory=dict)
    agent: Agent = field(default_factory=Agent)
    egress_map: dict[int, EgressRow] = field(
        default_factory=lambda: {dscp: default_egress_row(dscp) for dscp in range(64)}
    )
    ingress_map: dict[int, IngressRow] = field(
        default_factory=lambda: {priority: default_ingress_row(priority) for priority in range(8)}
    )
    plain: dict[str, Section] = field(default_factory=dict)
    queue_of: dict[tuple[int, int], int] = field(
        default_factory=lambda: {
            (queue_set, priority): default_queue(queue_set, priority)
            for queue_set in QUEUE_SET_WEIGHTS
            for priority in range(8)
        }
    )

    def group_of(self, port: int) -> str:
        return self.assigned.get(port, DEFAULT_GROUP)

    def members(self, group: str) -> list[int]:
        return [port for port in range(1, PORTS + 1) if self.group_of(port) == group]

    def members_of_set(self, set_id: int) -> list[Classifier]:
        return [member for member in self.classifiers.values() if member.set_id == set_id]

    def members_of_block(self, block: int) -> list[BlockMember]:
        return [member for member in self.blocks.values() if member.block == block]

    def policies_on(self, port: int) -> list[Policy]:
        """Enabled policies that a port runs, the first looked at first."""
        group = self.group_of(port)
        running = [
            policy
            for policy in self.policies.values()
            if policy.enabled and (policy.port == port or (policy.port is None and policy.group == group))
        ]
        return sorted(running, key=lambda policy: -policy.precedence)

    def entries(self, kind: str, name: str) -> list[AclEntry]:
        """The entries of one access-list, in their order."""
        return [entry for _, entry in sorted(self.acls[kind].items()) if entry.name == name]

    def acls_on(self, port: int) -> list[AclAssignment]:
        """Enabled access-lists of a port, the first looked at first."""
        held = (assigned for _, assigned in sorted(self.acl_assignments.items()))
        return [assigned for assigned in held if assigned.enabled and port in assigned.ports]

    def lines(self, everything: bool = False) -> Iterator[str]:
        """The section's lines: those that differ from the factory's, or ``everything``."""
        for name, kind in self.groups.items():
            if everything or name != DEFAULT_GROUP:
                yield f"qos if-group name {name} class {kind}"
        tables: tuple[Mapping[int, Printed], ...] = (
            self.ip_elements, self.l2_elements, self.classifiers, self.actions, self.meters, self.blocks,
        )  # fmt: skip
        for table in tables:
            yield from (item.line() for _, item in sorted(table.items()))
        for group in dict.fromkeys(self.assigned.values()):
            yield f"qos if-assign port {port_list(self.members(group))} name {group}"
        yield from self.agent.lines(everything)
        for dscp, row in self.egress_map.items():
            if everything or row != default_egress_row(dscp):
                yield (
                    f"qos egressmap name {row.name} ds {dscp} 1p {row.priority}"
                    f" dp {row.drop_precedence} ds-new {row.new_dscp}"
                )
        for priority, entry in self.ingress_map.items():
            if everything or entry != default_ingress_row(priority):
                yield f"qos ingressmap name {entry.name} 1p {priority} ds {entry.dscp}"
        for (queue_set, priority), queue in self.queue_of.items():
            if everything or queue != default_queue(queue_set, priority):
                yield f"qos queue-set-assignment queue-set {queue_set} 1p {priority} queue {queue}"
        yield from (policy.line() for _, policy in sorted(self.policies.items()))
        for entries in self.acls.values():
            yield from (entry.line() for _, entry in sorted(entries.items()))
        for position, (_, assigned) in enumerate(sorted(self.acl_assignments.items()), start=1):
            ports = port_list(assigned.ports)
            yield f"qos acl-assign port {ports} acl-type {assigned.kind} name {assigned.name}"
            if not assigned.enabled:
                # The number that the line above gets when the listing is entered.
                yield f"qos acl-assign {position} disable"
