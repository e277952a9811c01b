"""The laws of ΔQ, and what an empirical one says of its sample."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.deltaq.distribution import DeltaQ, mixture

delays = st.lists(st.integers(-1, 10**12), min_size=1, max_size=12)
outcomes = st.one_of(delays.map(DeltaQ.from_delays), st.just(DeltaQ.lost()), st.just(DeltaQ.identity()))
bounded = settings(max_examples=80, derandomize=True, deadline=None)


def same(one: DeltaQ, other: DeltaQ) -> bool:
    """Equal on the support exactly, in mass to rounding."""
    return np.array_equal(one.delays_ps, other.delays_ps) and np.allclose(one.masses, other.masses, atol=1e-12)


@bounded
@given(outcomes, outcomes)
def test_convolution_commutes(one: DeltaQ, other: DeltaQ) -> None:
    assert same(one.convolve(other), other.convolve(one))


@bounded
@given(outcomes, outcomes, outcomes)
def test_convolution_associates(one: DeltaQ, two: DeltaQ, three: DeltaQ) -> None:
    assert same(one.convolve(two).convolve(three), one.convolve(two.convolve(three)))


@bounded
@given(outcomes)
def test_zero_delay_is_neutral_and_total_loss_absorbs(one: DeltaQ) -> None:
    assert same(one.convolve(DeltaQ.identity()), one)
    assert same(one.convolve(DeltaQ.lost()), DeltaQ.lost())


@bounded
@given(outcomes, outcomes)
def test_a_packet_must_survive_both_parts(one: DeltaQ, other: DeltaQ) -> None:
    assert one.convolve(other).delivered == pytest.approx(one.delivered * other.delivered)


@bounded
@given(outcomes, outcomes, outcomes, st.floats(0, 1))
def test_convolution_distributes_over_choice(one: DeltaQ, two: DeltaQ, three: DeltaQ, weight: float) -> None:
    choice = mixture([(weight, two), (1 - weight, three)])
    apart = mixture([(weight, one.convolve(two)), (1 - weight, one.convolve(three))])
    together = one.convolve(choice)
    for delay in (*apart.delays_ps, *together.delays_ps):
        assert together.cdf(int(delay)) == pytest.approx(apart.cdf(int(delay)), abs=1e-9)


@bounded
@given(outcomes, outcomes, st.floats(0, 1))
def test_a_choice_weighs_its_parts_at_every_delay(one: DeltaQ, other: DeltaQ, weight: float) -> None:
    choice = mixture([(weight, one), (1 - weight, other)])
    assert choice.loss == pytest.approx(weight * one.loss + (1 - weight) * other.loss, abs=1e-9)
    for delay in (*one.delays_ps, *other.delays_ps):
        expected = weight * one.cdf(int(delay)) + (1 - weight) * other.cdf(int(delay))
        assert choice.cdf(int(delay)) == pytest.approx(expected, abs=1e-9)


@bounded
@given(outcomes, outcomes, outcomes)
def test_the_order_is_partial_and_kept_by_convolution(one: DeltaQ, two: DeltaQ, three: DeltaQ) -> None:
    assert one.at_least_as_good_as(one)
    assert one.at_least_as_good_as(DeltaQ.lost())
    assert DeltaQ.identity().at_least_as_good_as(one)
    if one.at_least_as_good_as(two):
        assert one.convolve(three).at_least_as_good_as(two.convolve(three))
        if two.at_least_as_good_as(three):
            assert one.at_least_as_good_as(three)


def test_crossing_distributions_are_not_comparable() -> None:
    quick_but_lossy = DeltaQ.from_delays([1, -1])
    slow_but_sure = DeltaQ.from_delays([5, 5])
    assert not quick_but_lossy.at_least_as_good_as(slow_but_sure)
    assert not slow_but_sure.at_least_as_good_as(quick_but_lossy)


@bounded
@given(outcomes, st.integers(1, 10**9))
def test_coarsening_never_flatters_and_stays_within_a_step(one: DeltaQ, step: int) -> None:
    coarse = one.coarsen(step)
    assert one.at_least_as_good_as(coarse)
    assert np.all(coarse.delays_ps % step == 0)
    if one.delays_ps.size:
        assert coarse.mean_delivered_ps() - one.mean_delivered_ps() < step


@bounded
@given(delays, st.floats(0.001, 1))
def test_a_quantile_is_the_first_delay_that_reaches_its_share(sample: list[int], share: float) -> None:
    deltaq = DeltaQ.from_delays(sample)
    quantile = deltaq.quantile_ps(share)
    arrived = [delay for delay in sample if delay >= 0]
    reached = [d for d in arrived if sum(a <= d for a in arrived) >= share * len(sample) - 1e-6]
    assert quantile == min(reached, default=math.inf)


def test_lost_packets_stay_in_the_sample() -> None:
    deltaq = DeltaQ.from_delays([10, 20, 30, -1])
    assert deltaq.loss == pytest.approx(0.25)
    assert deltaq.cdf(10**18) == pytest.approx(0.75)
    assert deltaq.cdf(19) == pytest.approx(0.25)
    assert deltaq.quantile_ps(0.75) == 30
    assert deltaq.quantile_ps(0.76) == math.inf
    assert deltaq.mean_delivered_ps() == pytest.approx(20)
    assert DeltaQ.lost().mean_delivered_ps() == math.inf


def test_a_histogram_counts_its_bins_at_the_upper_edge() -> None:
    deltaq = DeltaQ.from_histogram([(10, 3), (20, 0), (30, 5)], lost=2)
    assert same(deltaq, DeltaQ.from_delays([10] * 3 + [30] * 5 + [-1] * 2))


def test_large_convolutions_agree_with_small_ones() -> None:
    generator = np.random.default_rng(5)
    one = DeltaQ.from_delays(generator.integers(0, 40_000, 4_000) * 1_000)
    other = DeltaQ.from_delays([*(generator.integers(0, 40_000, 4_000) * 1_000), -1])
    large = one.convolve(other)
    assert large.delivered == pytest.approx(one.delivered * other.delivered, abs=1e-9)
    assert large.mean_delivered_ps() == pytest.approx(one.mean_delivered_ps() + other.mean_delivered_ps())
    probe = 41_000_000
    expected = sum(
        mass * other.cdf(probe - int(delay)) for delay, mass in zip(one.delays_ps, one.masses, strict=True)
    )
    assert large.cdf(probe) == pytest.approx(expected, abs=1e-9)


def test_a_convolution_too_fine_says_what_to_do() -> None:
    generator = np.random.default_rng(6)
    fine = DeltaQ.from_delays(generator.integers(0, 10**11, 4_000))
    with pytest.raises(ValueError, match="coarsen both parts"):
        fine.convolve(fine)
    assert fine.coarsen(10**7).convolve(fine.coarsen(10**7)).delivered == pytest.approx(1)


@pytest.mark.parametrize("sample", [[], [-2], [5, -3]])
def test_what_is_no_sample_is_refused(sample: list[int]) -> None:
    with pytest.raises(ValueError, match="packet"):
        DeltaQ.from_delays(sample)


@pytest.mark.parametrize(
    ("at", "masses", "message"),
    [
        ([1, 2], [0.7, 0.7], "more than 1"),
        ([2, 1], [0.5, 0.5], "strictly rising"),
        ([-1], [0.5], "non-negative"),
        ([1], [0.0], "positive"),
        ([1], [math.nan], "finite"),
        ([1, 2], [0.5], "same length"),
    ],
)
def test_what_is_no_distribution_is_refused(at: list[int], masses: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DeltaQ(np.array(at, dtype=np.int64), np.array(masses))


def test_arguments_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="quantile"):
        DeltaQ.identity().quantile_ps(0)
    with pytest.raises(ValueError, match="step"):
        DeltaQ.identity().coarsen(0)
    with pytest.raises(ValueError, match="sum to 1"):
        mixture([(0.5, DeltaQ.identity())])
    with pytest.raises(ValueError, match="negative"):
        DeltaQ.from_histogram([(1, -1)], 3)
    with pytest.raises(ValueError, match="empty histogram"):
        DeltaQ.from_histogram([], 0)
