"""The plan: what one device does, vendor-neutral but in numbers its hardware holds.

Lowering makes it from a device request, parsing makes it from a running configuration; the two are equal
when the device holds what was meant.
"""

from __future__ import annotations

from enum import StrEnum

from qosforge.plan.base import PlanModel
from qosforge.plan.early_drop import DropPrecedence, Red, TailThreshold
from qosforge.plan.input_queues import InputQueues
from qosforge.plan.unknown_line import UnknownLine


class PortRange(PlanModel):
    """Inclusive range of transport ports."""

    first: int
    last: int


class Term(PlanModel):
    """One alternative of a classifier: all given fields hold, each field lists alternatives.

    ``application`` is a name of the catalogue that the device itself recognises (deep inspection). Prefixes are of
    one IP version. MAC addresses are written ``001b.54aa.bbcc``.
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
    vlan: tuple[int, ...] = ()
    mpls_experimental: tuple[int, ...] = ()
    """Of the topmost label; what carries none matches nothing."""
    qos_group: tuple[int, ...] = ()
    """A number that the device's own inputs give a packet, and which does not leave it."""


class Action(PlanModel):
    """What a policer does with a packet: drops it, or sends it, with one other mark where one is given.

    ``proceed`` hands the packet to the next policer of the interface instead of sending it (CAR ``continue``).
    """

    drop: bool = False
    set_dscp: int | None = None
    set_precedence: int | None = None
    set_cos: int | None = None
    proceed: bool = False


TRANSMIT = Action()
DROP = Action(drop=True)


class Policer(PlanModel):
    """Token buckets: bits per second and bytes.

    One bucket unless ``excess_burst`` is given; with ``peak_rate`` the second is filled at that rate (RFC 2698),
    without by what the first leaves (RFC 2697). ``violate`` is None where it is the same as ``exceed``.

    Where the device holds percentages (``percent``, ``peak_percent``), whose bursts are times (``burst_ms``,
    ``excess_burst_ms``), rates and bursts are what these come to at the interface (`qosforge.plan.percentages`).
    """

    rate: int = 0
    burst: int = 0
    peak_rate: int | None = None
    excess_burst: int | None = None
    percent: int | None = None
    peak_percent: int | None = None
    burst_ms: int | None = None
    excess_burst_ms: int | None = None
    conform: Action = TRANSMIT
    exceed: Action = DROP
    violate: Action | None = None


class InterfacePolicer(PlanModel):
    """A policer on an interface before any policy (CAR); they are asked in order until one sends or drops.

    ``any_of`` are the packets it looks at, all of them where empty; ``access_list`` is what the device calls them.
    """

    any_of: tuple[Term, ...] = ()
    access_list: str | None = None
    police: Policer


class Rule(PlanModel):
    """A classifier with what happens to its packets; the first rule that matches wins.

    ``name`` is what the device calls the class. One of ``any_of`` must hold and none of ``none_of``. ``queue`` is a
    queue chosen here for the egress (devices that choose it on input). ``ipv4`` where marks, or flows without
    addresses, are told in packets of IPv4 alone.
    """

    name: str
    any_of: tuple[Term, ...] = ()
    none_of: tuple[Term, ...] = ()
    ipv4: bool = False
    set_dscp: int | None = None
    set_cos: int | None = None
    set_precedence: int | None = None
    set_drop_precedence: DropPrecedence | None = None
    set_qos_group: int | None = None
    set_mpls_imposition: int | None = None
    """The EXP of the labels that the device puts on."""
    set_mpls_topmost: int | None = None
    """The EXP of the topmost label of what has one already."""
    police: Policer | None = None
    queue: int | None = None

    @property
    def writes(self) -> bool:
        """Whether it writes a mark into its packets, or a QoS group beside them."""
        return any(value is not None for name, value in vars(self).items() if name.startswith("set_"))


class Trust(StrEnum):
    """What an ingress does with the marks of packets that no rule sets.

    ``keep``: nothing changes (routers; switches whose QoS is off). ``dscp`` and ``cos``: that mark is kept and the
    other is derived through the device's map. ``none``: both become zero, or the CoS alone (see `System`).
    ``phone``: as ``cos``, or ``keep`` on a device without such maps, while the device sees an IP phone at the port,
    else ``none``.
    """

    KEEP = "keep"
    DSCP = "dscp"
    COS = "cos"
    NONE = "none"
    PHONE = "phone"


class Ingress(PlanModel):
    """Input side of an interface; ``policy`` is what the device calls the list of rules."""

    policy: str | None = None
    trust: Trust = Trust.KEEP
    port_cos: int = 0
    rules: tuple[Rule, ...] = ()
    policers: tuple[InterfacePolicer, ...] = ()


