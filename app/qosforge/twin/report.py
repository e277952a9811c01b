"""The twin's result. Times are picoseconds, and of what was not measured ``None``."""

from __future__ import annotations

from functools import cached_property

import msgspec
import numpy as np
from numpy.typing import NDArray

from qosforge.twin.part import ReportPart

Bins = tuple[tuple[int, int], ...]
"""A histogram: upper edge and count of the buckets that are not empty, by rising edge."""


class DelayReport(ReportPart, frozen=True, kw_only=True):
    """Moments and quantiles."""

    mean: float | None
    sd: float | None
    min: int | None
    max: int | None
    p50: int | None
    p90: int | None
    p95: int | None
    p99: int | None
    p999: int | None


class PopulationReport(ReportPart, frozen=True, kw_only=True, dict=True):
    """Times with their number and histogram."""

    count: int
    mean: float | None
    sd: float | None
    min: int | None
    max: int | None
    p50: int | None
    p90: int | None
    p95: int | None
    p99: int | None
    p999: int | None
    histogram: Bins

    @cached_property
    def bins(self) -> NDArray[np.int64]:
        """The histogram as rows of upper edge and count."""
        return _rows(self.histogram)


class GapReport(ReportPart, frozen=True, kw_only=True):
    """Time between arrivals."""

    mean: float | None
    sd: float | None


class RangeReport(ReportPart, frozen=True, kw_only=True):
    """Mean and extremes."""

    mean: float | None
    min: int | None
    max: int | None


class LayerReport(ReportPart, frozen=True, kw_only=True):
    """Bits per second by layer."""

    ip: float
    frame: float
    wire: float


class MinimumReport(ReportPart, frozen=True, kw_only=True):
    """What an empty network would take for the smallest and the largest packet."""

    smallest: int
    largest: int


class HopReport(ReportPart, frozen=True, kw_only=True):
    """One hop of a flow."""

    node: str
    port: str
    lost: int
    lost_input: int
    fixed_ps: int | None
    serialisation_ps: RangeReport
    waiting_ps: DelayReport
    waiting_histogram: Bins


class HopsReport(ReportPart, frozen=True, kw_only=True):
    """A flow's way; ``sizes`` are IP bytes, packets, their least delay, and what the way takes without waiting."""

    steps: tuple[HopReport, ...]
    sizes: tuple[tuple[int, int, int, float], ...]


class ReturnedReport(ReportPart, frozen=True, kw_only=True):
    """Packets on the way back."""

    sent: int
    delivered: int
    lost: int
    unfinished: int
    bytes_delivered: int


class TcpReport(ReportPart, frozen=True, kw_only=True):
    """What TCP did."""

    retransmits: int
    timeouts: int
    acks_sent: int
    acks_lost: int
    ecn_reductions: int
    connections: int
    aborted: int
    rtt_ps: PopulationReport


class TransactionReport(ReportPart, frozen=True, kw_only=True):
    """Requests and responses, or probes and answers; the latter have neither connection nor timer."""

    count: int
    failed: int
    unfinished: int
    timed_out: int
    rtt_ps: PopulationReport
    rtt_without_timeout_ps: PopulationReport | None = None
    total_ps: PopulationReport | None = None


class FlowReport(ReportPart, frozen=True, kw_only=True, dict=True):
    """One flow."""

    name: str
    sent: int
    delivered: int
    lost: int
    unfinished: int
    bytes_delivered: int
    offered_by_layer_bps: LayerReport
    throughput_bps: float
    throughput_by_layer_bps: LayerReport
    delay_ps: DelayReport
    minimum_delay_ps: MinimumReport | None
    interarrival_ps: GapReport
    reordered: int
    histogram: Bins | None
    samples: Bins | None
    hops: HopsReport | None
    returned: ReturnedReport | None
    tcp: TcpReport | None
    transactions: TransactionReport | None

    @cached_property
    def bins(self) -> NDArray[np.int64]:
        """The histogram as rows of upper edge and count."""
        return _rows(self.histogram or ())


