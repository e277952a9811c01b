"""Indices over classes and simulations, gaps between packets, and rivals read together; figures by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from qosforge.experiments.cases import SubjectSelection
from qosforge.experiments.metrics import METRICS, NotMeasured
from qosforge.experiments.rows import ResultRow
from qosforge.experiments.running import LoadPoint, _beside
from tests.experiments.sample_rows import row


def of_row(name: str, subject: str, *rows: ResultRow) -> float:
    metric = METRICS[name]
    assert metric.of_row is not None
    by_subject = {one.subject: one for one in rows}
    return metric.of_row(by_subject[subject], by_subject)


def got(name: str, throughput: float, expected: float) -> ResultRow:
    return row(name, selection=SubjectSelection(expected={"throughput_mbps": expected}), throughput_mbps=throughput)


def delayed(name: str, delay_us: float, *rivals: str) -> ResultRow:
    return row(name, selection=SubjectSelection(rivals=rivals), delay_us={"max": delay_us, "p99": delay_us / 2})


WHOLE = row("s", selection=SubjectSelection(peers=("s.a", "s.b")))


def test_indices_of_throughput_are_means_over_the_classes() -> None:
    rows = (WHOLE, got("s.a", 1.1, 1.0), got("s.b", 1.4, 2.0))

    assert of_row("q1_percent", "s", *rows) == pytest.approx(100 * (0.1 + 0.3) / 2)
    assert of_row("q2_percent", "s", *rows) == pytest.approx(100 * (0.01 + 0.09) / 2)


def test_indices_of_delay_count_from_the_best_rival() -> None:
    both = ("s.a", "t.a")
    rows = (
        row("s", selection=SubjectSelection(peers=("s.a",))),
        delayed("s.a", 30, *both),
        delayed("t.a", 20, *both),
    )

    assert of_row("q1_max_delay", "s", *rows) == pytest.approx(0.5)
    assert of_row("q2_max_delay", "s", *rows) == pytest.approx(0.25)
    assert of_row("q1_p99_delay", "s", *rows) == pytest.approx(0.5)
    assert of_row("q2_p99_delay", "s", *rows) == pytest.approx(0.25)


def test_an_index_needs_classes_with_an_expected_throughput() -> None:
    with pytest.raises(NotMeasured, match="no classes"):
        of_row("q1_percent", "s", row("s"))
    with pytest.raises(NotMeasured, match="expected throughput"):
        of_row("q1_percent", "s", WHOLE, got("s.a", 1, 0), got("s.b", 1, 1))


def test_a_ratio_to_no_deviation_is_infinite() -> None:
    ratio = METRICS["q1_ratio"].of_change
    assert ratio is not None
    assert [ratio(3, 2), ratio(3, 0), ratio(0, 0)] == [1.5, math.inf, 1.0]


def test_gaps_are_those_within_a_trial() -> None:
    trials = (np.array([0, 3_000_000, 9_000_000]), np.array([50_000_000, 65_000_000]))
    sampled = row("s", arrivals_ps=trials)

    assert of_row("largest_gap_us", "s", sampled) == 15
    assert of_row("suspension_granularity_us", "s", sampled) == 3
    with pytest.raises(NotMeasured, match="sampled"):
        of_row("largest_gap_us", "s", row("s"))


def test_rivals_of_one_load_are_read_together_and_others_stay_apart() -> None:
    def at(load: float, name: str, *rivals: str) -> LoadPoint:
        found = {name: row(name, load, selection=SubjectSelection(rivals=rivals))}
        return LoadPoint(load, found, (found, found))

    both = ("s.a", "t.a")
    points = _beside([at(1, "s.a", *both), at(1, "t.a", *both), at(2, "s.a", *both), at(1, "u.a")])

    assert [set(point.pooled) for point in points] == [{"s.a", "t.a"}, {"s.a"}, {"u.a"}]
    assert [set(trial) for trial in points[0].trials] == [{"s.a", "t.a"}] * 2