class Discipline(StrEnum):
    """How queues share a port."""

    FIFO = "fifo"
    FLOW_WFQ = "flow-wfq"
    LLQ_CBWFQ = "llq-cbwfq"
    STRICT = "strict"
    WRR = "wrr"
    SRR = "srr"
    WFQ = "wfq"
    DRR = "drr"


class ShareUnit(StrEnum):
    """Unit in which a device holds a guaranteed share."""

    KBPS = "kbps"
    PERCENT = "percent"
    REMAINING_PERCENT = "remaining-percent"
    WEIGHT = "weight"
    """A part of what priority leaves, in proportion to its neighbours; 1 where a queue states none."""


class Share(PlanModel):
    """A guaranteed share as the device holds it."""

    unit: ShareUnit
    value: int


class Queue(PlanModel):
    """One queue. ``number`` is the device's own number, or the position in its policy."""

    number: int
    name: str | None = None
    priority: bool = False
    share: Share | None = None
    capped: bool = False
    """Whether a priority queue is policed to its share (LLQ)."""
    limit_packets: int | None = None
    red: Red | None = None
    fair: bool = False
    """Whether the flows in it are served in turn; ``flows`` are those told apart, where the device states that."""
    flows: int | None = None
    shape_weight: int | None = None
    """SRR shaping: the queue gets at most one part in this many of the port's rate, and takes no share."""
    shape_rate: int | None = None
    """Bits per second that the queue sends at most; what exceeds waits."""
    shape_burst_bits: int | None = None
    """What a shaped queue sends at once, where it is said: the shaper lets it go in intervals."""
    shape_percent: int | None = None
    """Where the device holds that as a percentage, of the interface's rate or of what a policy around shapes to."""
    shape_excess_bits: int | None = None
    """What it sends beyond that after an idle time, where it is said."""
    shape_burst_ms: int | None = None
    """The bursts of a percentage, as the device holds them."""
    shape_excess_ms: int | None = None
    burst: int | None = None
    """Bytes that a capped priority queue may send above its share."""
    limit_bytes: int | None = None
    limit_ms: int | None = None
    thresholds: tuple[TailThreshold, ...] = ()
    buffer_percent: int | None = None
    """Part of the port's buffer that is the queue's, where the device divides it."""
    level: int | None = None
    """Order of service among queues that are within their shares (1 first), where the scheduler has one."""
    child: Egress | None = None
    """How the queue is divided among classes of its own (a hierarchical policy)."""
    police: Policer | None = None
    """What the queue takes of what is offered to it, where the device meters its queues."""


class Scheduler(PlanModel):
    """Queues and the discipline that serves them, in the device's own order.

    ``STRICT`` lists its queues in the order of service, first served first. ``limit_percent`` is what a port may
    send of its rate, where the device limits it. ``divides_guarantees`` says that what a queue has for sure is
    divided inside it, where that is less than what it is shaped to. ``decoupled``: what others leave is divided by
    share whatever the priority, so that priority is of delay alone (HFSC).
    """

    discipline: Discipline
    queues: tuple[Queue, ...] = ()
    limit_percent: int | None = None
    divides_guarantees: bool = False
    decoupled: bool = False


class Egress(PlanModel):
    """Output side of an interface, or of one queue; ``rules`` choose queues by number (of policies that classify on
    output).

    ``transmit_ring`` are the packets that the hardware takes in advance, where the device lets that be set.
    ``shape_rate`` are bits per second that the port sends at most, whatever serves its queues: what exceeds waits;
    ``shape_burst`` the bytes of its bucket.
    """

    policy: str | None = None
    rules: tuple[Rule, ...] = ()
    default_queue: int | None = None
    scheduler: Scheduler | None = None
    policers: tuple[InterfacePolicer, ...] = ()
    transmit_ring: int | None = None
    shape_rate: int | None = None
    shape_burst: int | None = None

    @property
    def dividing(self) -> Egress:
        """The policy that divides the rate among classes: that inside, where this one does nothing but shape."""
        queues = self.scheduler.queues if self.scheduler else ()
        inside = queues[0].child if len(queues) == 1 and queues[0].share is None else None
        return self if inside is None else inside


class Efficiency(PlanModel):
    """Link efficiency in force on an interface.

    ``multiclass`` is the RFC 2686 form of interleaving; ``frame_relay_fragment`` bytes are those of FRF.12.
    """

    header_compression: bool = False
    multilink: bool = False
    interleave: bool = False
    multiclass: bool = False
    frame_relay_fragment: int | None = None
    fragment_delay_ms: int | None = None
    fragment_bytes: int | None = None
    ip_mtu: int | None = None


