"""The device request: one device's part of an intent, resolved against the inventory."""

from __future__ import annotations

from enum import StrEnum

from qosforge.frozen import FrozenModel
from qosforge.intent.applications import Application
from qosforge.intent.models import RESERVED_CLASS, FragmentMethod, Mark, Treatment
from qosforge.intent.scope import PortShape, Trust
from qosforge.inventory.models import Circuit, DeviceRole, Framing
from qosforge.memoise import memoise_by_value


class RequestModel(FrozenModel):
    """Base of the request's models."""


class Feature(StrEnum):
    """What the language has beyond its core (applications, DSCP, CoS, marks, priority, bandwidth, WRED).

    A platform declares those that it lowers; what it does not declare is refused before it is asked. The values
    are the words of findings.
    """

    MATCH_PRECEDENCE = "a match by IP precedence"
    MATCH_FLOW = "a match by protocol, IPv4 prefixes or ports"
    MATCH_IPV6 = "a match by IPv6 prefixes"
    MATCH_VLAN = "a match by VLAN"
    MATCH_MAC = "a match by MAC address"
    MATCH_INPUT_INTERFACE = "a match by input interface"
    MATCH_MPLS = "a match by MPLS experimental bits"
    MATCH_QOS_GROUP = "a match by QoS group"
    MATCH_NONE = "a match by what a packet is not ('none')"
    MARK_PRECEDENCE = "marking an IP precedence"
    MARK_OUTPUT = "marking on output"
    MARK_DROP_PRECEDENCE = "marking a drop precedence"
    MARK_MPLS = "marking MPLS experimental bits"
    MARK_QOS_GROUP = "marking a QoS group"
    KEEP_MARK = "marks that what no class takes keeps"
    QUEUE_LIMIT = "a queue limit in packets"
    QUEUE_LIMIT_BYTES = "a queue limit in bytes"
    QUEUE_LIMIT_TIME = "a queue limit in time"
    QUEUE_LIMIT_PERCENT = "a queue limit in per cent"
    BUFFERS = "a part of a port's buffers"
    POLICE_INPUT = "policing on input"
    POLICE_OUTPUT = "policing on output"
    POLICE_TWO_BUCKETS = "policing with two buckets"
    POLICE_PERCENT = "policing at a percentage of the rate"
    POLICE_REMARK = "remarking by a policer"
    POLICE_CONFORM = "marking by a policer what conforms"
    SHAPE = "shaping of a class"
    SHAPE_PERCENT = "shaping of a class at a percentage of the rate"
    SHAPE_BURST = "a burst of a shaper"
    SHAPE_PORT = "shaping of a port"
    STRICT = "priority without a cap"
    PRIORITY_BURST = "a burst of a priority class"
    WEIGHT = "a bandwidth by weight"
    FAIR_QUEUE = "fair queueing among the flows of a class"
    WRED_PROFILES = "WRED profiles"
    WRED_PERCENT = "WRED profiles in per cent"
    WRED_WEIGHT = "a weight of the WRED average"
    ECN = "explicit congestion notification"
    BOUNDED = "a bounded class"
    LEVEL = "an order of service among classes within their shares"
    CHILDREN = "classes below a class"
    TRUST = "an input that trusts the marks of packets"
    TUNNELS = "packets of tunnels that are told by what they carry"
    COS_TO_DSCP = "a DSCP of its own for each CoS"
    TRUST_PHONE = "trust of an IP phone"
    REQUIRES_PHONE = "an input that recognises classes while an IP phone is at the port"
    TRANSMIT_RING = "the length of the transmit ring"
    HEADER_COMPRESSION = "compression of RTP headers"
    FRAGMENTS = "fragments of a size that blocks the link for a short time only"


class TermRequest(RequestModel):
    """One alternative of a class: all given fields hold, each field lists alternatives.

    The fields are those of the language; ports are inclusive ranges.
    """

    dscp: tuple[int, ...] = ()
    cos: tuple[int, ...] = ()
    application: str | None = None
    precedence: tuple[int, ...] = ()
    protocol: tuple[int, ...] = ()
    source: tuple[str, ...] = ()
    destination: tuple[str, ...] = ()
    source_port: tuple[tuple[int, int], ...] = ()
    destination_port: tuple[tuple[int, int], ...] = ()
    vlan: tuple[int, ...] = ()
    source_mac: tuple[str, ...] = ()
    destination_mac: tuple[str, ...] = ()
    input_interface: tuple[str, ...] = ()
    mpls_experimental: tuple[int, ...] = ()
    qos_group: tuple[int, ...] = ()

    @property
    def set_fields(self) -> tuple[str, ...]:
        """Names of the fields that ask for something."""
        fields = vars(self)
        return tuple([name for name in _TERM_FIELDS if fields[name]])


