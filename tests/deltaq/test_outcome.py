"""Quality of Outcome: the draft's own example, and its edges."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from qosforge.deltaq.distribution import DeltaQ
from qosforge.deltaq.outcome import FigureRange, Requirement, quality_of_outcome, score
from tests.deltaq.test_distribution import bounded

MS = 10**9
EXAMPLE = Requirement(
    latency={
        "p99": FigureRange(optimal=0.2, unacceptable=0.5),
        "p99.9": FigureRange(optimal=0.3, unacceptable=0.6),
    },
    loss=FigureRange(optimal=0.01, unacceptable=0.05),
    throughput_bps=4e6,
)


def test_the_worked_example_of_the_draft() -> None:
    quality = quality_of_outcome(EXAMPLE, {"p99": 0.350, "p99.9": 0.375}, loss=0.02, throughput_bps=28e6)
    assert quality.latency == pytest.approx(50)
    assert quality.loss == pytest.approx(75)
    assert quality.throughput == 100
    assert quality.score == pytest.approx(50)


def test_the_same_example_as_a_distribution() -> None:
    """Of 10,000 packets 2 % are lost; of the others 99 % arrive by 350 ms, 99.9 % by 375 ms."""
    sample = [*[10 * MS] * 9_000, *[350 * MS] * 702, *[375 * MS] * 89, *[400 * MS] * 9, *[-1] * 200]
    quality = score(EXAMPLE, DeltaQ.from_delays(sample), throughput_bps=28e6)
    assert (quality.latency, quality.loss, quality.score) == pytest.approx((50, 75, 50))


def test_best_worst_and_too_slow() -> None:
    good = {"p99": 0.1, "p99.9": 0.3}
    assert quality_of_outcome(EXAMPLE, good, 0, 4e6).score == 100
    assert quality_of_outcome(EXAMPLE, good, 0, 4e6 - 1).score == 0
    assert quality_of_outcome(EXAMPLE, good, 0.05, 4e6).score == 0
    assert quality_of_outcome(EXAMPLE, {**good, "p99.9": 0.7}, 0, 4e6).score == 0
    assert quality_of_outcome(EXAMPLE, {**good, "p99": math.inf}, 0, 4e6).latency == 0


def test_nothing_that_arrives_is_worth_nothing() -> None:
    quality = score(EXAMPLE, DeltaQ.lost(), throughput_bps=0)
    assert (quality.latency, quality.loss, quality.throughput, quality.score) == (0, 0, 0, 0)


@bounded
@given(st.lists(st.integers(-1, 10**12), min_size=1, max_size=30), st.integers(0, 10**12))
def test_more_delay_never_scores_higher(sample: list[int], more: int) -> None:
    network = DeltaQ.from_delays(sample)
    later = network.shift(more)
    assert score(EXAMPLE, later, 5e6).score <= score(EXAMPLE, network, 5e6).score
    assert 0 <= score(EXAMPLE, network, 5e6).score <= 100


def test_a_percentile_that_was_not_measured_is_named() -> None:
    with pytest.raises(ValueError, match=r"p99\.9 of latency is required"):
        quality_of_outcome(EXAMPLE, {"p99": 0.1}, 0, 5e6)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"latency": {}}, "at least 1"),
        ({"latency": {"best": {"optimal": 1, "unacceptable": 2}}}, "quantile"),
        ({"latency": {"p99": {"optimal": 2, "unacceptable": 2}}}, "must be above"),
        ({"loss": {"optimal": 0, "unacceptable": 2}}, "above 1"),
        ({"loss": {"optimal": -0.1, "unacceptable": 0.2}}, "greater than or equal to 0"),
        ({"throughput_bps": math.inf}, "finite"),
    ],
)
def test_what_cannot_be_required_is_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Requirement.model_validate({**EXAMPLE.model_dump(), **wrong})
