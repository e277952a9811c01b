"""Checks of delay statistics: that the figures of a flow agree with its counts, samples and histogram.

A figure may be rounded to a thousandth of itself (`ROUNDED`). Where every packet was looked at, it must be that of
the samples; where one in so many was, it is refused only where no delays of those between could make it what it is
said to be.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from qosforge.deltaq.distribution import LOST
from qosforge.deltaq.objective import quantile_of
from qosforge.tester.measurement.delay_ranges import DelayRanges, Limits
from qosforge.tester.measurement.faults import Fault

if TYPE_CHECKING:
    from qosforge.tester.measurement.document import FlowResult

MOST_DELAY_PS = 3_600 * 10**12
"""An hour: no packet of a network takes longer."""

ROUNDED = 1e-3
"""Part of a figure that rounding may take or add."""

_RECKONED = 1e-7
"""Part of the mean by which a deviation may be off where it is reckoned from sums of squares."""

_OF_THE_SAME = "give it of the same packets, rounded to a thousandth at most, or leave it out"


def delay_faults(flow: FlowResult) -> Iterator[Fault]:
    """The faults of all figures of a flow, by the place in it; its samples and its histogram have none."""
    found = list(_check_labels(flow))
    yield from found or _check_figures(flow)


def sample_faults(flow: FlowResult) -> Iterator[Fault]:
    """The faults of extremes and quantiles against the samples, by the place in the flow."""
    if not flow.samples or not flow.delivered:
        return
    ranges = _sample_ranges(flow)
    found = list(_check_labels(flow)) or list(_check_extremes(flow, "the samples", ranges))
    yield from found or _check_quantiles(flow, "the samples", ranges)


def _check_figures(flow: FlowResult) -> Iterator[Fault]:
    if not flow.delivered:
        yield from _check_empty(flow)
        return
    if flow.min_delay_ps is not None and flow.max_delay_ps is not None and flow.min_delay_ps > flow.max_delay_ps:
        message = f"flow {flow.name}: the smallest delay, {flow.min_delay_ps} ps, is above the largest"
        yield Fault("min_delay_ps", message, _OF_THE_SAME)
        return
    for source, ranges in _delay_ranges(flow):
        yield from _check_statistics(flow, source, ranges)
    if flow.samples and flow.histogram:
        yield from _bins_against_samples(flow)


def _check_labels(flow: FlowResult) -> Iterator[Fault]:
    """Labels that are no quantiles, and quantiles that fall."""
    values: dict[float, tuple[str, float]] = {}
    for label, said in flow.quantiles_ps.items():
        try:
            values[quantile_of(label)] = (label, math.inf if said is None else said)
        except ValueError as error:
            yield Fault(f"quantiles_ps.{label}", f"flow {flow.name}: {error}", "name it so")
    ordered = [values[probability] for probability in sorted(values)]
    for (lower, less), (higher, more) in pairwise(ordered):
        if less > more * (1 + ROUNDED):
            message = f"flow {flow.name}: {lower} is said to be {_ps(less)}, above {higher}, {_ps(more)}"
            yield Fault(f"quantiles_ps.{lower}", message, _OF_THE_SAME)


def _check_empty(flow: FlowResult) -> Iterator[Fault]:
    for field in ("mean_delay_ps", "sd_delay_ps", "min_delay_ps", "max_delay_ps", "interarrival_sd_ps"):
        if getattr(flow, field) is not None:
            message = f"flow {flow.name}: nothing arrived, and {field} is said to be {getattr(flow, field)} ps"
            yield Fault(field, message, "leave it out where nothing arrived")
    for label, said in flow.quantiles_ps.items():
        if said is not None:
            message = f"flow {flow.name}: nothing arrived, and {label} is said to be {said} ps"
            yield Fault(f"quantiles_ps.{label}", message, "say null: lost packets never arrive")


def _sample_ranges(flow: FlowResult) -> DelayRanges:
    delays = [delay for _, delay in flow.samples if delay != LOST]
    return DelayRanges.of_samples(delays, flow.delivered - len(delays), MOST_DELAY_PS)


def _delay_ranges(flow: FlowResult) -> Iterator[tuple[str, DelayRanges]]:
    """What tells of the delays of a flow of which something arrived, with its name."""
    if flow.samples:
        yield "the samples", _sample_ranges(flow)
    if flow.histogram:
        yield "the bins of the histogram", DelayRanges.of_histogram(flow.histogram)
    if not flow.samples and not flow.histogram:
        yield "the counts", _sample_ranges(flow)


def _check_extremes(flow: FlowResult, source: str, ranges: DelayRanges) -> Iterator[Fault]:
    for field, said, can in (
        ("min_delay_ps", flow.min_delay_ps, ranges.smallest()),
        ("max_delay_ps", flow.max_delay_ps, ranges.largest()),
    ):
        if fault := _find_outlier(flow, field, said, can, source):
            yield fault


def _check_quantiles(flow: FlowResult, source: str, ranges: DelayRanges) -> Iterator[Fault]:
    for label, said in flow.quantiles_ps.items():
        can = ranges.quantile(quantile_of(label), flow.sent)
        if fault := _find_outlier(flow, label, math.inf if said is None else said, can, source):
            yield Fault(f"quantiles_ps.{label}", fault.message, fault.hint)


def _check_statistics(flow: FlowResult, source: str, ranges: DelayRanges) -> Iterator[Fault]:
    found = list(_check_extremes(flow, source, ranges))
    yield from found
    if found:
        return
    inner = ranges.within(flow.min_delay_ps, flow.max_delay_ps)
    if fault := _find_outlier(flow, "mean_delay_ps", flow.mean_delay_ps, inner.mean(), source):
        yield fault
    more = _RECKONED * inner.mean()[1]
    if flow.sd_delay_ps is not None and (
        fault := _find_outlier(flow, "sd_delay_ps", flow.sd_delay_ps, inner.deviation(), source, more=more)
    ):
        yield fault
    yield from _check_quantiles(flow, source, inner)


def _find_outlier(
    flow: FlowResult, field: str, said: float | None, can: Limits, source: str, *, more: float = 0.0
) -> Fault | None:
    """The fault of a figure that what is known does not allow; ``more`` ps are forgiven beside rounding."""
    low, high = can
    if said is None or low * (1 - ROUNDED) - more - 0.5 <= said <= high * (1 + ROUNDED) + more + 0.5:
        return None
    if math.isinf(said) and math.isinf(high):
        return None
    allowed = _ps(low) if low == high else f"{_ps(low)} to {_ps(high)}"
    message = f"flow {flow.name}: {field} is said to be {_ps(said)}, {source} allow {allowed}"
    return Fault(field, message, _OF_THE_SAME)


def _bins_against_samples(flow: FlowResult) -> Iterator[Fault]:
    """The first bin up to which the histogram counts what the samples do not allow."""
    delays = np.sort(np.array([delay for _, delay in flow.samples if delay != LOST], dtype=np.float64))
    edges, counts = np.array(flow.histogram, dtype=np.float64).T
    up_to = np.cumsum(counts)
    least = np.searchsorted(delays, edges * (1 - ROUNDED) - 1, side="left")
    most = np.searchsorted(delays, edges * (1 + ROUNDED) + 1, side="right") + flow.delivered - delays.size
    wrong = np.flatnonzero((up_to < least) | (up_to > most))
    if wrong.size:
        number = int(wrong[0])
        message = (
            f"flow {flow.name}: the histogram counts {up_to[number]:.0f} packets up to {edges[number]:.0f} ps, "
            f"the samples allow {least[number]} to {most[number]}"
        )
        yield Fault(f"histogram.{number}", message, "count the delays of the same packets, or leave it out")


def _ps(value: float) -> str:
    return "infinite" if math.isinf(value) else f"{value:.0f} ps"
