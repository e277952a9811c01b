"""Measurements that say where a delay arises, with round figures."""

from __future__ import annotations

from qosforge.tester.measurement.document import FlowResult, Measurement, ScenarioResult, When
from qosforge.tester.measurement.path_delay import HopDelay, PathDelay

MS = 10**9


def path_delay(lost: int = 10, composed_ms: float | None = 15.0, node: str = "r1") -> PathDelay:
    """A path of two hops: 2 ms on a fast line, and 10 ms at ``node``, which loses some of 1,000 packets."""
    arrived = 1000 - lost
    waiting = ((6 * MS, arrived // 2), (8 * MS, arrived - arrived // 2)) if arrived else ()
    parts = {"fixed_ps": MS, "serialisation_ps": MS, "longest_serialisation_ps": MS} if arrived else {}
    quick = {"waiting_ps": 0, "waiting": ((0, arrived),)} if arrived else {}
    slow = {"waiting_ps": 7 * MS, "waiting": waiting} if arrived else {}
    measured = {"p50": 10 * MS, "p95": 12 * MS, "p99": 12 * MS} if arrived else dict.fromkeys(("p50", "p95", "p99"))
    composed = None if composed_ms is None else round(composed_ms * MS)
    return PathDelay(
        traffic_class="voice",
        path="a→b",
        sent=1000,
        delivered=arrived,
        mean_ps=11 * MS if arrived else None,
        hops=(
            HopDelay(node="a", port="nic", to=node, **parts, **quick),
            HopDelay(node=node, port="Serial0", to="b", lost=lost, **parts, **slow),
        ),
        unloaded=((4 * MS, arrived),) if arrived else (),
        least_by_size=((100, 5 * MS), (1100, 6 * MS)) if arrived else (),
        composed_ps={"p50": 10 * MS, "p95": composed, "p99": composed} if arrived else measured,
        measured_ps=measured,
    )


def measured(when: When, *found: PathDelay, recorded: bool = True) -> Measurement:
    """A measurement of one scenario with these, or of before it was recorded."""
    flow = FlowResult(name="v", traffic_class="voice", path="a→b", sent=0, delivered=0, lost=0)
    scenario = ScenarioResult(name="calls", title="Calls", flows=(flow,), path_delays=found if recorded else None)
    return Measurement(
        when=when, evidence="emulated", tester="twin", seed=1, delay_reference="first", scenarios=(scenario,)
    )
