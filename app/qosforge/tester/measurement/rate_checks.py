"""Checks of rates: that throughput and offered load of a measured flow agree with its counts.

The document has no packet sizes. So a rate is refused only where no IP packet is so small or so large, and the
difference of both rates only where the lost packets cannot make it up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from qosforge.tester.measurement.delay_checks import ROUNDED
from qosforge.tester.measurement.faults import Fault

if TYPE_CHECKING:
    from qosforge.tester.measurement.document import FlowResult, ScenarioResult

LEAST_BYTES = 20
"""Of an IP packet: its header."""

MOST_BYTES = 9_216
"""Of an IP packet: a jumbo frame's. Larger segments are cut by the sender's card, and count as what they become."""

_HINT = "give the IP bits of the packets that are counted, over the seconds that were measured"


def rate_faults(scenario: ScenarioResult, flow: FlowResult) -> Iterator[Fault]:
    """The faults of a flow's rates, by the place in it; none where nobody said how long was measured.

    A throughput of 0 is one that was not said.
    """
    if scenario.seconds is None:
        return
    seconds = scenario.seconds * _periods(scenario, flow)
    rates = [("offered_bps", flow.offered_bps, flow.sent, "sent")]
    if flow.throughput_bps:
        rates.append(("throughput_bps", flow.throughput_bps, flow.delivered, "delivered"))
    wrong = False
    for field, rate, packets, what in rates:
        if rate is None:
            continue
        # Those under way when the measurement began or ended may count or not.
        edge = _under_way(flow, seconds) if field == "throughput_bps" else 0.0
        least = max(0.0, packets - edge) * LEAST_BYTES * 8 / seconds
        most = (packets + edge) * MOST_BYTES * 8 / seconds
        if not least * (1 - ROUNDED) - 1 <= rate <= most * (1 + ROUNDED) + 1:
            wrong = True
            message = (
                f"flow {flow.name}: {field} is said to be {rate}, but {packets} packets {what} in {seconds:g} s, "
                f"of {LEAST_BYTES} to {MOST_BYTES:,} bytes each, are {least:.0f} to {most:.0f} b/s"
            )
            yield Fault(field, message, _HINT)
    if not wrong:
        yield from _check_balance(flow, seconds)


def _check_balance(flow: FlowResult, seconds: float) -> Iterator[Fault]:
    """Where what was offered, less what arrived, is not what was lost."""
    offered, arrived = flow.offered_bps, flow.throughput_bps
    if not offered or not arrived or not flow.sent:
        return
    mean_bits = offered * seconds / flow.sent
    forgiven = ROUNDED * (offered + arrived) + 1 + _under_way(flow, seconds) * mean_bits / seconds
    least = flow.lost * LEAST_BYTES * 8 / seconds
    most = flow.lost * MOST_BYTES * 8 / seconds
    if least - forgiven <= offered - arrived <= most + forgiven:
        return
    field = "throughput_bps" if arrived > offered else "offered_bps"
    message = (
        f"flow {flow.name}: {field} contradicts the counts: {offered} b/s offered and {arrived} b/s of throughput, "
        f"but {flow.lost} of {flow.sent} packets lost, {least:.0f} to {most:.0f} b/s"
    )
    yield Fault(field, message, _HINT)


def _periods(scenario: ScenarioResult, flow: FlowResult) -> int:
    """Periods that the counts are of: all, where a flow of several stands there once and without samples."""
    once = sum(1 for each in scenario.flows if each.name == flow.name) == 1
    return scenario.replications if once and not flow.samples else 1


def _under_way(flow: FlowResult, seconds: float) -> float:
    """Packets that can be under way at a moment if they come evenly, by the longest delay known; one at least, and
    all where none is known."""
    longest = flow.max_delay_ps
    if longest is None:
        seen = [delay for _, delay in flow.samples] + [edge for edge, count in flow.histogram if count > 0]
        longest = max(seen, default=None) if seen else None
    if longest is None or longest < 0:
        return float(flow.sent)
    return 1 + flow.sent * min(1.0, longest / 1e12 / seconds)
