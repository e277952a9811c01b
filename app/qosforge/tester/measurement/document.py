"""The measurement document: counts, delays and losses of every flow.

Every tester writes this document and everything that judges, compares or plots reads it. Times are integer
picoseconds (``_ps``); properties ending in ``_ms`` are for people. A lost packet stays in the sample with a
delay of -1, and quantiles count it as one that never arrives.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from qosforge.deltaq.distribution import DeltaQ
from qosforge.deltaq.objective import Evidence, weakest
from qosforge.deltaq.sample import FlowSamples, Sample
from qosforge.errors import TesterError
from qosforge.tester.measurement.delay_checks import MOST_DELAY_PS
from qosforge.tester.measurement.faults import FaultyMeasurement
from qosforge.tester.measurement.flow_checks import MOST_SECONDS, flow_faults
from qosforge.tester.measurement.path_delay import PathDelay
from qosforge.tester.measurement.protocol_checks import protocol_faults

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}
"""The quantiles that every flow and summary carries."""

MOST_PATHS = 1000
"""Classes and paths of a scenario of which it is told where their delay arises."""

PS_PER_MS = 1_000_000_000
"""Picoseconds in a millisecond."""

Whole = Annotated[int, Field(strict=True)]
"""A whole number: no text, no truth value, no fraction."""

Count = Annotated[int, Field(strict=True, ge=0)]
"""A whole number from 0 on, such as of packets or picoseconds."""

Number = Annotated[int, Field(strict=True, ge=1)]
"""A whole number from 1 on."""

Seconds = Annotated[float, Field(strict=True, allow_inf_nan=False, le=MOST_SECONDS)]

_STORED = object()
"""The context of reading a stored document, which was checked when it came in."""

Side = Literal["before", "after"]
"""Which side of the push devices are measured on."""

When = Literal["before", "predicted", "after"]
"""What a measurement is of: one side of the push, or what is to be pushed, before any device has it."""


def to_ms(ps: float | None) -> float | None:
    """Turn picoseconds into milliseconds; what was not observed stays ``None``."""
    return None if ps is None else ps / PS_PER_MS


def quantiles_ps(distribution: DeltaQ) -> dict[str, int | None]:
    """Return the standard ``QUANTILES`` of a distribution; ``None`` for one that lies at infinity."""
    values = {label: distribution.quantile_ps(probability) for label, probability in QUANTILES.items()}
    return {label: None if math.isinf(value) else int(value) for label, value in values.items()}


class Statistics(BaseModel):
    """What flows and summaries of flows have in common: counts, moments, quantiles.

    A figure that no packet could give (the mean delay of a flow of which nothing arrived) is ``None``. A
    quantile is ``None`` when so many packets were lost that it lies at infinity.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    traffic_class: str | None = Field(description="class of the intent; None for background traffic")
    kind: str = Field(default="", description='what the packets are: "voice", "video", "ftp"; "" if unsaid')
    path: str = Field(description='label of the way taken, such as "vigo1→vigo2"')
    sent: Count
    delivered: Count
    lost: Count
    mean_delay_ps: Count | None = None
    sd_delay_ps: Count | None = None
    min_delay_ps: Count | None = None
    max_delay_ps: Count | None = None
    interarrival_sd_ps: Count | None = None
    throughput_bps: Count = 0
    offered_bps: Count | None = Field(default=None, description="IP bits; None for what sends all it can")
    expected_bps: Count | None = Field(default=None, description="least throughput by the fluid model")
    expected_most_bps: Count | None = Field(
        default=None, description="most throughput by the fluid model, where that is more than the least"
    )
    delay_bound_ps: Count | None = Field(
        default=None, description="no packet that arrives is later if the scenario's flows are all the traffic"
    )
    quantiles_ps: dict[str, Count | None] = Field(default_factory=dict)

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