class CircuitPlan(PlanModel):
    """A virtual circuit that carries an interface's traffic: an ATM PVC (VPI and VCI) or a Frame Relay DLCI.

    ``sustained`` and ``peak`` are its traffic contract in bits per second, ``burst`` in cells (ATM) or bits.
    """

    vpi: int | None = None
    vci: int | None = None
    dlci: int | None = None
    sustained: int | None = None
    peak: int | None = None
    burst: int | None = None


class TunnelGroup(PlanModel):
    """The policy that each tunnel of a group gets, where the far end says which group it is of (NHRP)."""

    group: str
    egress: Egress


class InterfacePlan(PlanModel):
    """One interface; ``bandwidth_kbps`` is the rate that the device assumes it to have (where it has such a
    setting).

    ``reservable_percent`` is what of it classes may reserve, where the device states that.
    """

    name: str
    bandwidth_kbps: int | None = None
    reservable_percent: int | None = None
    circuit: CircuitPlan | None = None
    ingress: Ingress = Ingress()
    egress: Egress = Egress()
    efficiency: Efficiency = Efficiency()
    groups: tuple[TunnelGroup, ...] = ()


class System(PlanModel):
    """Device-wide QoS state. Maps have one entry per CoS (8) or DSCP (64)."""

    cos_to_dscp: tuple[int, ...] | None = None
    dscp_to_cos: tuple[int, ...] | None = None
    cos_to_queue: tuple[int, ...] | None = None
    dscp_to_queue: tuple[int, ...] | None = None
    scheduler: Scheduler | None = None
    queue_set: int | None = None
    queue_on_input: bool | None = None
    """Whether queues are chosen on input: by a rule, or through a map where the ingress trusts a mark."""
    untrusted_keeps_dscp: bool | None = None
    """Whether an input that trusts no mark leaves the DSCP as it is, and only the CoS becomes the port's."""
    policed_dscp: tuple[int, ...] | None = None
    """DSCP that a policer writes on what exceeds, by the DSCP it had."""
    dropped_first: tuple[int, ...] | None = None
    """DSCPs whose packets the device drops before others of their queue (high drop precedence)."""
    input_queues: InputQueues | None = None
    inside_tunnels: tuple[str, ...] | None = None
    """Tunnels whose packets outputs tell by what they carry, before they are encapsulated."""
    express_forwarding: bool | None = None
    """Whether packets take the path that recognises applications and polices interfaces (IOS: CEF)."""
    ipv6: bool | None = None
    """Whether the device has addresses of IPv6, or forwards it."""
    ietf_circuits: tuple[str, ...] | None = None
    """Interfaces with a Frame Relay circuit of the IETF encapsulation, in which headers are not compressed."""
    encrypting: tuple[str, ...] | None = None
    """Interfaces that encrypt packets before they classify them (a crypto map without ``qos pre-classify``)."""

    def untrusted_dscp(self, port_cos: int) -> int | None:
        """The DSCP that an input which trusts no mark writes, by the CoS of its port; None where it writes none."""
        if self.untrusted_keeps_dscp:
            return None
        return self.cos_to_dscp[port_cos] if self.cos_to_dscp and port_cos else 0


class Plan(PlanModel):
    """What one device does.

    ``foreign_lists`` are the numbers of access lists that others have written on the device, where lists are
    numbered: lowering takes none of them. ``switched`` are the ports that the device has in layer 2, where that
    decides which policies they take. ``filter_masks`` are those of the lists that filter packets on ports, where a
    device has few masks. ``auto_qos`` are ports on which a macro of the device has typed QoS, and may type it anew.
    ``flow_control`` are those that heed or send pause frames, which stop all classes at once. ``schedulers`` are
    those that the device has, where it tells that and it differs between devices of an image;
    ``schedulers_in_use`` those of the queues that it has. ``mtus`` are the bytes of the longest IP packets of
    interfaces by name, where the device tells of longer ones than is usual.
    ``filtered_inputs`` are those where others filter what comes in such that the device takes no filters of ours.
    """

    schema_version: int = 1
    device: str
    platform: str
    system: System = System()
    interfaces: tuple[InterfacePlan, ...] = ()
    unknown: tuple[UnknownLine, ...] = ()
    foreign_lists: tuple[int, ...] = ()
    switched: tuple[str, ...] = ()
    filter_masks: tuple[str, ...] = ()
    auto_qos: tuple[str, ...] = ()
    flow_control: tuple[str, ...] = ()
    schedulers: tuple[str, ...] = ()
    schedulers_in_use: tuple[str, ...] = ()
    mtus: tuple[tuple[str, int], ...] = ()
    filtered_inputs: tuple[str, ...] = ()

    def interface(self, name: str) -> InterfacePlan | None:
        """The interface of this name, if the plan has it."""
        return next((entry for entry in self.interfaces if entry.name == name), None)


Queue.model_rebuild()
