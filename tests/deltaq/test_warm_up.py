"""When figures still feel how a simulation began."""

from __future__ import annotations

import numpy as np
from scipy.signal import lfilter

from app.deltaq.sample import Sample
from app.deltaq.warm_up import start_felt


def replications(trend: float, reach: int, n: int = 1_000) -> Sample:
    """Sixteen replications whose delays begin ``trend`` off and come back within about ``reach`` packets."""
    generator = np.random.default_rng(81)
    begin = trend * np.exp(-np.arange(n) / reach)
    return Sample.of_delays(*(400 + begin + 5 * generator.random(n) for _ in range(16)), independent=True)


def test_what_lasts_is_not_cut() -> None:
    assert start_felt(replications(0, 1)) < 0.1


def test_a_begin_is_cut_where_it_ends() -> None:
    assert 0.05 < start_felt(replications(-40, 50)) < 0.4
    assert start_felt(replications(40, 20)) < start_felt(replications(40, 80))


def test_a_simulation_shorter_than_its_begin_is_felt_throughout() -> None:
    assert start_felt(replications(-300, 2_000)) == 0.5


def test_too_few_packets_tell_nothing() -> None:
    assert start_felt(replications(40, 20, n=60)) == 0
    assert start_felt(Sample.of_delays(np.full(500, np.inf), independent=True)) == 0


def seen_in_dependent(among: int) -> int:
    """In how many of 150 steady samples, each packet much like the one before it, a start is felt throughout."""
    felt = 0
    for seed in range(150):
        noise = np.random.default_rng([82, seed]).standard_normal((8, 700))
        delays = lfilter([1], [1, -0.98], noise)[:, 450:]
        felt += start_felt(Sample.of_delays(*(100 + delays), independent=True), among) == 0.5
    return felt


def test_what_lasts_is_seldom_taken_for_a_start_however_many_are_asked() -> None:
    assert seen_in_dependent(1) <= 6
    assert seen_in_dependent(20) <= 1
