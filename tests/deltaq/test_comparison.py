"""Samples are told apart where they differ, and seldom where they do not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import signal

from qosforge.deltaq.comparison import compare_samples
from qosforge.deltaq.sample import Sample

MS = 10**9
CONFIDENCE = 0.95


def sample(delays_ms: NDArray[np.float64], lost: float = 0.0, seed: int = 1) -> Sample:
    gone = np.random.default_rng(seed).random(delays_ms.size) < lost
    return Sample.of_delays(np.where(gone, np.inf, np.trunc(delays_ms * MS)))


def waves(seed: int, correlation: float = 0.9, n: int = 3_000) -> NDArray[np.float64]:
    """Dependent delays around 20 ms."""
    noise = np.random.default_rng(seed).standard_normal(n + 200)
    return np.asarray(20 + signal.lfilter([1.0], [1.0, -correlation], noise)[200:])


def test_a_shorter_queue_is_better_and_a_longer_one_worse() -> None:
    short, long = sample(waves(61, n=9_000)), sample(waves(62, n=9_000) + 3)
    gained = compare_samples(long, short, CONFIDENCE)
    assert gained.order == "less"
    assert gained.worse_ps is None
    assert gained.better_ps is not None
    assert 10 * MS < gained.better_ps[0] < gained.better_ps[1] < 35 * MS
    lost = compare_samples(short, long, CONFIDENCE)
    assert (lost.order, lost.better_ps, lost.worse_ps) == ("greater", None, gained.better_ps)


def test_sooner_but_less_is_neither() -> None:
    crossing = compare_samples(sample(waves(63) + 3), sample(waves(64), lost=0.1), CONFIDENCE)
    assert crossing.order == "incomparable"
    assert crossing.better_ps is not None
    assert crossing.worse_ps is not None
    assert crossing.better_ps[0] < crossing.worse_ps[1]


def test_loss_alone_is_told_apart() -> None:
    before, after = sample(waves(65, n=9_000)), sample(waves(66, n=9_000), lost=0.05)
    assert compare_samples(before, after, CONFIDENCE).order == "greater"


def test_the_same_network_is_seldom_told_apart() -> None:
    orders = [
        compare_samples(sample(waves(1_000 + n)), sample(waves(2_000 + n)), CONFIDENCE).order for n in range(60)
    ]
    # 5 % of 60 is 3; 9 is where luck ends (one in a thousand).
    assert sum(order != "equal" for order in orders) <= 9


def test_too_few_packets_tell_nothing() -> None:
    assert compare_samples(Sample.single([(0, 50 * MS)]), Sample.single([(0, MS)]), CONFIDENCE).order == "equal"
    assert compare_samples(Sample.single([(0, -1)]), Sample.single([(0, -1)]), CONFIDENCE).order == "equal"


def test_nothing_arriving_any_more_is_worse() -> None:
    dead = Sample.single([(number, -1) for number in range(500)])
    assert compare_samples(sample(waves(67)), dead, CONFIDENCE).order == "greater"


@pytest.mark.parametrize(("before", "after"), [([], [(0, 1)]), ([(0, 1)], [])])
def test_an_empty_sample_is_refused(before: list[tuple[int, int]], after: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="empty"):
        compare_samples(Sample.single(before), Sample.single(after), CONFIDENCE)
