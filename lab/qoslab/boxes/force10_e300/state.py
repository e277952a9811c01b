"""What an E-Series chassis holds: its configuration objects and how FTOS prints them.

Forms are those of FTOS 8.4 configuration listings: blocks parted by ``!``, one leading space
inside a block, keywords in full, defaults left out (except the ones FTOS always shows:
``no ip address``, ``shutdown``, ``no qos-rate-adjust``).  Blocks come in the order in which one
refers to the next, so that a saved listing boots without forward references.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from qoslab.boxes.force10_e300.acl import AccessList
from qoslab.boxes.force10_e300.names import SHORT_NAMES, listed
from qoslab.boxes.force10_e300.rates import Meter, PortQos, Rate
from qoslab.config import Section

QUEUES = 8
"""Unicast queues per port of an E-Series (C and S series have 4)."""

VERSION = "8.4.2.7"
"""FTOS release of the E-Series TeraScale guide that the lab follows unless told another."""

PREDEFINED_WRED: dict[str, tuple[int, int]] = {
    "wred_drop": (0, 0),
    "wred_ge_y": (1024, 2048),
    "wred_ge_g": (2048, 4096),
    "wred_teng_y": (4096, 8192),
    "wred_teng_g": (8192, 16384),
}
"""Built-in profiles, thresholds in KB (C150 guide p. 871); they can be neither edited nor removed."""

NEW_WRED = PREDEFINED_WRED["wred_ge_g"]
"""Thresholds of a profile just created; not printed while unchanged."""

MAX_USER_WRED = 26
"""User profiles beside the five built-in ones."""

POLICY_FAMILIES = ("GigabitEthernet", "TenGigabitEthernet")
"""Families that take policy-based QoS: no SONET card, VLAN, port-channel or loopback does."""


@dataclass
class Match:
    """One ``match`` line: ``kind`` is its keywords, ``values`` the list or the access-list's name."""

    kind: str
    values: tuple[int, ...] = ()
    acl: str = ""
    set_dscp: int | None = None

    def text(self) -> str:
        what = self.acl or ",".join(map(str, self.values))
        mark = "" if self.set_dscp is None else f" set-ip-dscp {self.set_dscp}"
        return f"match {self.kind} {what}{mark}"


@dataclass
class ClassMap:
    """``class-map``: ``mode`` is ``match-any`` or ``match-all``."""

    name: str
    mode: str
    layer2: bool = False
    matches: list[Match] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        yield f"class-map {self.mode} {self.name}" + (" layer2" if self.layer2 else "")
        yield from (f" {match.text()}" for match in self.matches)


@dataclass
class InputPolicy:
    """``qos-policy-input``: marks and polices what enters."""

    name: str
    layer2: bool = False
    police: Meter | None = None
    set_dscp: int | None = None
    set_dot1p: int | None = None

    def lines(self) -> Iterator[str]:
        yield f"qos-policy-input {self.name}" + (" layer2" if self.layer2 else "")
        if self.police:
            yield f" rate-police {self.police.text()}"
        if self.set_dscp is not None:
            yield f" set ip-dscp {self.set_dscp}"
        if self.set_dot1p is not None:
            yield f" set mac-dot1p {self.set_dot1p}"


@dataclass
class OutputPolicy:
    """``qos-policy-output``: what one egress queue gets."""

    name: str
    percentage: int | None = None
    limit: Meter | None = None
    shape: Rate | None = None
    wred: dict[str, str] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        yield f"qos-policy-output {self.name}"
        if self.percentage is not None:
            yield f" bandwidth-percentage {self.percentage}"
        if self.limit:
            yield f" rate-limit {self.limit.text()}"
        if self.shape:
            yield f" rate-shape {self.shape.text()}"
        yield from (f" wred {colour} {self.wred[colour]}" for colour in sorted(self.wred))


