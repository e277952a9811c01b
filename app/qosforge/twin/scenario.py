"""The twin's scenario: a network, what is sent through it, and for how long. Times are picoseconds."""

from __future__ import annotations

from typing import Literal

import msgspec

from qosforge.twin.filters import EVERYTHING, Colour, ListedPolice, MarkSpec, MatchSpec, PolicerSpec
from qosforge.twin.part import ScenarioPart
from qosforge.twin.schedulers import SchedulerSpec, ShapeSpec
from qosforge.twin.sources import SourceSpec

PS = 10**12

DelayReference = Literal["arrival", "first_bit"]
EcnSpec = Literal["not_ect", "ect"]
FramingSpec = Literal["none", "ethernet", "hdlc", "ppp", "mlppp", "frame_relay", "atm", "atm_mux"]
RedUnit = Literal["packets", "bytes", "percent", "ps"]
Spacing = Literal["independent", "uniform"]
Switching = Literal["store_and_forward", "cut_through"]

PortName = tuple[str, str]
"""Node and port."""


class FlowOrderSpec(ScenarioPart, frozen=True, kw_only=True):
    """Fair queueing of the flows in one queue."""

    dynamic_queues: int = 256


class ThresholdSpec(ScenarioPart, frozen=True, kw_only=True):
    """A depth from which on the packets that match are dropped (weighted tail drop)."""

    match: MatchSpec = EVERYTHING
    packets: int | None = None
    bytes: int | None = None
    percent: int | None = None


class RedProfileSpec(ScenarioPart, frozen=True, kw_only=True):
    """Random early detection of packets with these marks."""

    match_dscp: tuple[int, ...] | None = None
    precedence: tuple[int, ...] | None = None
    cos: tuple[int, ...] | None = None
    colour: tuple[Colour, ...] | None = None
    min: int
    max: int
    mark_denominator: int


class RedSpec(ScenarioPart, frozen=True, kw_only=True):
    """Random early detection."""

    weight_exponent: int = 9
    unit: RedUnit = "packets"
    mean_packet_bytes: int = 500
    idle_decay: bool = True
    gentle: bool = False
    spacing: Spacing = "independent"
    ecn: bool = False
    profiles: tuple[RedProfileSpec, ...] = ()
    default: RedProfileSpec | None = None


class QueueSpec(ScenarioPart, frozen=True, kw_only=True):
    """A queue; it has a limit or a pool."""

    name: str
    limit_packets: int | None = None
    limit_bytes: int | None = None
    limit_ps: int | None = None
    drain_bps: int | None = None
    red: RedSpec | None = None
    thresholds: tuple[ThresholdSpec, ...] = ()
    police: PolicerSpec | None = None
    pool: str | None = None
    reserved_packets: int | None = None
    reserved_bytes: int | None = None
    alpha: float | None = None
    fair_queue: FlowOrderSpec | None = None


class PoolSpec(ScenarioPart, frozen=True, kw_only=True):
    """A buffer that queues share."""

    name: str
    packets: int | None = None
    bytes: int | None = None


class IngressRule(ScenarioPart, frozen=True, kw_only=True):
    """Marks and polices what comes in and matches."""

    match: MatchSpec = EVERYTHING
    set: MarkSpec | None = None
    police: PolicerSpec | None = None


class IngressOtherwise(ScenarioPart, frozen=True, kw_only=True):
    """What no rule takes on its way in."""

    dscp: int | None = None
    precedence: int | None = None
    cos: int | None = None
    group: int | None = None
    colour: Colour | None = None
    police: PolicerSpec | None = None


UNCHANGED = IngressOtherwise()


class IngressSpec(ScenarioPart, frozen=True, kw_only=True):
    """Policers and rules for what comes in."""

    police: tuple[ListedPolice, ...] = ()
    rules: tuple[IngressRule, ...] = ()
    otherwise: IngressOtherwise = UNCHANGED