class Outcomes(ReportPart, frozen=True, kw_only=True):
    """Packets by a policer's outcome."""

    conform: int
    exceed: int
    violate: int

    @property
    def met(self) -> bool:
        """Whether any packet met the policer."""
        return bool(self.conform or self.exceed or self.violate)


class RuleReport(ReportPart, frozen=True, kw_only=True):
    """What a rule took."""

    packets: int
    bytes: int
    exceeded: int
    police: Outcomes | None


class RuleReports(ReportPart, frozen=True, kw_only=True):
    """One entry for each rule, and a last one for what none took."""

    ingress: tuple[RuleReport, ...]
    egress: tuple[RuleReport, ...]


class PolicerReports(ReportPart, frozen=True, kw_only=True):
    """Of the interface's own policers, in order."""

    ingress: tuple[Outcomes, ...]
    egress: tuple[Outcomes, ...]


class WaitReport(ReportPart, frozen=True, kw_only=True):
    """Time in a queue."""

    mean: float | None
    max: int | None
    histogram: Bins | None


class Fairness(ReportPart, frozen=True, kw_only=True):
    """How evenly a queue served its flows."""

    flows: int
    jain: float | None
    spread: float | None


class QueueWindow(ReportPart, frozen=True, kw_only=True):
    """A queue in the measured time."""

    packets_in: int
    packets_out: int
    bytes_out: int
    dropped_tail: int
    dropped_red: int
    dropped_police: int
    dropped_pool: int
    ecn_marked: int
    mean_length: float
    wait_ps: WaitReport
    fairness: Fairness


class QueueReport(ReportPart, frozen=True, kw_only=True):
    """A queue in all of the run."""

    name: str
    packets_in: int
    packets_out: int
    bytes_out: int
    dropped_tail: int
    dropped_red: int
    dropped_police: int
    dropped_pool: int
    ecn_marked: int
    max_depth: int
    police: Outcomes | None
    window: QueueWindow | None


class LineReport(ReportPart, frozen=True, kw_only=True):
    """Use of a line in the measured time."""

    rate_bps: int
    ip_bps: float
    frame_bps: float
    wire_bps: float
    framing_bps: float
    idle_bps: float


class SeriesReport(ReportPart, frozen=True, kw_only=True):
    """Frame bytes that left each queue, by interval."""

    every_ps: int
    bytes_out: tuple[tuple[int, ...], ...]


class FlowWindow(ReportPart, frozen=True, kw_only=True):
    """What a flow got from a queue in the measured time."""

    packets_in: int
    packets_out: int
    bytes_out: int
    dropped: int


class ShareReport(ReportPart, frozen=True, kw_only=True):
    """What a flow offered to a queue and lost there."""

    flow: str
    queue: str
    packets_in: int
    dropped: int
    window: FlowWindow


class PortReport(ReportPart, frozen=True, kw_only=True):
    """A port that has a link."""

    node: str
    port: str
    queues: tuple[QueueReport, ...]
    dropped_input: int
    line: LineReport
    series: SeriesReport | None
    busy_ps: int
    utilisation: float
    rules: RuleReports
    policers: PolicerReports
    by_flow: tuple[ShareReport, ...]
    class_visits: int | None = None


class PoolReport(ReportPart, frozen=True, kw_only=True):
    """A buffer that queues share."""

    node: str
    port: str | None
    name: str
    unit: str
    size: int
    max_depth: int


class TwinReport(ReportPart, frozen=True, kw_only=True):
    """What came of a scenario."""

    version: int
    seed: int
    delay_reference: str
    flows: tuple[FlowReport, ...]
    ports: tuple[PortReport, ...]
    pools: tuple[PoolReport, ...]


_DECODER = msgspec.json.Decoder(TwinReport)


def read_report(text: str) -> TwinReport:
    """The result that the twin wrote."""
    return _DECODER.decode(text)


def _rows(histogram: Bins) -> NDArray[np.int64]:
    return np.array(histogram, dtype=np.int64).reshape(-1, 2)