class FlowResult(Statistics):
    """What one flow saw, in one replication of its scenario (or in one period of a measurement) where there are
    some.

    ``samples`` and ``histogram`` may each be empty; where given they must agree with the counts: one sample
    ``(sent_ps, delay_ps or -1)`` for every ``sample_every``-th packet sent, beginning with the first, in the order
    of sending; ``sent_ps`` counts from the beginning of the replication, its warm-up included. Histogram bins
    ``(upper_edge_ps, packets)`` add up to the packets delivered. Raises ``FaultyMeasurement``, a ``ValueError``,
    where something of it contradicts something else.
    """

    name: str
    replication: Count = 0
    samples: tuple[tuple[Whole, Whole], ...] = ()
    sample_every: Number | None = Field(default=None, description="one packet in so many; None if unsaid: each")
    histogram: tuple[tuple[Count, Whole], ...] = ()

    @property
    def every(self) -> int:
        """One packet in so many was looked at."""
        return self.sample_every or 1

    @model_validator(mode="after")
    def _agree_with_itself(self, info: ValidationInfo) -> Self:
        faults = () if info.context is _STORED else tuple(flow_faults(self))
        if faults:
            raise FaultyMeasurement(faults)
        return self


class ScenarioResult(BaseModel):
    """What one scenario gave: the flows that ran at the same time, in each of its ``replications``.

    ``seconds`` is how long each was measured, ``warm_up_seconds`` what went before and was left out,
    ``waited_seconds`` how long its last packets were waited for; ``None`` where the tester did not say. ``look`` is
    the last look of the measurement that added to it; ``None``: that of the measurement. Flows that nobody judges
    may stand once for all replications: counts added up, rates averaged. ``path_delays`` says where the delay of
    the classes that are judged arises; ``None``: not recorded. ``evidence`` is that of these flows, ``None``: that
    of the measurement. ``independent`` where each replication began anew with sources of its own, as those of
    simulations do and periods of one measurement do not.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: str
    replications: Number = 1
    seconds: Annotated[Seconds, Field(gt=0)] | None = None
    warm_up_seconds: Annotated[Seconds, Field(ge=0)] | None = None
    waited_seconds: Annotated[Seconds, Field(ge=0)] | None = None
    look: Number | None = None
    evidence: Evidence | None = None
    independent: bool = False
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
    """All scenarios of one side of a push, or of a prediction. It is addressed by the hash of its content.

    ``evidence`` is the weakest of its scenarios. Where some paths of a scenario have other evidence than others,
    it is there once for each, with the flows of these paths.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1] = 1
    when: When
    evidence: Evidence
    look: Number = Field(default=1, description="how often it was judged before, and one")
    looks: Number = Field(default=1, description="how often it may be judged")
    tester: str = Field(description="which tester wrote this")
    seed: Count = Field(description="what makes the same run again")
    clock_error_ps: Annotated[Count, Field(le=MOST_DELAY_PS)] | None = Field(
        default=None, description="how far its clocks lie apart at most; None where it does not say"
    )
    delay_reference: str = Field(description='from which bit to which, such as "first bit to first bit"')
    scenarios: tuple[ScenarioResult, ...]

    @model_validator(mode="after")
    def _keep_to_the_protocol(self, info: ValidationInfo) -> Self:
        if self.look > self.looks:
            raise ValueError(f"there is no look {self.look} of {self.looks}: say how often it may be judged")
        later = [each.name for each in self.scenarios if (each.look or self.look) > self.look]
        if later:
            raise ValueError(f"scenario {later[0]} is of a look that the measurement has not had: {self.look}")
        found = weakest(each.evidence or self.evidence for each in self.scenarios)
        if found is not None and found != self.evidence:
            raise ValueError(f"its evidence is {self.evidence}, and the weakest of its scenarios is {found}")
        if info.context is _STORED:
            return self
        faults = tuple(protocol_faults(self))
        if faults:
            raise FaultyMeasurement(faults)
        return self

    @classmethod
    def parse_stored(cls, text: str) -> Self:
        """Read a stored document without the checks that it passed then: it stays readable as checks are added."""
        return cls.model_validate_json(text, context=_STORED)

    def missing_facts(self, scenario: str, path: str | None = None) -> tuple[str, ...]:
        """The facts that a tester of real packets did not report of a scenario; ``KeyError`` for an unknown one."""
        found = self.scenario(scenario, path)
        if self.evidence_of(found) != "measured":
            return ()
        sending = [flow for flow in found.flows if flow.sent]
        said = {
            "how long it measured": found.seconds is not None,
            "how far its clocks lie apart": self.clock_error_ps is not None,
            "what load it offered": all(flow.offered_bps is not None for flow in sending),
            "which packets it looked at": all(flow.sample_every is not None for flow in sending if flow.samples),
        }
        return tuple(words for words, known in said.items() if not known)

    def look_of(self, scenario: str, path: str | None = None) -> int:
        """The last look that added to a scenario; ``KeyError`` for one that it does not have."""
        return self.scenario(scenario, path).look or self.look

    def evidence_of(self, result: ScenarioResult) -> Evidence:
        """What the flows of a scenario rest on."""
        return result.evidence or self.evidence

    def is_independent(self, result: ScenarioResult) -> bool:
        """Whether the replications of a scenario are independent of each other."""
        return result.independent or self.evidence_of(result) != "measured"

    def scenario(self, name: str, path: str | None = None) -> ScenarioResult:
        """Return the scenario of that name, if wanted that with the flows of one path, or else its first.

        ``KeyError`` names those there are.
        """
        found = [each for each in self.scenarios if each.name == name]
        if not found:
            raise KeyError(f"no scenario {name!r}: there are {[each.name for each in self.scenarios]}")
        return next((each for each in found if any(flow.path == path for flow in each.flows)), found[0])

    def flows(self, scenario: str) -> tuple[FlowResult, ...]:
        """All flows of a scenario, whatever they rest on; ``KeyError`` for one that it does not have."""
        self.scenario(scenario)
        return tuple(flow for each in self.scenarios if each.name == scenario for flow in each.flows)

    def part(self, evidence: Evidence) -> Self | None:
        """The scenarios that rest on this evidence, with it alone; ``None`` where there are none."""
        kept = tuple(each for each in self.scenarios if self.evidence_of(each) == evidence)
        return self.model_copy(update={"evidence": evidence, "scenarios": kept}) if kept else None


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
        for flow in measurement.flows(scenario)
        if flow.traffic_class == traffic_class
        and (path is None or flow.path == path)
        and (kind is None or flow.kind == kind)
    )