class EgressRule(ScenarioPart, frozen=True, kw_only=True):
    """Chooses the queue of what matches."""

    match: MatchSpec = EVERYTHING
    queue: int
    set: MarkSpec | None = None
    police: PolicerSpec | None = None


class EgressOtherwise(ScenarioPart, frozen=True, kw_only=True):
    """What no rule takes on its way out."""

    queue: int = 0
    set: MarkSpec | None = None
    police: PolicerSpec | None = None


INTO_FIRST = EgressOtherwise()


class SeriesSpec(ScenarioPart, frozen=True, kw_only=True):
    """Report what left each queue by interval."""

    every_ps: int


class EgressSpec(ScenarioPart, frozen=True, kw_only=True):
    """Queueing of what leaves."""

    police: tuple[ListedPolice, ...] = ()
    rules: tuple[EgressRule, ...] = ()
    otherwise: EgressOtherwise = INTO_FIRST
    queues: tuple[QueueSpec, ...] = ()
    pools: tuple[PoolSpec, ...] = ()
    scheduler: SchedulerSpec
    shape: ShapeSpec | None = None
    tx_fifo_packets: int = 1
    tx_fifo_bytes: int = 0
    extra_gap_ps: int = 0
    fragment_bytes: int | None = None
    interleave: bool = False
    multiclass: bool = False
    header_compression: bool = False
    compressed_header_bytes: int = 4
    ip_mtu: int | None = None
    wait_histogram: bool = False
    series: SeriesSpec | None = None


class PortSpec(ScenarioPart, frozen=True, kw_only=True):
    """A port; without ``egress`` a queue of 1000 packets in order of arrival."""

    name: str
    ingress: IngressSpec | None = None
    egress: EgressSpec | None = None


class NodeSpec(ScenarioPart, frozen=True, kw_only=True):
    """A device or a host."""

    name: str
    latency_ps: int = 0
    latency_jitter_ps: int = 0
    per_packet_ps: int = 0
    input_queue_packets: int | None = None
    switching: Switching = "store_and_forward"
    cut_through_bytes: int | None = None
    ports: tuple[PortSpec, ...] = ()
    pools: tuple[PoolSpec, ...] = ()


class LinkSpec(ScenarioPart, frozen=True, kw_only=True):
    """A full-duplex link of two ports."""

    a: PortName
    b: PortName
    rate_bps: int
    delay_ps: int = 0
    framing: FramingSpec
    tagged: bool = False
    short_sequence: bool = False


class PacketSpec(ScenarioPart, frozen=True, kw_only=True):
    """Header fields of a flow's packets."""

    dscp: int = 0
    cos: int = 0
    protocol: int | None = None
    src: str | None = None
    dst: str | None = None
    src_port: int | None = None
    dst_port: int | None = None
    application: str | None = None
    vlan: int | None = None
    src_mac: str | None = None
    dst_mac: str | None = None
    ecn: EcnSpec = "not_ect"


PLAIN = PacketSpec()


class FlowSpec(ScenarioPart, frozen=True, kw_only=True):
    """A stream of packets along ``path``, the egress ports hop by hop."""

    name: str
    path: tuple[PortName, ...]
    return_path: tuple[PortName, ...] | None = None
    packet: PacketSpec = PLAIN
    source: SourceSpec
    samples: bool = False
    sample_every: int = 1
    histogram: bool = True
    hops: bool = False


class TwinScenario(ScenarioPart, frozen=True, kw_only=True):
    """A network, what is sent through it, and for how long."""

    version: int
    duration_ps: int
    cool_down_ps: int = 0
    warmup_ps: int = 0
    drain: bool = True
    delay_reference: DelayReference = "arrival"
    nodes: tuple[NodeSpec, ...]
    links: tuple[LinkSpec, ...]
    flows: tuple[FlowSpec, ...]

    def json(self) -> str:
        """The text that the twin reads."""
        return msgspec.json.encode(self).decode()
