"""A measurement: what became of the packets of every flow, as a document that lasts.

Every tester writes this document and everything that judges, compares or plots reads it. Times are integer
picoseconds (``_ps``); properties ending in ``_ms`` are for people. A lost packet stays in the sample with a
delay of -1, and quantiles count it as one that never arrives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, model_validator

from app.deltaq.distribution import LOST, DeltaQ
from app.deltaq.objective import Evidence
from app.errors import TesterError

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}
"""The quantiles that every flow and summary carries."""

PS_PER_MS = 1_000_000_000
"""Picoseconds in a millisecond."""

Side = Literal["before", "after"]
"""Which side of the push boxes are measured on."""

When = Literal["before", "predicted", "after"]
"""What a measurement is of: one side of the push, or what is to be pushed, before any box has it."""


def to_ms(ps: float | None) -> float | None:
    """Turn picoseconds into milliseconds; what was not observed stays ``None``."""
    return None if ps is None else ps / PS_PER_MS


class _Statistics(BaseModel):
    """What flows and summaries of flows have in common: counts, moments, quantiles.

    A figure that no packet could give (the mean delay of a flow of which nothing arrived) is ``None``. A
    quantile is ``None`` when so many packets were lost that it lies at infinity.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    traffic_class: str | None = Field(description="class of the intent; None for background traffic")
    kind: str = Field(default="", description='what the packets are: "voice", "video", "ftp"; "" if unsaid')
    path: str = Field(description='label of the way taken, such as "vigo1→vigo2"')
    sent: NonNegativeInt
    delivered: NonNegativeInt
    lost: NonNegativeInt
    mean_delay_ps: NonNegativeInt | None = None
    sd_delay_ps: NonNegativeInt | None = None
    min_delay_ps: NonNegativeInt | None = None
    max_delay_ps: NonNegativeInt | None = None
    interarrival_sd_ps: NonNegativeInt | None = None
    throughput_bps: NonNegativeInt = 0
    offered_bps: NonNegativeInt | None = Field(default=None, description="IP bits; None for what sends all it can")
    expected_bps: NonNegativeInt | None = Field(default=None, description="throughput by the fluid model")
    delay_bound_ps: NonNegativeInt | None = Field(default=None, description="no packet that arrives is later")
    quantiles_ps: dict[str, NonNegativeInt | None] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _conserve_packets(self) -> Self:
        if self.sent != self.delivered + self.lost:
            raise ValueError(
                f"{self.sent} packets sent, {self.delivered} delivered and {self.lost} lost do not add up"
            )
        return self

    @property
    def loss(self) -> float | None:
        """Ratio of packets lost; ``None`` when none was sent."""
        return self.lost / self.sent if self.sent else None

    @property
    def mean_delay_ms(self) -> float | None:
        """Mean one-way delay of the delivered packets in ms."""
        return to_ms(self.mean_delay_ps)

    @property
    def sd_delay_ms(self) -> float | None:
        """Standard deviation of the delay of the delivered packets in ms."""
        return to_ms(self.sd_delay_ps)

    @property
    def interarrival_sd_ms(self) -> float | None:
        """Standard deviation of the time between arrivals in ms: what many papers call jitter."""
        return to_ms(self.interarrival_sd_ps)