def flows_of(
    measurement: Measurement, scenario: str, traffic_classes: Collection[str | None], *, path: str | None = None
) -> tuple[FlowResult, ...]:
    """The flows of any of these classes, of one path where wanted; ``KeyError`` when the scenario is unknown."""
    return tuple(
        flow
        for flow in measurement.flows(scenario)
        if flow.traffic_class in traffic_classes and path in (None, flow.path)
    )


def class_sample(
    measurement: Measurement, scenario: str, traffic_classes: Collection[str | None], *, path: str | None = None
) -> Sample:
    """The packets of classes as one sample, replication by replication.

    Raises ``KeyError`` for an unknown scenario, and ``TesterError`` when a flow sent packets but its tester
    kept no samples: a verdict needs their order.
    """
    flows = flows_of(measurement, scenario, traffic_classes, path=path)
    for flow in flows:
        if flow.sent and not flow.samples:
            raise TesterError(
                f"flow {flow.name} of scenario {scenario} has no samples, and a verdict needs their order",
                hint="let the tester keep the samples of every flow with an objective",
            )
    return flows_sample(flows, independent=measurement.is_independent(measurement.scenario(scenario, path)))


def flows_sample(flows: Iterable[FlowResult], *, independent: bool) -> Sample:
    """The packets of flows that have samples; ``independent`` where replications are."""
    periods: dict[int, list[FlowSamples]] = {}
    for flow in flows:
        periods.setdefault(flow.replication, []).append(FlowSamples(flow.samples, flow.sent, flow.lost))
    return Sample.of([periods[number] for number in sorted(periods)], independent=independent)
