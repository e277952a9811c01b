"""Rows: what a run measured of one subject."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qosforge.experiments.cases import Case, CurvePoints, SubjectSelection
from qosforge.twin.report import (
    DelayReport,
    FlowReport,
    GapReport,
    LayerReport,
    LineReport,
    PopulationReport,
    PortReport,
    QueueReport,
    TwinReport,
)

PS_PER_US = 1e6
_Moments = DelayReport | PopulationReport
QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}


@dataclass(frozen=True)
class ResultRow:
    """One subject in one case; rates in Mb/s of the row's layer, delays in microseconds.

    Delays are of delivered packets only; ``loss_ratio`` stands beside them, of both ways where delays are round
    trips. What was not measured is None.
    ``delays`` are rows of upper edge (ps) and count by rising edge. ``series`` has, by trial, the frame bytes that
    left the subject's queues (the port, where it names none) in each window of time. ``arrivals_ps`` are the times
    at which a sampled flow's packets arrived, trial by trial.
    """

    subject: str
    load: float | None
    selection: SubjectSelection
    offered_mbps: float | None = None
    throughput_mbps: float | None = None
    delay_us: Mapping[str, float] | None = None
    delay_sd_us: float | None = None
    interarrival_sd_us: float | None = None
    loss_ratio: float | None = None
    packets: int = 0
    delivered: int = 0
    trials: int = 1
    fairness: float | None = None
    unused_mbps: Mapping[str, float] | None = None
    values: Mapping[str, float] = field(default_factory=dict)
    curves: Mapping[str, CurvePoints] = field(default_factory=dict)
    per_flow_mbps: tuple[float, ...] = ()
    queues: tuple[QueueReport, ...] = ()
    delays: NDArray[np.int64] | None = None
    series: tuple[NDArray[np.int64], ...] = ()
    arrivals_ps: tuple[NDArray[np.int64], ...] = ()


def rows_of(case: Case, answers: Sequence[TwinReport], layer: str) -> dict[str, ResultRow]:
    """The rows of a case by subject, ``answers`` (one per trial) taken as one sample.

    Moments are pooled over flows and trials, histograms added; ``layer`` is ``ip``, ``frame``, ``wire``, or
    ``cell``, the wire of lines that carry cells.
    """
    layer = "wire" if layer == "cell" else layer
    return {subject: _row(subject, case, selection, answers, layer) for subject, selection in case.subjects.items()}


def _row(
    subject: str, case: Case, selection: SubjectSelection, answers: Sequence[TwinReport], layer: str
) -> ResultRow:
    values = case.values.get(subject, {})
    chosen = [flow for answer in answers for flow in answer.flows if flow.name in set(selection.flows)]
    if not chosen:
        curves = case.curves.get(subject, {})
        return ResultRow(
            subject, case.load, selection, values=values, curves=curves, **_port(selection, answers, layer)
        )
    sent = sum(flow.sent for flow in chosen)
    delivered = sum(flow.delivered for flow in chosen)
    back = [flow.returned for flow in chosen if flow.returned is not None] if selection.round_trip else []
    lost = sum(flow.lost for flow in chosen) + sum(way.lost for way in back)
    arrived = delivered + sum(way.delivered for way in back)
    per_flow = _per_flow(selection, chosen, len(answers), layer)
    measured = [_times(selection, flow) for flow in chosen]
    mean, sd = _pooled([(count, part) for count, part, _ in measured])
    bins = _added([bins for count, _, bins in measured if count])
    _, gap = _pooled([(max(flow.delivered - 1, 0), flow.interarrival_ps) for flow in chosen])
    return ResultRow(
        subject=subject,
        load=case.load,
        selection=selection,
        offered_mbps=sum(_of_layer(flow.offered_by_layer_bps, layer) for flow in chosen) / len(answers) / 1e6,
        throughput_mbps=sum(per_flow),
        delay_us=None if bins is None else _delays([part for count, part, _ in measured if count], mean, bins),
        delay_sd_us=None if sd is None else sd / PS_PER_US,
        interarrival_sd_us=None if gap is None else gap / PS_PER_US,
        loss_ratio=lost / (lost + arrived) if lost + arrived else None,
        packets=sent,
        delivered=delivered,
        trials=len(answers),
        fairness=_jain(per_flow),
        values=values,
        per_flow_mbps=per_flow,
        delays=bins,
        arrivals_ps=_arrivals(chosen) if len(selection.flows) == 1 else (),
        **_port(selection, answers, layer),
    )


def _per_flow(
    selection: SubjectSelection, chosen: Sequence[FlowReport], trials: int, layer: str
) -> tuple[float, ...]:
    """Throughput of each flow in the order of the selection, mean of the trials, Mb/s."""
    sums = dict.fromkeys(selection.flows, 0.0)
    for flow in chosen:
        sums[flow.name] += _of_layer(flow.throughput_by_layer_bps, layer)
    return tuple(total / trials / 1e6 for total in sums.values())


def _of_layer(rates: LayerReport, layer: str) -> float:
    return {"ip": rates.ip, "frame": rates.frame, "wire": rates.wire}[layer]


def _pooled(parts: Sequence[tuple[int, _Moments | GapReport]]) -> tuple[float | None, float | None]:
    """Mean and standard deviation (divisor n) of several populations of known size, taken together."""
    known = [
        (count, part.mean, part.sd)
        for count, part in parts
        if count and part.mean is not None and part.sd is not None
    ]
    total = sum(count for count, _, _ in known)
    if not total:
        return None, None
    mean = sum(count * m for count, m, _ in known) / total
    variance = sum(count * (s * s + (m - mean) ** 2) for count, m, s in known) / total
    return mean, math.sqrt(variance)


def _times(selection: SubjectSelection, flow: FlowReport) -> tuple[int, _Moments, NDArray[np.int64]]:
    """How many times were measured of a flow, their moments and their histogram: one way, or round trips."""
    if not selection.round_trip:
        return flow.delivered, flow.delay_ps, flow.bins
    answered = flow.transactions
    assert answered is not None
    times = answered.rtt_without_timeout_ps if selection.without_timeouts else answered.rtt_ps
    assert times is not None
    return times.count, times, times.bins


def _delays(parts: Sequence[_Moments], mean: float | None, bins: NDArray[np.int64]) -> dict[str, float]:
    return {
        "mean": (mean or 0.0) / PS_PER_US,
        "min": min(part.min for part in parts if part.min is not None) / PS_PER_US,
        "max": max(part.max for part in parts if part.max is not None) / PS_PER_US,
        **_quantiles(bins),
    }


def _added(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64] | None:
    """Several histograms as one, by rising edge; None of none."""
    if not parts:
        return None
    bins = np.concatenate(parts)
    return bins[np.argsort(bins[:, 0], kind="stable")]


def _quantiles(bins: NDArray[np.int64]) -> dict[str, float]:
    """Quantiles by nearest rank, each the upper edge of its bin; bins by rising edge."""
    edges, counts = bins.T
    reached = np.cumsum(counts)
    ranks = [math.ceil(quantile * reached[-1]) for quantile in QUANTILES.values()]
    found = edges[np.searchsorted(reached, ranks)] / PS_PER_US
    return dict(zip(QUANTILES, found.tolist(), strict=True))


def _arrivals(chosen: Sequence[FlowReport]) -> tuple[NDArray[np.int64], ...]:
    samples = [np.array(flow.samples, dtype=np.int64) for flow in chosen if flow.samples]
    # A lost packet's delay is -1.
    return tuple(np.sort(np.sum(sample[sample[:, 1] >= 0], axis=1)) for sample in samples)


def _jain(rates: Sequence[float]) -> float | None:
    """Jain's index of the flows' throughputs: 1 is fair, 1/n is one flow taking all (Jain, Chiu, Hawe 1984)."""
    squares = sum(rate * rate for rate in rates)
    return sum(rates) ** 2 / (len(rates) * squares) if squares else None


def _port(selection: SubjectSelection, answers: Sequence[TwinReport], layer: str) -> dict[str, Any]:
    """The port's unused capacity and the entries of the subject's queues."""
    if selection.port is None:
        return {}
    node, name = selection.port
    ports = [p for answer in answers for p in answer.ports if (p.node, p.port) == (node, name)]
    lines = [port.line for port in ports]
    carried, idle = _mean([_carried_bps(line, layer) for line in lines]), _mean([line.idle_bps for line in lines])
    unused = {"framing": _mean([line.rate_bps for line in lines]) - carried - idle, "idle": idle}
    queues = tuple(q for p in ports for q in p.queues if q.name in set(selection.queues))
    return {"unused_mbps": unused, "queues": queues, "series": _series(ports, selection.queues)}


def _series(ports: Sequence[PortReport], names: Sequence[str]) -> tuple[NDArray[np.int64], ...]:
    sums: list[NDArray[np.int64]] = []
    for port in ports:
        if port.series is not None:
            chosen = [n for n, queue in enumerate(port.queues) if not names or queue.name in set(names)]
            sums.append(np.array(port.series.bytes_out, dtype=np.int64)[:, chosen].sum(axis=1))
    return tuple(sums)


def _carried_bps(line: LineReport, layer: str) -> float:
    return {"ip": line.ip_bps, "frame": line.frame_bps, "wire": line.wire_bps}[layer]


def _mean(rates_bps: Sequence[float]) -> float:
    """A figure of the line over the measured time, mean of the trials, Mb/s."""
    return float(sum(rates_bps)) / len(rates_bps) / 1e6