class FlowResult(_Statistics):
    """What one flow saw. ``samples`` and ``histogram`` may each be empty; where given they must agree with
    the counts: one sample ``(sent_ps, delay_ps or -1)`` for every ``sample_every``-th packet sent, beginning with
    the first, histogram bins ``(upper_edge_ps, packets)`` that add up to the packets delivered.
    """

    name: str
    samples: tuple[tuple[int, int], ...] = ()
    sample_every: PositiveInt = 1
    histogram: tuple[tuple[int, int], ...] = ()

    @model_validator(mode="after")
    def _agree_with_counts(self) -> Self:
        if self.samples:
            lost = sum(1 for _, delay in self.samples if delay == LOST)
            wanted = -(-self.sent // self.sample_every)
            if len(self.samples) != wanted or (self.sample_every == 1 and lost != self.lost):
                raise ValueError(
                    f"flow {self.name}: {len(self.samples)} samples with {lost} lost, "
                    f"but {self.sent} packets sent with {self.lost} lost"
                )
            if any(delay < LOST for _, delay in self.samples):
                raise ValueError(f"flow {self.name}: a delay is non-negative, or -1 for a lost packet")
        if self.histogram and sum(count for _, count in self.histogram) != self.delivered:
            raise ValueError(
                f"flow {self.name}: the histogram does not hold the {self.delivered} packets delivered"
            )
        return self

    def deltaq(self) -> DeltaQ:
        """Return the ΔQ of this flow from its samples, else its histogram; ``ValueError`` without either."""
        return pooled_deltaq([self])


class ScenarioResult(BaseModel):
    """What one scenario gave: the flows that ran at the same time."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: str
    flows: tuple[FlowResult, ...]


class Measurement(BaseModel):
    """All scenarios of one side of a push, or of a prediction. It is addressed by the hash of its content."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1] = 1
    when: When
    evidence: Evidence
    tester: str = Field(description="which tester wrote this")
    seed: int = Field(description="what makes the same run again")
    delay_reference: str = Field(description='from which bit to which, such as "first bit to first bit"')
    scenarios: tuple[ScenarioResult, ...]

    def scenario(self, name: str) -> ScenarioResult:
        """Return the scenario of that name; ``KeyError`` names those there are."""
        for scenario in self.scenarios:
            if scenario.name == name:
                return scenario
        raise KeyError(f"no scenario {name!r}: there are {[each.name for each in self.scenarios]}")


class ClassSummary(_Statistics):
    """Several flows of one class read as one stream; ``flows`` names them."""

    flows: tuple[str, ...]


def class_flows(
    measurement: Measurement,
    scenario: str,
    traffic_class: str | None,
    *,
    path: str | None = None,
    kind: str | None = None,
) -> tuple[FlowResult, ...]:
    """Return the flows of a class in a scenario, if wanted of one path or kind only (``None``: any).

    Raises ``KeyError`` when the scenario is unknown.
    """
    return tuple(
        flow
        for flow in measurement.scenario(scenario).flows
        if flow.traffic_class == traffic_class
        and (path is None or flow.path == path)
        and (kind is None or flow.kind == kind)
    )


def class_samples(
    measurement: Measurement, scenario: str, traffic_class: str | None, *, path: str | None = None
) -> tuple[tuple[int, int], ...]:
    """Pool the samples of a class, ``(sent_ps, delay_ps or -1)``, in the order of sending.

    Raises ``KeyError`` for an unknown scenario, and ``TesterError`` when a flow sent packets but its tester
    kept no samples: a verdict needs their order.
    """
    flows = class_flows(measurement, scenario, traffic_class, path=path)
    for flow in flows:
        if flow.sent and not flow.samples:
            raise TesterError(
                f"flow {flow.name} of scenario {scenario} has no samples, and a verdict needs their order",
                mend="let the tester keep the samples of every flow with an objective",
            )
    return tuple(sorted(sample for flow in flows for sample in flow.samples))


def class_summary(
    measurement: Measurement,
    scenario: str,
    traffic_class: str | None,
    *,
    path: str | None = None,
    kind: str | None = None,
) -> ClassSummary:
    """Pool the flows of a class. Raises ``KeyError`` when the scenario has no such flow.

    Mean, standard deviation and quantiles are those of all packets taken together. The inter-arrival
    deviation is the root mean square of the flows' own, weighted by their packets: arrivals of one flow say
    nothing about the pace of another.
    """
    flows = class_flows(measurement, scenario, traffic_class, path=path, kind=kind)
    if not flows:
        raise KeyError(f"scenario {scenario!r} has no flow of class {traffic_class!r}")
    return summarise(flows)


def summarise(flows: Sequence[FlowResult]) -> ClassSummary:
    """Pool at least one flow as :func:`class_summary` does; unlike paths or kinds are joined by ``+``."""
    heard = [flow for flow in flows if flow.delivered and flow.mean_delay_ps is not None]
    mean = _weighted((flow.delivered, flow.mean_delay_ps) for flow in heard)
    spread = None
    if mean is not None:
        # Law of total variance: within the flows, and between their means.
        within = _weighted((flow.delivered, (flow.sd_delay_ps or 0) ** 2) for flow in heard)
        between = _weighted((flow.delivered, ((flow.mean_delay_ps or 0) - mean) ** 2) for flow in heard)
        spread = math.sqrt((within or 0) + (between or 0))
    pace = _weighted(
        (flow.delivered - 1, flow.interarrival_sd_ps**2)
        for flow in flows
        if flow.interarrival_sd_ps is not None and flow.delivered > 1
    )
    return ClassSummary(
        traffic_class=flows[0].traffic_class,
        kind="+".join(dict.fromkeys(flow.kind for flow in flows if flow.kind)),
        path="+".join(dict.fromkeys(flow.path for flow in flows)),
        flows=tuple(flow.name for flow in flows),
        sent=sum(flow.sent for flow in flows),
        delivered=sum(flow.delivered for flow in flows),
        lost=sum(flow.lost for flow in flows),
        mean_delay_ps=None if mean is None else round(mean),
        sd_delay_ps=None if spread is None else round(spread),
        min_delay_ps=min((low for flow in flows if (low := flow.min_delay_ps) is not None), default=None),
        max_delay_ps=max((high for flow in flows if (high := flow.max_delay_ps) is not None), default=None),
        interarrival_sd_ps=None if pace is None else round(math.sqrt(pace)),
        throughput_bps=sum(flow.throughput_bps for flow in flows),
        offered_bps=_if_all([flow.offered_bps for flow in flows], sum),
        expected_bps=_if_all([flow.expected_bps for flow in flows], sum),
        delay_bound_ps=_if_all([flow.delay_bound_ps for flow in flows], max),
        quantiles_ps=_pooled_quantiles(flows),
    )


def _if_all(values: Sequence[int | None], pool: Callable[[Iterable[int]], int]) -> int | None:
    """The pool of values that are all known; ``None`` otherwise."""
    known = [value for value in values if value is not None]
    return pool(known) if len(known) == len(values) else None


def pooled_deltaq(flows: Sequence[FlowResult]) -> DeltaQ:
    """Return the ΔQ of all packets of ``flows``: exact from samples, else from histograms' upper edges.

    Raises ``ValueError`` when no packet was sent, or a flow delivered packets and kept neither.
    """
    if all((flow.samples and flow.sample_every == 1) or not flow.sent for flow in flows):
        return DeltaQ.from_delays(delay for flow in flows for _, delay in flow.samples)
    bins: list[tuple[int, int]] = []
    for flow in flows:
        if flow.delivered and not (flow.samples or flow.histogram):
            raise ValueError(f"flow {flow.name} has neither samples nor a histogram")
        bins += flow.histogram or [(delay, flow.sample_every) for _, delay in flow.samples if delay != LOST]
    return DeltaQ.from_histogram(bins, sum(flow.lost for flow in flows))


def quantiles_ps(distribution: DeltaQ) -> dict[str, int | None]:
    """Return the standard ``QUANTILES`` of a distribution; ``None`` for one that lies at infinity."""
    values = {label: distribution.quantile_ps(probability) for label, probability in QUANTILES.items()}
    return {label: None if math.isinf(value) else int(value) for label, value in values.items()}


def _pooled_quantiles(flows: Sequence[FlowResult]) -> dict[str, int | None]:
    """Quantiles of all packets together; a single flow keeps those its tester gave."""
    if len(flows) == 1 and flows[0].quantiles_ps:
        return dict(flows[0].quantiles_ps)
    kept = all(flow.samples or flow.histogram or not flow.delivered for flow in flows)
    return quantiles_ps(pooled_deltaq(flows)) if kept and any(flow.sent for flow in flows) else {}


def _weighted(terms: Iterable[tuple[int, float | None]]) -> float | None:
    """Weighted mean of the terms that have a value; ``None`` when no weight is left."""
    pairs = [(weight, value) for weight, value in terms if value is not None]
    total = sum(weight for weight, _ in pairs)
    return math.fsum(weight * value for weight, value in pairs) / total if total else None
