"""A measurement: what became of the packets of every flow, as a document that lasts.

Every tester writes this document and everything that judges, compares or plots reads it. Times are integer
picoseconds (``_ps``); properties ending in ``_ms`` are for people. A lost packet stays in the sample with a
delay of -1, and quantiles count it as one that never arrives.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, model_validator

from app.deltaq.distribution import LOST, DeltaQ
from app.deltaq.objective import Evidence
from app.deltaq.sample import Sample, Stream
from app.errors import TesterError
from app.tester.path_delay import PathDelay

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}
"""The quantiles that every flow and summary carries."""

MOST_DELAY_PS = 3_600 * 10**12
"""An hour: no packet of a network takes longer."""

MOST_PATHS = 1000
"""Classes and paths of a scenario of which it is told where their delay arises."""

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
    expected_bps: NonNegativeInt | None = Field(default=None, description="least throughput by the fluid model")
    expected_most_bps: NonNegativeInt | None = Field(
        default=None, description="most throughput by the fluid model, where that is more than the least"
    )
    delay_bound_ps: NonNegativeInt | None = Field(
        default=None, description="no packet that arrives is later if the scenario's flows are all the traffic"
    )
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
    """What one flow saw, in one replication of its scenario (or in one period of a measurement) where there are
    some.

    ``samples`` and ``histogram`` may each be empty; where given they must agree with the counts: one sample
    ``(sent_ps, delay_ps or -1)`` for every ``sample_every``-th packet sent, beginning with the first, histogram
    bins ``(upper_edge_ps, packets)`` that add up to the packets delivered.
    """

    name: str
    replication: NonNegativeInt = 0
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
            if any(delay < LOST or delay > MOST_DELAY_PS for _, delay in self.samples):
                raise ValueError(
                    f"flow {self.name}: a delay is -1 for a lost packet, or 0 to {MOST_DELAY_PS:,} ps (an hour)"
                )
            self._agree_with_samples(lost)
        if self.histogram and sum(count for _, count in self.histogram) != self.delivered:
            raise ValueError(
                f"flow {self.name}: the histogram does not hold the {self.delivered} packets delivered"
            )
        return self

    def _agree_with_samples(self, lost: int) -> None:
        """Raises ``ValueError`` where a packet is there twice, or what is said of all contradicts those kept."""
        arrived = [sample for sample in self.samples if sample[1] != LOST]
        twice = next((sample for sample, count in Counter(arrived).items() if count > 1), None)
        if twice is not None:
            raise ValueError(
                f"flow {self.name}: the packet sent at {twice[0]} ps that took {twice[1]} ps is there twice"
            )
        if lost > self.lost or len(arrived) > self.delivered:
            raise ValueError(
                f"flow {self.name}: samples with {len(arrived)} delivered and {lost} lost, "
                f"but {self.delivered} delivered and {self.lost} lost in all"
            )
        delays = [delay for _, delay in arrived]
        low, high = min(delays, default=None), max(delays, default=None)
        for name, said, seen, wrong in (
            ("smallest", self.min_delay_ps, low, -1),
            ("largest", self.max_delay_ps, high, 1),
        ):
            if said is not None and seen is not None and (seen - said) * wrong > 0:
                raise ValueError(f"flow {self.name}: the {name} delay is said to be {said} ps, one is {seen} ps")
        if self.sample_every == 1:
            self._agree_with_quantiles()

    def _agree_with_quantiles(self) -> None:
        """Raises ``ValueError`` where a quantile is not that of the samples, which are all packets."""
        if not self.quantiles_ps:
            return
        seen = quantiles_ps(DeltaQ.from_delays(delay for _, delay in self.samples))
        for label, said in self.quantiles_ps.items():
            found = seen.get(label)
            if label in seen and (found is None) != (said is None):
                raise ValueError(f"flow {self.name}: {label} is said to be {said} ps, the samples have {found}")
            if found is not None and said is not None and abs(found - said) > 1e-3 * found:
                raise ValueError(f"flow {self.name}: {label} is said to be {said} ps, the samples have {found} ps")

    def deltaq(self) -> DeltaQ:
        """Return the ΔQ of this flow from its samples, else its histogram; ``ValueError`` without either."""
        return pooled_deltaq([self])


class ScenarioResult(BaseModel):
    """What one scenario gave: the flows that ran at the same time, in each of its ``replications``.

    ``seconds`` is how long each was measured, ``warm_up_seconds`` what went before and was left out; ``None`` where
    the tester did not say. Flows that nobody judges may stand once for all replications: counts added up, rates
    averaged. ``path_delays`` says where the delay of the classes that are judged arises; ``None``: not recorded.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: str
    replications: PositiveInt = 1
    seconds: float | None = Field(default=None, gt=0)
    warm_up_seconds: float | None = Field(default=None, ge=0)
    path_delays: Annotated[tuple[PathDelay, ...], Field(max_length=MOST_PATHS)] | None = None
    flows: tuple[FlowResult, ...]

    @model_validator(mode="after")
    def _replications_are_known(self) -> Self:
        beyond = sorted({flow.name for flow in self.flows if flow.replication >= self.replications})
        if beyond:
            raise ValueError(
                f"scenario {self.name} has {self.replications} replications, and {beyond[0]} is of a later one"
            )
        return self


