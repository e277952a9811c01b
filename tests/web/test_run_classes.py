"""The tile of a class: the figures of which path it shows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from qosforge.deltaq.objective import Objective
from qosforge.deltaq.sample import Sample
from qosforge.deltaq.verdict import judge
from qosforge.reports.verdict_rows import rows_by_side
from qosforge.tester.measurement.judging import ClassVerdict
from qosforge.web.views.run_classes import class_tiles


def judged(delays_ms: Mapping[str, float]) -> tuple[ClassVerdict, ...]:
    """What was seen of a class, by path."""
    objective = Objective(delay={"p95": 0.03})
    found = []
    for path, delay_ms in delays_ms.items():
        seen = Sample.of_delays(*(np.full(2_000, delay_ms * 1e9) for _ in range(24)), independent=True)
        verdict = judge(objective, seen, evidence="emulated")
        found.append(
            ClassVerdict(scenario="one", traffic_class="voice", path=path, objective=objective, verdict=verdict)
        )
    return tuple(found)


def test_what_was_before_is_told_of_the_path_that_is_worst_after() -> None:
    before, after = judged({"a→b": 10, "b→a": 200}), judged({"a→b": 177, "b→a": 20})
    (tile,) = class_tiles(rows_by_side({"before": before, "after": after}), ("before", "after"), ())
    (metric,) = tile.metrics
    assert (metric.path, metric.before, metric.value) == ("a→b", "10 ms", "177 ms")


def test_a_path_that_was_not_judged_before_has_nothing_from_before() -> None:
    before, after = judged({"b→a": 200}), judged({"a→b": 177, "b→a": 20})
    (tile,) = class_tiles(rows_by_side({"before": before, "after": after}), ("before", "after"), ())
    (metric,) = tile.metrics
    assert (metric.path, metric.before, metric.value) == ("a→b", "", "177 ms")
