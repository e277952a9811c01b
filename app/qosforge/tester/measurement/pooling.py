"""Pooling of flows: counts added up, moments and quantiles of all packets together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from qosforge.deltaq.distribution import LOST, DeltaQ
from qosforge.tester.measurement.class_figures import ClassFigures
from qosforge.tester.measurement.document import (
    FlowResult,
    Measurement,
    ScenarioResult,
    Statistics,
    class_flows,
    quantiles_ps,
)


class ClassSummary(Statistics):
    """Several flows of one class read as one stream; ``flows`` names them."""

    flows: tuple[str, ...]


def join_replications(flows: Iterable[FlowResult]) -> tuple[FlowResult, ...]:
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


def class_figures(scenario: ScenarioResult) -> tuple[ClassFigures, ...]:
    """What each class got on each path of a scenario; packets of no class are left out."""
    flows: dict[tuple[str, str], list[FlowResult]] = {}
    for flow in scenario.flows:
        if flow.traffic_class:
            flows.setdefault((flow.traffic_class, flow.path), []).append(flow)
    found = ((name, path, summarise(some)) for (name, path), some in flows.items())
    return tuple(
        ClassFigures(traffic_class=name, path=path, loss=one.loss or 0.0, mean_ms=one.mean_delay_ms)
        for name, path, one in found
    )


def summarise(flows: Sequence[FlowResult]) -> ClassSummary:
    """Pool at least one flow as :func:`class_summary` does; unlike paths or kinds are joined by ``+``."""
    heard = [(flow.delivered, *moments) for flow in flows if flow.delivered and (moments := _moments(flow))]
    mean = _weighted_mean((weight, mean) for weight, mean, _ in heard)
    spread = None
    if mean is not None and all(sd is not None for _, _, sd in heard):
        # Law of total variance: within the flows, and between their means.
        within = _weighted_mean((weight, (sd or 0) ** 2) for weight, _, sd in heard)
        between = _weighted_mean((weight, (own - mean) ** 2) for weight, own, _ in heard)
        spread = math.sqrt((within or 0) + (between or 0))
    pace = _weighted_mean(
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
        offered_bps=_round(_rate(flows, lambda flow: flow.offered_bps)),
        expected_bps=_round(_rate(flows, lambda flow: flow.expected_bps)),
        expected_most_bps=_round(_rate(flows, _upper_throughput))
        if any(flow.expected_most_bps is not None for flow in flows)
        else None,
        delay_bound_ps=_if_all([flow.delay_bound_ps for flow in flows], max),
        quantiles_ps=_pooled_quantiles(flows),
    )


def counted_mean_ps(flows: Iterable[FlowResult]) -> int | None:
    """Mean delay by what testers counted of every packet, also where they kept some of them only."""
    return _round(_weighted_mean((flow.delivered, flow.mean_delay_ps) for flow in flows))


def _moments(flow: FlowResult) -> tuple[float, float | None] | None:
    """Mean and standard deviation of a flow's delays, of thinned ones from their samples, as a verdict takes them;
    ``None`` where nobody knows, also for the deviation alone."""
    if flow.every > 1 and flow.samples:
        delays = np.array([delay for _, delay in flow.samples if delay != LOST], dtype=np.float64)
        return (float(delays.mean()), float(delays.std())) if delays.size else None
    if flow.mean_delay_ps is None:
        return None
    return flow.mean_delay_ps, 0 if flow.sd_delay_ps is None and flow.delivered == 1 else flow.sd_delay_ps


def _rate(flows: Sequence[FlowResult], rate: Callable[[FlowResult], int | None]) -> float | None:
    """The rates of all flows together, each the mean of its replications; ``None`` where one is not known."""
    found: dict[str, list[int]] = {}
    for flow in flows:
        known = rate(flow)
        if known is None:
            return None
        found.setdefault(flow.name, []).append(known)
    return math.fsum(math.fsum(rates) / len(rates) for rates in found.values())


def _upper_throughput(flow: FlowResult) -> int | None:
    return flow.expected_bps if flow.expected_most_bps is None else flow.expected_most_bps


def _round(value: float | None) -> int | None:
    return None if value is None else round(value)


def _if_all(values: Sequence[int | None], pool: Callable[[Iterable[int]], int]) -> int | None:
    """The pool of values that are all known; ``None`` otherwise."""
    known = [value for value in values if value is not None]
    return pool(known) if len(known) == len(values) else None


def pooled_deltaq(flows: Sequence[FlowResult]) -> DeltaQ:
    """Return the ΔQ of all packets of ``flows``: from samples as verdicts take them, else histograms' upper edges.

    Raises ``ValueError`` when no packet was sent, or a flow delivered packets and kept neither.
    """
    if all((flow.samples and flow.every == 1) or not flow.sent for flow in flows):
        return DeltaQ.from_delays(delay for flow in flows for _, delay in flow.samples)
    bins: list[tuple[int, float]] = []
    for flow in flows:
        if flow.delivered and not (flow.samples or flow.histogram):
            raise ValueError(f"flow {flow.name} has neither samples nor a histogram")
        arrived = [delay for _, delay in flow.samples if delay != LOST]
        bins += [(delay, flow.delivered / len(arrived)) for delay in arrived] or flow.histogram
    return DeltaQ.from_histogram(bins, sum(flow.lost for flow in flows))


def _pooled_quantiles(flows: Sequence[FlowResult]) -> dict[str, int | None]:
    """Quantiles of all packets together; a single flow without samples keeps those its tester gave."""
    if len(flows) == 1 and flows[0].quantiles_ps and not flows[0].samples:
        return dict(flows[0].quantiles_ps)
    kept = all(flow.samples or flow.histogram or not flow.delivered for flow in flows)
    return quantiles_ps(pooled_deltaq(flows)) if kept and any(flow.sent for flow in flows) else {}


def _weighted_mean(terms: Iterable[tuple[int, float | None]]) -> float | None:
    """Weighted mean of the terms that have a value; ``None`` when no weight is left."""
    pairs = [(weight, value) for weight, value in terms if value is not None]
    total = sum(weight for weight, _ in pairs)
    return math.fsum(weight * value for weight, value in pairs) / total if total else None