_TERM_FIELDS = tuple(TermRequest.model_fields)


class ClassRequest(RequestModel):
    """A class as this device must serve it; the last one is always ``default``.

    ``terms`` say what the intent lists (none where it says only what a class is not), ``none_of`` what must not
    hold beside.
    """

    name: str
    line: int | None = None
    terms: tuple[TermRequest, ...] = ()
    none_of: tuple[TermRequest, ...] = ()
    mark: Mark | None = None
    keep_mark: bool = False
    """Whether the packets of the class of everything else keep their marks, where a device would clear them."""
    treatment: Treatment = Treatment()
    remarked: tuple[int, ...] = ()
    """DSCPs that the class's policer writes instead of its mark, at this device or before it."""
    remarked_precedences: tuple[int, ...] = ()
    children: tuple[ClassRequest, ...] = ()
    """The classes that divide this one, the last one ``default``; those of ``treatment`` are not looked at."""

    @property
    def recognised_by(self) -> TermRequest | None:
        """The marks by which a device behind the edge tells the class; None where it carries none.

        Its own is the first, those that its policer writes instead follow.
        """
        mark = self.mark.recognised_by if self.mark else None
        if mark is None:
            return None
        field, value = mark
        others = self.remarked if field == "dscp" else self.remarked_precedences
        return _marked(field, tuple(dict.fromkeys((value, *others))))

    @property
    def is_default(self) -> bool:
        """Whether this is the class of everything else."""
        return self.name == RESERVED_CLASS


@memoise_by_value(1024)
def _marked(field: str, values: tuple[int, ...]) -> TermRequest:
    return TermRequest(**{field: values})


class EfficiencyRequest(RequestModel):
    """Link efficiency wanted on one interface; ``fragment_bytes`` is never rounded up.

    ``methods`` are the ways to fragment that are allowed, the preferred one first.
    """

    header_compression: bool = False
    fragment_bytes: int | None = None
    blocking_delay: float | None = None
    methods: tuple[FragmentMethod, ...] = ("frf12", "multilink", "ip-mtu")
    transmit_ring: int | None = None
    transmit_ring_prefer: bool = True
    prefer: bool = True


class InterfaceRequest(RequestModel):
    """What is wanted at one interface."""

    name: str
    rate: int
    usable: int
    framing: Framing
    tagged: bool = False
    voice_vlan: bool = False
    """Whether phones at the port send frames with the tag of a voice VLAN."""
    recognise: bool = False
    """Recognise and mark classes on input (an edge); otherwise marks are trusted where ``trust`` is set."""
    requires_phone: bool = False
    """Whether classes are recognised only while the device sees an IP phone at the port."""
    trust: bool = False
    schedule: bool = False
    by_mark: bool = False
    """Whether the classes served here are told by the marks that inputs have set, whatever they match."""
    trust_in: Trust | None = None
    """What the intent says this input trusts; None leaves it to the platform."""
    shape: int | None = None
    """Bits per second that the port sends at most: asked for, or its contract where that is below its rate."""
    shape_prefer: bool = False
    below_rate: bool = False
    """Whether the contract of the port is below its rate: where nothing shapes it, its queues never fill."""
    shaping: PortShape | None = None
    """How the intent says that ``shape``: as a percentage, and with bursts; None where nobody asked for it."""
    member: str | None = None
    """The physical line of a bundle, where it is known."""
    tunnels: tuple[str, ...] = ()
    """Interfaces of the device whose packets leave here and are told by what they carry."""
    lag: str | None = None
    """The link aggregation that the port is a member of."""
    circuit: Circuit | None = None
    input_policy: str | None = None
    output_policy: str | None = None
    efficiency: EfficiencyRequest | None = None


class DeviceRequest(RequestModel):
    """What lowering starts from."""

    device: str
    platform: str
    image: str
    role: DeviceRole
    features: frozenset[str] = frozenset()
    intent: str
    tolerance: float
    classes: tuple[ClassRequest, ...]
    interfaces: tuple[InterfaceRequest, ...]
    applications: dict[str, Application]
    cos_to_dscp: tuple[int, ...] | None = None
    """The DSCPs of CoS 0 to 7 where the intent gives them; those that classes mark with both go before."""
