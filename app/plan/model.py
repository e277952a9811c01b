"""The plan: what one device does, vendor-neutral but in numbers its hardware holds.

Lowering makes it from a device request, parsing makes it from a running configuration; the two are equal
when the box holds what was meant.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Base of the plan's models."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class PortRange(Model):
    """Inclusive range of transport ports."""

    first: int
    last: int


class Term(Model):
    """One alternative of a classifier: all given fields hold, each field lists alternatives.

    ``application`` is a name of the catalogue that the box itself recognises (deep inspection). MAC addresses are
    written ``001b.54aa.bbcc``.
    """

    dscp: tuple[int, ...] = ()
    cos: tuple[int, ...] = ()
    precedence: tuple[int, ...] = ()
    application: str | None = None
    protocol: int | None = None
    source: str | None = None
    destination: str | None = None
    source_ports: tuple[PortRange, ...] = ()
    destination_ports: tuple[PortRange, ...] = ()
    source_mac: str | None = None
    destination_mac: str | None = None
    input_interface: str | None = None


class Policer(Model):
    """Single-rate token bucket: bits per second and bytes.

    What exceeds is dropped, or sent with ``exceed_dscp``.
    """

    rate: int
    burst: int
    exceed_dscp: int | None = None


class Rule(Model):
    """A classifier with what happens to its packets; the first rule that matches wins.

    ``name`` is what the box calls the class. One of ``any_of`` must hold and none of ``none_of``. ``queue`` is a
    queue chosen here for the egress (boxes that choose it on input).
    """

    name: str
    any_of: tuple[Term, ...] = ()
    none_of: tuple[Term, ...] = ()
    set_dscp: int | None = None
    set_cos: int | None = None
    police: Policer | None = None
    queue: int | None = None


class Trust(StrEnum):
    """What an ingress does with the marks of packets that no rule sets.

    ``keep``: nothing changes (routers; switches whose QoS is off). ``dscp`` and ``cos``: that mark is kept and
    the other is derived through the box's map. ``none``: both become zero.
    """

    KEEP = "keep"
    DSCP = "dscp"
    COS = "cos"
    NONE = "none"


class Ingress(Model):
    """Input side of an interface; ``policy`` is what the box calls the list of rules."""

    policy: str | None = None
    trust: Trust = Trust.KEEP
    port_cos: int = 0
    rules: tuple[Rule, ...] = ()


class Discipline(StrEnum):
    """How queues share a port."""

    FIFO = "fifo"
    FLOW_WFQ = "flow-wfq"
    LLQ_CBWFQ = "llq-cbwfq"
    STRICT = "strict"
    WRR = "wrr"
    SRR = "srr"
    WFQ = "wfq"


class RedProfile(Model):
    """One drop profile: thresholds in ``unit``, probability ``1/denominator`` at the upper threshold."""

    dscp: tuple[int, ...] = ()
    precedence: tuple[int, ...] = ()
    minimum: int
    maximum: int
    denominator: int = 10


class Red(Model):
    """Random early detection of a queue."""

    by_dscp: bool = False
    weight_exponent: int = 9
    unit: str = "packets"
    profiles: tuple[RedProfile, ...] = ()


class ShareUnit(StrEnum):
    """Unit in which a box holds a guaranteed share."""

    KBPS = "kbps"
    PERCENT = "percent"
    REMAINING_PERCENT = "remaining-percent"
    WEIGHT = "weight"


class Share(Model):
    """A guaranteed share as the box holds it."""

    unit: ShareUnit
    value: int


class Queue(Model):
    """One queue. ``number`` is the box's own number, or the position in its policy."""

    number: int
    name: str | None = None
    priority: bool = False
    share: Share | None = None
    capped: bool = False
    """Whether a priority queue is policed to its share (LLQ)."""
    limit_packets: int | None = None
    red: Red | None = None
    fair: bool = False
    shape_weight: int | None = None
    """SRR shaping: the queue gets at most one part in this many of the port's rate, and takes no share."""
    shape_rate: int | None = None
    """Bits per second that the queue sends at most; what exceeds waits."""


class Scheduler(Model):
    """Queues and the discipline that serves them, in the box's own order.

    ``STRICT`` lists its queues in the order of service, first served first. ``limit_percent`` is what a port may
    send of its rate, where the box limits it.
    """

    discipline: Discipline
    queues: tuple[Queue, ...] = ()
    limit_percent: int | None = None


class Egress(Model):
    """Output side of an interface; ``rules`` choose queues by number (of policies that classify on output)."""

    policy: str | None = None
    rules: tuple[Rule, ...] = ()
    default_queue: int | None = None
    scheduler: Scheduler | None = None


class Efficiency(Model):
    """Link efficiency in force on an interface."""

    header_compression: bool = False
    multilink: bool = False
    interleave: bool = False
    fragment_delay_ms: int | None = None
    fragment_bytes: int | None = None
    ip_mtu: int | None = None


class InterfacePlan(Model):
    """One interface; ``bandwidth_kbps`` is what the box believes its rate to be (where it has such a setting)."""

    name: str
    bandwidth_kbps: int | None = None
    ingress: Ingress = Ingress()
    egress: Egress = Egress()
    efficiency: Efficiency = Efficiency()


class System(Model):
    """Device-wide QoS state. Maps have one entry per CoS (8) or DSCP (64)."""

    cos_to_dscp: tuple[int, ...] | None = None
    dscp_to_cos: tuple[int, ...] | None = None
    cos_to_queue: tuple[int, ...] | None = None
    dscp_to_queue: tuple[int, ...] | None = None
    scheduler: Scheduler | None = None
    queue_set: int | None = None
    queue_on_input: bool | None = None
    """Whether queues are chosen on input: by a rule, or through a map where the ingress trusts a mark."""


class UnknownLine(Model):
    """A line that parsing does not understand, verbatim."""

    line: int
    text: str
    context: str = ""


class Plan(Model):
    """What one device does."""

    schema_version: int = 1
    device: str
    platform: str
    system: System = System()
    interfaces: tuple[InterfacePlan, ...] = ()
    unknown: tuple[UnknownLine, ...] = ()

    def interface(self, name: str) -> InterfacePlan | None:
        """The interface of this name, if the plan has it."""
        return next((entry for entry in self.interfaces if entry.name == name), None)