@dataclass
class WredProfile:
    """``wred-profile``: thresholds in KB."""

    name: str
    low: int = NEW_WRED[0]
    high: int = NEW_WRED[1]

    def lines(self) -> Iterator[str]:
        yield f"wred-profile {self.name}"
        if (self.low, self.high) != NEW_WRED:
            yield f" threshold min {self.low} max {self.high}"


@dataclass
class Service:
    """One ``service-queue`` line."""

    class_map: str = ""
    qos_policy: str = ""

    def text(self, queue: int) -> str:
        classed = f" class-map {self.class_map}" if self.class_map else ""
        policy = f" qos-policy {self.qos_policy}" if self.qos_policy else ""
        return f"service-queue {queue}{classed}{policy}"


@dataclass
class PolicyMap:
    """``policy-map-input`` or ``policy-map-output`` (``direction``)."""

    name: str
    direction: str
    layer2: bool = False
    services: dict[int, Service] = field(default_factory=dict)
    aggregate: str = ""
    trust: str = ""
    fallback: bool = False

    def lines(self) -> Iterator[str]:
        yield f"policy-map-{self.direction} {self.name}" + (" layer2" if self.layer2 else "")
        if self.trust:
            yield f" trust {self.trust}" + (" fallback" if self.fallback else "")
        if self.aggregate:
            yield f" policy-aggregate {self.aggregate}"
        yield from (f" {self.services[queue].text(queue)}" for queue in sorted(self.services))


