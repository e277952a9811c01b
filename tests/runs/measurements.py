"""What an external tester gives."""

from __future__ import annotations

from typing import Any

from qosforge.tester.measurement.document import FlowResult, Measurement, ScenarioResult, When

MILLISECOND = 10**9
"""In picoseconds."""


def measured(when: When, delay: int, *, evidence: Any = "measured") -> Measurement:
    """What a probe says: a packet every 2 ms for five minutes, one in five looked at, all as late."""
    samples = tuple((n * 10 * MILLISECOND, delay) for n in range(30_000))
    flow = FlowResult(
        traffic_class="robin",
        path="infn→vme",
        name="probe",
        sent=5 * len(samples),
        delivered=5 * len(samples),
        lost=0,
        samples=samples,
        sample_every=5,
    )
    scenario = ScenarioResult(name="one-way", title="probe", flows=(flow,))
    return Measurement(
        when=when, evidence=evidence, tester="probe", seed=0, delay_reference="first bit to first bit",
        scenarios=(scenario,),
    )  # fmt: skip
