"""What an outside tester gives."""

from __future__ import annotations

from typing import Any

from app.tester.measurement import FlowResult, Measurement, ScenarioResult, When

MILLISECOND = 10**9
"""In picoseconds."""


def measured(when: When, delay: int, *, evidence: Any = "measured") -> Measurement:
    """What a probe says: a packet every 2 ms for 20 s, all as late."""
    samples = tuple((n * 2 * MILLISECOND, delay) for n in range(10_000))
    flow = FlowResult(
        traffic_class="robin",
        path="infn→vme",
        name="probe",
        sent=len(samples),
        delivered=len(samples),
        lost=0,
        samples=samples,
    )
    scenario = ScenarioResult(name="one-way", title="probe", flows=(flow,))
    return Measurement(
        when=when, evidence=evidence, tester="probe", seed=0, delay_reference="first bit to first bit",
        scenarios=(scenario,),
    )  # fmt: skip