@dataclass
class Interface:
    """One interface; ``number`` is ``slot/port`` or a plain number."""

    family: str
    number: str
    address: str = ""
    shutdown: bool = True
    options: dict[str, str] = field(default_factory=dict)
    policies: dict[str, str] = field(default_factory=dict)
    layer2_policy: bool = False
    port_qos: PortQos = field(default_factory=PortQos)
    members: dict[str, list[str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.family} {self.number}"

    @property
    def physical(self) -> bool:
        return "/" in self.number

    def lines(self) -> Iterator[str]:
        yield f"interface {self.name}"
        if "description" in self.options:
            yield f" {self.options['description']}"
        yield f" ip address {self.address}" if self.address else " no ip address"
        yield from (f" {text}" for key, text in sorted(self.options.items()) if key != "description")
        yield from (f" {line}" for line in self.port_qos.lines())
        yield from (f" {how} {port}" for how in sorted(self.members) for port in self.members[how])
        for direction in ("input", "output"):
            if direction in self.policies:
                layer2 = " layer2" if direction == "input" and self.layer2_policy else ""
                yield f" service-policy {direction} {self.policies[direction]}{layer2}"
        yield " shutdown" if self.shutdown else " no shutdown"


@dataclass
class Block:
    """A block the box only keeps: routing process, terminal line, spanning tree."""

    head: str
    body: dict[str, str] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        yield self.head
        yield from (f" {line}" for line in self.body.values())


@dataclass
class Chassis:
    """The whole running configuration of one chassis."""

    version: str = VERSION
    hostname: str = "Force10"
    plain: Section = field(default_factory=lambda: Section(""))
    acls: dict[str, AccessList] = field(default_factory=dict)
    mac_acls: dict[str, AccessList] = field(default_factory=dict)
    class_maps: dict[str, ClassMap] = field(default_factory=dict)
    input_policies: dict[str, InputPolicy] = field(default_factory=dict)
    output_policies: dict[str, OutputPolicy] = field(default_factory=dict)
    wred: dict[str, WredProfile] = field(default_factory=dict)
    policy_maps: dict[str, dict[str, PolicyMap]] = field(default_factory=lambda: {"input": {}, "output": {}})
    strict_queue: int | None = None
    interfaces: dict[str, Interface] = field(default_factory=dict)
    blocks: dict[str, Block] = field(default_factory=dict)

    @property
    def release(self) -> tuple[int, ...]:
        """The version as numbers."""
        return tuple(int(part) for part in self.version.split(".") if part.isdigit())

    @property
    def name_length(self) -> int:
        """Longest name of a QoS object: 16 before FTOS 8.2.1.0, 32 since."""
        return 32 if self.release >= (8, 2, 1) else 16

    @property
    def acl_name_length(self) -> int:
        """Longest access-list name: 16 before FTOS 7.8.1.0, 140 since (Z9000 command reference p. 241)."""
        return 140 if self.release >= (7, 8, 1) else 16

    def lists(self, kind: str) -> dict[str, AccessList]:
        """Access-lists by name: MAC lists have names of their own."""
        return self.mac_acls if kind == "mac" else self.acls

    def thresholds(self, profile: str) -> tuple[int, int]:
        """Thresholds in KB of a built-in or configured profile."""
        if profile in PREDEFINED_WRED:
            return PREDEFINED_WRED[profile]
        return self.wred[profile].low, self.wred[profile].high

    def users_of_acl(self, kind: str, name: str) -> list[str]:
        """Class maps that refer to a list; layer-2 ones refer to MAC lists."""
        maps = (held for held in self.class_maps.values() if held.layer2 == (kind == "mac"))
        return [held.name for held in maps if any(match.acl == name for match in held.matches)]

    def users_of_class(self, name: str) -> list[str]:
        maps = self.policy_maps["input"].values()
        return [p.name for p in maps if any(s.class_map == name for s in p.services.values())]

    def users_of_policy(self, direction: str, name: str) -> list[str]:
        """Policy maps of one direction that use the QoS policy ``name``."""
        return [
            p.name
            for p in self.policy_maps[direction].values()
            if p.aggregate == name or any(s.qos_policy == name for s in p.services.values())
        ]

    def users_of_wred(self, name: str) -> list[str]:
        """Output policies and ports (storm control) that a WRED profile serves."""
        ports = (i for i in self.interfaces.values() if i.options.get("storm-control", "").split()[-1:] == [name])
        return [
            *(policy.name for policy in self.output_policies.values() if name in policy.wred.values()),
            *(interface.name for interface in ports),
        ]

    def channel_of(self, port: str) -> str:
        """The port-channel that a port is a member of; "" when of none."""
        for interface in self.interfaces.values():
            members = interface.members.get("channel-member", [])
            if any(port in listed(member) for member in members):
                return interface.name
        return ""

    def users_of_map(self, direction: str, name: str) -> list[str]:
        return [i.name for i in self.interfaces.values() if i.policies.get(direction) == name]

    def sections(self) -> Iterator[tuple[str, list[str]]]:
        """Every block with the keyword that ``show running-config KEYWORD`` selects it by."""
        yield "hostname", [f"hostname {self.hostname}"]
        if self.plain:
            yield "system", list(self.plain.lines())
        quoted = [] if "qos-rate-adjust" in self.plain else ["no qos-rate-adjust"]
        if self.strict_queue is not None:
            quoted.append(f"strict-priority unicast {self.strict_queue}")
        if quoted:
            yield "qos", quoted
        for acl in (*self.acls.values(), *self.mac_acls.values()):
            yield "acl", list(acl.lines())
        for class_map in self.class_maps.values():
            yield "class-map", list(class_map.lines())
        for ingress in self.input_policies.values():
            yield "qos-policy-input", list(ingress.lines())
        for profile in self.wred.values():
            yield "wred-profile", list(profile.lines())
        for egress in self.output_policies.values():
            yield "qos-policy-output", list(egress.lines())
        for direction in ("input", "output"):
            for policy in self.policy_maps[direction].values():
                yield f"policy-map-{direction}", list(policy.lines())
        for interface in sorted(self.interfaces.values(), key=interface_order):
            yield "interface", list(interface.lines())
        for block in self.blocks.values():
            yield block.head.split()[0], list(block.lines())


def interface_order(interface: Interface) -> tuple[int, tuple[int, ...]]:
    """Sort key: families in chassis order, then slot and port by number."""
    numbers = tuple(int(part) for part in interface.number.split("/"))
    return list(SHORT_NAMES).index(interface.family), numbers
