"""Packets that a measurement of real traffic should have and has not: periods cut short or left out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from qosforge.tester.measurement.document import FlowResult, Measurement, ScenarioResult

SILENT = 0.01
"""Part of the seconds in which, at the end, nothing need be sent."""


@dataclass(frozen=True, slots=True)
class MissingPart:
    """The part of a measurement that is not there: when it would have been, and about how many packets were due."""

    part: str
    packets: int

    def __str__(self) -> str:
        return f"{self.part}, in which some {self.packets:,} packets were due"


def missing_part(
    measurement: Measurement, result: ScenarioResult, flows: Iterable[FlowResult]
) -> MissingPart | None:
    """What is missing of flows at the end of their periods, or of whole periods; ``None`` where nothing is, or
    nobody said how long was measured.

    Nothing is missing of a flow whose last packet was sent no longer before the end than others of it lie apart, or
    within a hundredth of the seconds before it. What was due is reckoned by the pace of what is there.
    """
    if measurement.evidence_of(result) != "measured" or result.seconds is None:
        return None
    seconds, begin = result.seconds, result.warm_up_seconds or 0.0
    looked_at = [flow for flow in flows if flow.samples]
    silent: dict[int, tuple[float, str]] = {}
    due = 0.0
    for flow in looked_at:
        times = np.array([sent for sent, _ in flow.samples]) / 1e12 - begin
        last = float(times.max())
        if seconds - last > max(SILENT * seconds, float(np.diff(times).max(initial=0.0))):
            silent[flow.replication] = max(silent.get(flow.replication, (0.0, "")), (seconds - last, flow.name))
            due += flow.sent * (seconds - last) / max(last, SILENT * seconds)
    periods = {flow.replication for flow in looked_at}
    absent = [number for number in range(result.replications) if number not in periods] if periods else []
    if not silent and not absent:
        return None
    several = result.replications > 1
    parts = [
        f"the last {lacking:.3g} s of {seconds:g} s"
        + (f" of period {number}" if several else "")
        + f" (flow {name})"
        for number, (lacking, name) in sorted(silent.items())
    ]
    if absent:
        parts.append(f"period {', '.join(map(str, absent))} of {result.replications}")
        due += sum(flow.sent for flow in looked_at) / len(periods) * len(absent)
    return MissingPart(" and ".join(parts), round(due))
