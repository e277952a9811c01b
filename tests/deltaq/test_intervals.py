"""Coverage of the intervals, by simulation with independent and with dependent packets."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import signal, stats

from qosforge.deltaq.dependence import effective_size
from qosforge.deltaq.intervals import (
    cdf_band,
    packets_to_decide,
    quantile_interval,
    ratio_interval,
    ratio_lower,
    ratio_upper,
)
from qosforge.deltaq.sample import Sample

CONFIDENCE = 0.95
MIDDLE = 100.0


def normals(generator: np.random.Generator, n: int, correlation: float) -> NDArray[np.float64]:
    """A stationary AR(1) sequence of normals of deviation 1 around `MIDDLE`."""
    noise = generator.standard_normal(n + 500) * math.sqrt(1 - correlation**2)
    return np.asarray(MIDDLE + signal.lfilter([1.0], [1.0, -correlation], noise)[500:])


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("probability", [0.5, 0.95])
def test_quantile_limits_hold_as_often_as_they_say(correlation: float, probability: float) -> None:
    generator = np.random.default_rng(11)
    true = MIDDLE + stats.norm.ppf(probability)
    above = below = 0
    trials = 400
    for _ in range(trials):
        values = normals(generator, 3_000, correlation)
        sample = Sample.of_delays(values)
        size = effective_size(values > np.quantile(values, probability), CONFIDENCE, sample)
        interval = quantile_interval(sample, probability, size, CONFIDENCE)
        above += interval.high < true
        below += interval.low > true
    # 5 % of 400 is 20; 35 is where luck ends (one in a thousand).
    assert above <= 35
    assert below <= 35
    # An interval that always holds would be too wide to be of use.
    assert above + below >= 3


def test_without_the_correction_dependent_packets_would_deceive() -> None:
    generator = np.random.default_rng(12)
    true = MIDDLE + stats.norm.ppf(0.95)
    wrong = 0
    for _ in range(200):
        values = normals(generator, 3_000, 0.9)
        wrong += quantile_interval(Sample.of_delays(values), 0.95, float(values.size), CONFIDENCE).high < true
    assert wrong > 30


def test_loss_limits_hold_for_bursts() -> None:
    generator = np.random.default_rng(13)
    misses_low = misses_high = 0
    trials = 400
    for _ in range(trials):
        # Bursts of 5 lost packets, 2 % of all.
        starts = generator.random(6_000) < 0.004
        lost = np.repeat(starts, 5)[:6_000]
        true = 0.004
        size = effective_size(lost, CONFIDENCE, Sample.of_delays(lost * 1.0))
        interval = ratio_interval(float(lost.mean()), size, CONFIDENCE)
        misses_low += interval.low > true
        misses_high += interval.high < true
    assert misses_low <= 35
    assert misses_high <= 40


def size_of(exceeds: NDArray[np.bool_]) -> float:
    return effective_size(exceeds, CONFIDENCE, Sample.of_delays(exceeds * 1.0))


def test_effective_size_of_independent_and_repeated_packets() -> None:
    generator = np.random.default_rng(14)
    sizes = [size_of(generator.random(4_000) < 0.2) for _ in range(100)]
    assert 0.45 * 4_000 < np.mean(sizes) <= 4_000
    repeated = [size_of(np.repeat(generator.random(400) < 0.2, 10)) for _ in range(100)]
    assert 180 < np.mean(repeated) < 500


def test_effective_size_never_exceeds_the_true_one() -> None:
    assert size_of(np.tile([True, False], 500)) == 1_000
    assert size_of(np.zeros(1_000, dtype=bool)) == 1_000
    assert size_of(np.zeros(0, dtype=bool)) == 0
    assert size_of(np.arange(1_000) < 500) == 1


@pytest.mark.parametrize(("k", "n"), [(0, 10), (1, 10), (5, 10), (10, 10), (3, 1_000)])
def test_ratio_limits_are_clopper_and_pearsons(k: int, n: int) -> None:
    exact = stats.binomtest(k, n).proportion_ci(confidence_level=0.9, method="exact")
    assert ratio_lower(k, n, CONFIDENCE) == pytest.approx(exact.low, abs=1e-9)
    assert ratio_upper(k, n, CONFIDENCE) == pytest.approx(exact.high, abs=1e-9)


def test_no_loss_in_n_bounds_it_by_about_three_in_n() -> None:
    for n in (300, 3_000, 30_000):
        assert ratio_upper(0, n, CONFIDENCE) * n == pytest.approx(3.0, rel=0.01)


def test_a_quantile_limit_agrees_with_the_share_that_exceeds_it() -> None:
    ordered = np.sort(np.random.default_rng(15).exponential(size=777))
    interval = quantile_interval(Sample.of_delays(ordered), 0.9, 777.0, CONFIDENCE)
    for threshold in ordered:
        beyond = int((ordered > threshold).sum())
        assert (interval.high <= threshold) == (ratio_upper(beyond, 777, CONFIDENCE) <= 0.1 + 1e-12)
        assert (interval.low > threshold) == (ratio_lower(beyond, 777, CONFIDENCE) > 0.1 + 1e-12)
    assert interval.low < interval.observed < interval.high


def test_a_quantile_out_of_reach_has_no_finite_limit() -> None:
    few = quantile_interval(Sample.of_delays(np.arange(1.0, 11.0)), 0.99, 10.0, CONFIDENCE)
    assert few.high == math.inf
    lossy = np.array([1.0] * 50 + [math.inf] * 50)
    assert quantile_interval(Sample.of_delays(lossy), 0.9, 100.0, CONFIDENCE).low == math.inf


def test_packets_to_decide_is_where_the_decision_turns() -> None:
    assert packets_to_decide(0, 0, 0.0, beyond=0.01, confidence=CONFIDENCE) == 299
    assert packets_to_decide(0, 0, 0.0, beyond=0.001, confidence=CONFIDENCE) == 2_995
    assert packets_to_decide(0, 100, 50.0, beyond=0.01, confidence=CONFIDENCE) == 597
    assert packets_to_decide(0.01, 100, 100.0, beyond=0.01, confidence=CONFIDENCE) is None


def test_an_empty_sample_has_no_interval() -> None:
    with pytest.raises(ValueError, match="empty"):
        quantile_interval(Sample.of_delays(np.empty(0)), 0.5, 0.0, CONFIDENCE)
    assert ratio_upper(0, 0, CONFIDENCE) == 1
    assert ratio_lower(0, 0, CONFIDENCE) == 0


def test_a_band_encloses_the_distribution_function_and_knows_of_loss() -> None:
    generator = np.random.default_rng(16)
    delays = [-1 if generator.random() < 0.1 else int(d) for d in generator.exponential(1e9, 2_000)]
    band = cdf_band(Sample.single(list(enumerate(delays))), CONFIDENCE)
    assert 20 < len(band.delays_ps) <= 75
    for at, low, high in zip(band.delays_ps, band.low, band.high, strict=True):
        assert low <= sum(0 <= d <= at for d in delays) / 2_000 <= high
    assert band.high[-1] < 0.95
    assert cdf_band(Sample.single([(0, -1)]), CONFIDENCE).delays_ps == ()
