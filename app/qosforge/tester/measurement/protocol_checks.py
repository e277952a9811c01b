"""Checks of a whole measurement of real packets: names, times and copies, beside the checks of each flow.

Times count from the beginning of each period, its warm-up included. What is sent within the seconds that were
measured is looked at, and its arrival waited for. A simulation goes on until its last packet has arrived.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from qosforge.deltaq.distribution import LOST
from qosforge.tester.measurement.delay_checks import ROUNDED, delay_faults
from qosforge.tester.measurement.faults import Fault
from qosforge.tester.measurement.rate_checks import rate_faults

if TYPE_CHECKING:
    from qosforge.tester.measurement.document import FlowResult, Measurement, ScenarioResult

WAITED_SECONDS = 2.0
"""How long a tester that does not say so waits for its last packets (RFC 2544, section 23)."""

LEAST_VARIED = 20
"""Different delays from which on no two flows, or periods, have the same ones in the same order by chance."""

_PS = 10**12


def protocol_faults(measurement: Measurement) -> Iterator[Fault]:
    """The faults of what packets showed, by the place in the document; a simulation has none."""
    seen: set[str] = set()
    for number, scenario in enumerate(measurement.scenarios):
        if measurement.evidence_of(scenario) != "measured":
            continue
        if scenario.name in seen:
            message = f"scenario {scenario.name} is there twice"
            yield Fault(f"scenarios.{number}", message, "give each scenario once, with all its flows")
        seen.add(scenario.name)
        place = f"scenarios.{number}.flows"
        yield from _check_names(place, scenario)
        for position, flow in enumerate(scenario.flows):
            yield from _check_times(f"{place}.{position}.samples", scenario, flow)
            for fault in (*delay_faults(flow), *rate_faults(scenario, flow)):
                yield replace(fault, path=f"{place}.{position}.{fault.path}")
        yield from _find_copies(place, scenario)


def _check_names(place: str, scenario: ScenarioResult) -> Iterator[Fault]:
    """Flows that are there twice, or change, or that a period lacks."""
    first: dict[str, FlowResult] = {}
    periods: dict[str, set[int]] = {}
    for position, flow in enumerate(scenario.flows):
        name = f"flow {flow.name}"
        known = first.setdefault(flow.name, flow)
        if flow.replication in periods.setdefault(flow.name, set()):
            message = f"{name} is there twice in period {flow.replication}"
            yield Fault(f"{place}.{position}", message, "give each flow once a period, under a name of its own")
        periods[flow.name].add(flow.replication)
        said, was = ((each.traffic_class, each.path) for each in (flow, known))
        if said != was:
            message = f"{name} is of class {said[0]} on {said[1]}, and of class {was[0]} on {was[1]} before"
            yield Fault(f"{place}.{position}", message, "a flow keeps its class and path in all periods")
    looked_at = {flow.name for flow in scenario.flows if flow.samples}
    every = set().union(*(periods[name] for name in looked_at))
    for name in sorted(looked_at):
        for period in sorted(every - periods[name]):
            message = f"flow {name} is not in period {period}, which has others"
            yield Fault(place, message, "give every flow in each period, with the counts of what it sent there")


def _check_times(place: str, scenario: ScenarioResult, flow: FlowResult) -> Iterator[Fault]:
    """The first packet out of the order of sending, and the first one outside the measurement."""
    name = f"flow {flow.name}"
    before = -1
    for number, (sent, _) in enumerate(flow.samples):
        if sent == before:
            message = f"{name}: the packet sent at {sent} ps is there twice"
            yield Fault(f"{place}.{number}", message, "give each packet once, by a clock that tells packets apart")
            break
        if sent < before:
            message = f"{name}: not in the order of sending, {sent} ps comes after {before} ps"
            yield Fault(f"{place}.{number}", message, "order samples by their times, which start anew each period")
            break
        before = sent
    if scenario.seconds is None:
        return
    begin = (scenario.warm_up_seconds or 0) * _PS
    end = begin + scenario.seconds * _PS
    waited = WAITED_SECONDS if scenario.waited_seconds is None else scenario.waited_seconds
    for number, (sent, delay) in enumerate(flow.samples):
        entry = f"{place}.{number}"
        if not begin * (1 - ROUNDED) <= sent <= end * (1 + ROUNDED):
            after = f" after a warm-up of {scenario.warm_up_seconds:g} s" if scenario.warm_up_seconds else ""
            message = f"{name}: sent at {sent} ps, outside the {scenario.seconds:g} s that were measured{after}"
            hint = "count from the beginning of the period, its warm-up included, and say how long was measured"
            yield Fault(entry, message, hint)
            return
        if delay == LOST:
            continue
        if delay > scenario.seconds * _PS:
            message = f"{name}: a delay of {delay} ps is longer than the {scenario.seconds:g} s of {scenario.name}"
            yield Fault(entry, message, "a packet that was not seen within the measurement is lost: -1")
            return
        if sent + delay > end * (1 + ROUNDED) + waited * _PS:
            message = (
                f"{name}: it arrived at {sent + delay} ps, more than {waited:g} s after the end of measurement"
            )
            yield Fault(
                entry, message, "say in waited_seconds how long packets were waited for; later ones are lost"
            )
            return


def _find_copies(place: str, scenario: ScenarioResult) -> Iterator[Fault]:
    """Flows with the packets of one before, or with its delays where these vary: one period given twice."""
    packets: dict[object, FlowResult] = {}
    for position, flow in enumerate(scenario.flows):
        delays = tuple(delay for _, delay in flow.samples)
        if sum(delay != LOST for delay in delays) < 2:
            continue
        keys: list[object] = [flow.samples]
        if len(set(delays)) >= LEAST_VARIED:
            keys.append(delays)
        known = next((packets[key] for key in keys if key in packets), None)
        for key in keys:
            packets.setdefault(key, flow)
        if known is not None:
            message = (
                f"flow {flow.name} in period {flow.replication} has the samples of flow {known.name} in "
                f"period {known.replication}"
            )
            yield Fault(f"{place}.{position}", message, "give what was measured once, under one name and period")
