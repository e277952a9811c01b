"""Checks of one flow: that its counts, samples and histogram agree.

Of the figures of a flow, extremes and quantiles are looked at here where there are samples; those of packets on a
wire in :mod:`qosforge.tester.measurement.delay_checks`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from qosforge.deltaq.distribution import LOST
from qosforge.tester.measurement.delay_checks import MOST_DELAY_PS, sample_faults
from qosforge.tester.measurement.faults import Fault

if TYPE_CHECKING:
    from qosforge.tester.measurement.document import FlowResult

MOST_SECONDS = 7 * 86_400
"""A week: no measurement, and no warm-up, lasts longer."""

_COUNT = "count, and look at, the same packets"


def flow_faults(flow: FlowResult) -> Iterator[Fault]:
    """The faults of a flow, by the place in it: of the first of its parts that has some, as others rest on it."""
    for look in (_check_samples, _check_histogram, sample_faults):
        found = list(look(flow))
        yield from found
        if found:
            return


def _check_samples(flow: FlowResult) -> Iterator[Fault]:
    if not flow.samples:
        return
    name = f"flow {flow.name}"
    lost = sum(1 for _, delay in flow.samples if delay == LOST)
    wanted = -(-flow.sent // flow.every)
    if len(flow.samples) != wanted or (flow.every == 1 and lost != flow.lost):
        kept = f", one in {flow.every} looked at" if flow.every > 1 else ""
        message = (
            f"{name}: {len(flow.samples)} samples with {lost} lost, "
            f"but {flow.sent} packets sent with {flow.lost} lost{kept}"
        )
        yield Fault("samples", message, f"{_COUNT}: one sample for every sample_every-th one")
        return
    for number, (sent, delay) in enumerate(flow.samples):
        if not LOST <= delay <= MOST_DELAY_PS:
            message = (
                f"{name}: a delay is -1 for a lost packet, or 0 to {MOST_DELAY_PS:,} ps (an hour), not {delay}"
            )
            yield Fault(f"samples.{number}.1", message, "give picoseconds; by clocks that agree none is negative")
        if not 0 <= sent <= MOST_SECONDS * 10**12:
            message = f"{name}: a packet cannot be sent at {sent} ps"
            yield Fault(f"samples.{number}.0", message, "count picoseconds from the beginning of the period")
    arrived = Counter(sample for sample in flow.samples if sample[1] != LOST)
    twice = next((sample for sample, count in arrived.items() if count > 1), None)
    if twice is not None:
        number = flow.samples.index(twice, flow.samples.index(twice) + 1)
        message = f"{name}: the packet sent at {twice[0]} ps that took {twice[1]} ps is there twice"
        yield Fault(f"samples.{number}", message, "give each packet once")
    if lost > flow.lost or len(flow.samples) - lost > flow.delivered:
        message = (
            f"{name}: samples with {len(flow.samples) - lost} delivered and {lost} lost, "
            f"but {flow.delivered} delivered and {flow.lost} lost in all"
        )
        yield Fault("samples", message, _COUNT)


def _check_histogram(flow: FlowResult) -> Iterator[Fault]:
    name = f"flow {flow.name}"
    before = -1
    for number, (edge, count) in enumerate(flow.histogram):
        if count < 0:
            message = f"{name}: a bin of the histogram cannot hold {count} packets"
            yield Fault(f"histogram.{number}.1", message, "count the packets of each bin")
        if edge <= before:
            message = f"{name}: the edges of the histogram ascend from 0 on, and {edge} ps comes after {before} ps"
            yield Fault(
                f"histogram.{number}.0", message.replace(" after -1 ps", " first"), "order the bins by edge"
            )
        before = edge
    held = sum(count for _, count in flow.histogram)
    if flow.histogram and held != flow.delivered:
        message = f"{name}: the histogram does not hold the {flow.delivered} packets delivered, but {held}"
        yield Fault("histogram", message, "count every packet that arrived, in one bin each")