class Measurement(BaseModel):
    """All scenarios of one side of a push, or of a prediction. It is addressed by the hash of its content."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1] = 1
    when: When
    evidence: Evidence
    look: PositiveInt = Field(default=1, description="how often it was judged before, and one")
    looks: PositiveInt = Field(default=1, description="how often it may be judged")
    tester: str = Field(description="which tester wrote this")
    seed: int = Field(description="what makes the same run again")
    clock_error_ps: NonNegativeInt | None = Field(
        default=None, description="how far its clocks lie apart at most; None where it does not say"
    )
    delay_reference: str = Field(description='from which bit to which, such as "first bit to first bit"')
    scenarios: tuple[ScenarioResult, ...]

    @model_validator(mode="after")
    def _nothing_outlasts_the_measurement(self) -> Self:
        if self.evidence != "measured":
            return self  # a simulation goes on until its last packet has arrived
        for scenario in self.scenarios:
            for flow in scenario.flows:
                longest = max((delay for _, delay in flow.samples), default=0)
                if scenario.seconds is not None and longest > scenario.seconds * 1e12:
                    raise ValueError(
                        f"flow {flow.name}: a delay of {longest} ps is longer than the {scenario.seconds:g} s of "
                        f"scenario {scenario.name}"
                    )
        return self

    def lacking(self, scenario: str) -> tuple[str, ...]:
        """What a tester of real packets did not say of a scenario; ``KeyError`` for one that it does not have."""
        found = self.scenario(scenario)
        if self.evidence != "measured":
            return ()
        said = {"how long it measured": found.seconds, "how far its clocks lie apart": self.clock_error_ps}
        return tuple(words for words, value in said.items() if value is None)

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


def class_sample(
    measurement: Measurement, scenario: str, traffic_classes: Collection[str | None], *, path: str | None = None
) -> Sample:
    """The packets of classes as one sample, replication by replication.

    Raises ``KeyError`` for an unknown scenario, and ``TesterError`` when a flow sent packets but its tester
    kept no samples: a verdict needs their order.
    """
    flows = [
        flow
        for flow in measurement.scenario(scenario).flows
        if flow.traffic_class in traffic_classes and path in (None, flow.path)
    ]
    for flow in flows:
        if flow.sent and not flow.samples:
            raise TesterError(
                f"flow {flow.name} of scenario {scenario} has no samples, and a verdict needs their order",
                mend="let the tester keep the samples of every flow with an objective",
            )
    return flows_sample(flows, independent=measurement.evidence != "measured")


def flows_sample(flows: Iterable[FlowResult], *, independent: bool) -> Sample:
    """The packets of flows that have samples; ``independent`` where replications are."""
    periods: dict[int, list[Stream]] = {}
    for flow in flows:
        periods.setdefault(flow.replication, []).append(Stream(flow.samples, flow.sent, flow.lost))
    return Sample.of([periods[number] for number in sorted(periods)], independent=independent)


def joined(flows: Iterable[FlowResult]) -> tuple[FlowResult, ...]:
    """The same flows, those without samples once for all their replications: nobody judges them one by one."""
    found: dict[tuple[str, int], list[FlowResult]] = {}
    for flow in flows:
        found.setdefault((flow.name, flow.replication if flow.samples else -1), []).append(flow)
    return tuple(group[0] if number >= 0 else _as_one(group) for (_, number), group in found.items())


def _as_one(flows: Sequence[FlowResult]) -> FlowResult:
    """One flow of several replications: counts added up, rates averaged."""
    together = summarise(flows)
    bins: dict[int, int] = {}
    for flow in flows:
        for edge, count in flow.histogram:
            bins[edge] = bins.get(edge, 0) + count
    figures = together.model_dump(exclude={"flows", "quantiles_ps"})
    return FlowResult(name=flows[0].name, histogram=tuple(sorted(bins.items())), **figures)


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
        flows=tuple(dict.fromkeys(flow.name for flow in flows)),
        sent=sum(flow.sent for flow in flows),
        delivered=sum(flow.delivered for flow in flows),
        lost=sum(flow.lost for flow in flows),
        mean_delay_ps=None if mean is None else round(mean),
        sd_delay_ps=None if spread is None else round(spread),
        min_delay_ps=min((low for flow in flows if (low := flow.min_delay_ps) is not None), default=None),
        max_delay_ps=max((high for flow in flows if (high := flow.max_delay_ps) is not None), default=None),
        interarrival_sd_ps=None if pace is None else round(math.sqrt(pace)),
        throughput_bps=round(_rate(flows, lambda flow: flow.throughput_bps) or 0),
        offered_bps=_rounded(_rate(flows, lambda flow: flow.offered_bps)),
        expected_bps=_rounded(_rate(flows, lambda flow: flow.expected_bps)),
        expected_most_bps=_rounded(_rate(flows, _most_expected))
        if any(flow.expected_most_bps is not None for flow in flows)
        else None,
        delay_bound_ps=_if_all([flow.delay_bound_ps for flow in flows], max),
        quantiles_ps=_pooled_quantiles(flows),
    )


def _rate(flows: Sequence[FlowResult], rate: Callable[[FlowResult], int | None]) -> float | None:
    """The rates of all flows together, each the mean of its replications; ``None`` where one is not known."""
    found: dict[str, list[int]] = {}
    for flow in flows:
        known = rate(flow)
        if known is None:
            return None
        found.setdefault(flow.name, []).append(known)
    return math.fsum(math.fsum(rates) / len(rates) for rates in found.values())


def _most_expected(flow: FlowResult) -> int | None:
    return flow.expected_bps if flow.expected_most_bps is None else flow.expected_most_bps


def _rounded(value: float | None) -> int | None:
    return None if value is None else round(value)


def _if_all(values: Sequence[int | None], pool: Callable[[Iterable[int]], int]) -> int | None:
    """The pool of values that are all known; ``None`` otherwise."""
    known = [value for value in values if value is not None]
    return pool(known) if len(known) == len(values) else None


def pooled_deltaq(flows: Sequence[FlowResult]) -> DeltaQ:
    """Return the ΔQ of all packets of ``flows``: from samples as verdicts take them, else histograms' upper edges.

    Raises ``ValueError`` when no packet was sent, or a flow delivered packets and kept neither.
    """
    if all((flow.samples and flow.sample_every == 1) or not flow.sent for flow in flows):
        return DeltaQ.from_delays(delay for flow in flows for _, delay in flow.samples)
    bins: list[tuple[int, float]] = []
    for flow in flows:
        if flow.delivered and not (flow.samples or flow.histogram):
            raise ValueError(f"flow {flow.name} has neither samples nor a histogram")
        arrived = [delay for _, delay in flow.samples if delay != LOST]
        bins += [(delay, flow.delivered / len(arrived)) for delay in arrived] or flow.histogram
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
