"""Metrics of rows and sweeps, against figures worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from qosforge.experiments.cases import SubjectSelection
from qosforge.experiments.metrics import METRICS, NotMeasured
from qosforge.experiments.rows import ResultRow
from tests.experiments.sample_rows import row


def of_row(name: str, subject: str, *rows: ResultRow) -> float:
    metric = METRICS[name]
    assert metric.of_row is not None
    by_subject = {one.subject: one for one in rows}
    return metric.of_row(by_subject[subject], by_subject)


def of_sweep(name: str, *rows: ResultRow) -> float:
    metric = METRICS[name]
    assert metric.of_sweep is not None
    return metric.of_sweep(rows)


def losing(load: float, knee: float) -> ResultRow:
    carried = min(load, knee)
    return row("device", load, offered_mbps=load, throughput_mbps=carried, loss_ratio=1 - carried / load)


def test_the_knee_is_found_between_the_loads() -> None:
    assert of_sweep("knee_load_mbps", *(losing(load, 166.67) for load in (100, 150, 180, 200))) == pytest.approx(
        166.67
    )


def test_a_knee_stays_between_the_last_good_and_the_first_losing_load() -> None:
    # The loss grows faster than the load: a line through it would meet zero beyond both.
    rows = [
        row("device", load, offered_mbps=load, throughput_mbps=rest, loss_ratio=1 - rest / load)
        for load, rest in ((100, 100), (120, 119), (140, 100))
    ]
    assert 100 <= of_sweep("knee_load_mbps", *rows) <= 120


def test_without_a_loss_there_is_no_knee() -> None:
    with pytest.raises(NotMeasured, match="loses nowhere"):
        of_sweep("knee_load_mbps", losing(1, 10), losing(2, 10))


def test_loss_that_grows_with_the_load_is_linear() -> None:
    line = [row("device", load, loss_ratio=0.01 * load) for load in (1.0, 2.0, 3.0, 4.0)]
    assert of_sweep("loss_linearity_error", *line) == pytest.approx(0)
    bent = [*line[:3], row("device", 4.0, loss_ratio=0.14)]
    # Least squares over 0.01, 0.02, 0.03, 0.14: slope 0.04, mean 0.05; the third is 0.03 against 0.07.
    assert of_sweep("loss_linearity_error", *bent) == pytest.approx(0.04)


def shared(name: str, rate: float, delay: float, weight: float) -> ResultRow:
    peers = ("b.q0", "b.q1")
    selection = SubjectSelection(
        peers=peers, facts={"weight": weight, "link_mbps": 100.0}, expected={"delay_ratio": 0.5}
    )
    return row(name, throughput_mbps=rate, delay_us={"mean": delay}, selection=selection)


def test_shares_and_delays_of_peers() -> None:
    rows = shared("b.q0", 30, 10, 0.25), shared("b.q1", 70, 40, 0.75)
    assert of_row("share_error", "b.q0", *rows) == pytest.approx(0.05)
    assert of_row("delay_ratio", "b.q1", *rows) == pytest.approx(0.8)
    assert of_row("delay_ratio_error", "b.q0", *rows) == pytest.approx(0.3)
    assert of_row("load_weighted_delay_us", "b.q0", *rows) == pytest.approx(0.3 * 10 + 0.7 * 40)


def test_unfairness_is_of_the_flows_mean() -> None:
    assert of_row("unfairness_percent", "b", row("b", per_flow_mbps=(99.0, 101.0))) == pytest.approx(2)


def test_round_trips_that_queued() -> None:
    milliseconds = np.array([[100, 2], [103, 3], [107, 4], [300, 1]], dtype=np.int64)
    waiting = row("device", delays=milliseconds * [10**9, 1], selection=SubjectSelection(facts={"packet_ms": 5.0}))
    assert of_row("queued_probability", "device", waiting) == pytest.approx(0.5)
    limit = METRICS["share_above_twice"].of_row_above
    assert limit is not None
    assert limit(waiting, 120.0) == pytest.approx(0.1)
    assert limit(waiting, 150.0) == 0


def test_burstiness_is_the_index_of_dispersion() -> None:
    # 0 and 200 bits: mean 100, variance 10,000. The second trial is even.
    series = (np.array([0, 25, 0, 25]), np.array([5, 5]))
    assert of_row("burstiness", "port", row("port", series=series)) == pytest.approx(50)
    with pytest.raises(NotMeasured, match="port has no series"):
        of_row("burstiness", "port", row("port"))


def test_what_a_row_lacks_is_named() -> None:
    with pytest.raises(NotMeasured, match="b has no delay"):
        of_row("delay_mean_us", "b", row("b"))
    with pytest.raises(NotMeasured, match="b has no link_mbps"):
        of_row("wasted_mbps", "b", row("b", throughput_mbps=1))


def test_trials_vary_by_the_range_of_their_jitter() -> None:
    known = METRICS["trial_variation_percent"].of_trials
    assert known is not None
    assert known([row("a", delay_sd_us=sd) for sd in (9.0, 10.0, 11.0)]) == pytest.approx(20)
    with pytest.raises(NotMeasured, match="one trial"):
        known([row("a", delay_sd_us=1.0)])


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("second_sender_mbps", "no sender 2"),
        ("share_error", "no throughput"),
        ("share_error_short_term", "no window"),
    ],
)
def test_what_cannot_be_divided_or_is_not_there_is_named(name: str, missing: str) -> None:
    silent = SubjectSelection(peers=("device",), facts={"weight": 1.0})
    idle = row(
        "device", selection=silent, throughput_mbps=0.0, per_flow_mbps=(0.0,), series=(np.zeros(3, dtype=np.int64),)
    )
    with pytest.raises(NotMeasured, match=missing):
        of_row(name, "device", idle)


def test_trials_without_jitter_do_not_vary() -> None:
    of_trials = METRICS["trial_variation_percent"].of_trials
    assert of_trials is not None
    with pytest.raises(NotMeasured, match="no jitter"):
        of_trials([row("device", delay_sd_us=0.0), row("device", delay_sd_us=0.0)])
