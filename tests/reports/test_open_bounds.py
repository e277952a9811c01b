"""Why bounds are open, said of all of them at once."""

from __future__ import annotations

import numpy as np

from qosforge.deltaq.objective import Objective, ObjectiveVerdict
from qosforge.deltaq.sample import Sample
from qosforge.deltaq.verdict import judge, make_inconclusive
from qosforge.reports.open_bounds import OpenBounds, open_bounds
from qosforge.reports.verdict_rows import rows_by_side
from qosforge.tester.measurement.judging import ClassVerdict

MS = 1e9


def of(traffic_class: str, objective: Objective, verdict: ObjectiveVerdict) -> ClassVerdict:
    return ClassVerdict(
        scenario="one", traffic_class=traffic_class, path="a→b", objective=objective, verdict=verdict
    )


def judged(traffic_class: str, objective: Objective, packets: int, mean_ms: float = 5.0) -> ClassVerdict:
    generator = np.random.default_rng(91)
    parts = [20 * MS + generator.exponential(mean_ms * MS, packets) for _ in range(16)]
    return of(
        traffic_class, objective, judge(objective, Sample.of_delays(*parts, independent=True), evidence="predicted")
    )


def test_what_is_open_for_one_reason_is_counted_together() -> None:
    few = Objective(delay={"p50": 0.5, "p99.9": 0.5, "p99.99": 0.5}, episode_packets=1)
    near = Objective(delay={"p95": 0.0352})
    found = rows_by_side(
        {
            "predicted": [judged("voice", few, 30), judged("video", few, 30), judged("data", near, 800)],
            "before": [judged("voice", few, 3)],
        }
    )
    assert open_bounds(found, "predicted") == (
        OpenBounds("few", 4, True, ("99.9 %", "99.99 %")),
        OpenBounds("near", 1, True),
    )
    assert open_bounds(found, "after") == ()


def test_what_keeps_a_whole_verdict_open_is_its_reason_whatever_the_figures_say() -> None:
    wide = Objective(delay={"p95": 0.5}, loss=0.1, episode_packets=1)
    met = judged("voice", wide, 800)
    assert open_bounds(rows_by_side({"after": [met]}), "after") == ()
    cut = of("voice", wide, make_inconclusive(met.verdict, "the measurement was cut short: 5 s of 60 s"))
    (found,) = open_bounds(rows_by_side({"after": [cut]}), "after")
    assert found == OpenBounds("undecided", 2, False, (), "the measurement was cut short: 5 s of 60 s")
