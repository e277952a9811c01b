"""When figures still feel how a simulation began."""

from __future__ import annotations

from statistics import median

import numpy as np
from scipy.signal import lfilter

from qosforge.deltaq.sample import Sample
from qosforge.deltaq.warm_up import start_effect


def replications(trend: float, reach: int, n: int = 1_000) -> Sample:
    """Sixteen replications whose delays begin ``trend`` off and come back within about ``reach`` packets."""
    generator = np.random.default_rng(81)
    begin = trend * np.exp(-np.arange(n) / reach)
    return Sample.of_delays(*(400 + begin + 5 * generator.random(n) for _ in range(16)), independent=True)


def test_what_lasts_is_not_cut() -> None:
    assert start_effect(replications(0, 1)) < 0.1


def test_a_begin_is_cut_where_it_ends() -> None:
    assert 0.05 < start_effect(replications(-40, 50)) < 0.4
    assert start_effect(replications(40, 20)) < start_effect(replications(40, 80))


def test_a_simulation_shorter_than_its_begin_is_felt_throughout() -> None:
    assert start_effect(replications(-300, 2_000)) == 0.5


def test_too_few_packets_tell_nothing() -> None:
    assert start_effect(replications(40, 20, n=60)) == 0
    assert start_effect(Sample.of_delays(np.full(500, np.inf), independent=True)) == 0


def seen_in_dependent(among: int) -> int:
    """In how many of 150 steady samples, each packet much like the one before it, a start is felt throughout."""
    felt = 0
    for seed in range(150):
        noise = np.random.default_rng([82, seed]).standard_normal((8, 1_450))
        delays = lfilter([1], [1, -0.9], noise)[:, 450:]
        felt += start_effect(Sample.of_delays(*(100 + delays), independent=True), among) == 0.5
    return felt


def test_what_lasts_is_seldom_taken_for_a_start_however_many_are_asked() -> None:
    assert seen_in_dependent(1) <= 6
    assert seen_in_dependent(20) <= 1


def queues(load: float, length: int, count: int, seed: int) -> Sample:
    """Replications of M/D/1 that begin empty, without a warm-up of an eighth (Lindley 1952), in services."""
    skipped = length // 8
    parts = []
    for number in range(count):
        gaps = np.random.default_rng([83, seed, number]).exponential(1 / load, length + skipped)
        walk = np.concatenate(([0.0], np.cumsum(1 - gaps[1:])))
        parts.append((walk - np.minimum.accumulate(walk) + 1)[skipped:])
    return Sample.of_delays(*parts, independent=True)


def felt(load: float, length: int, count: int) -> list[float]:
    """Twenty samples of such queues."""
    return [start_effect(queues(load, length, count, seed)) for seed in range(20)]


def test_replications_short_against_their_memory_are_felt_throughout() -> None:
    # The relaxation time of M/D/1 at 0.97 is about 2,200 services (half of M/M/1's 1/(1 - sqrt(0.97))^2).
    assert sum(part == 0.5 for part in felt(0.97, 1_500, 32)) == 20
    assert sum(part == 0.5 for part in felt(0.97, 1_500, 8)) >= 16


def test_replications_long_against_their_memory_are_not() -> None:
    assert max(felt(0.5, 1_500, 8)) < 0.1
    assert max(felt(0.8, 6_000, 8)) < 0.2
    assert max(felt(0.9, 24_000, 32)) < 0.1


def test_a_memory_in_between_lengthens_the_warm_up() -> None:
    assert median(felt(0.9, 9_000, 32)) < 0.1 < median(felt(0.9, 3_000, 32)) < 0.5


def test_what_differs_from_replication_to_replication_is_no_memory() -> None:
    generator = np.random.default_rng(84)
    phases = generator.uniform(0, 20, 8)
    sample = Sample.of_delays(*(phase + generator.random(1_000) for phase in phases), independent=True)
    assert start_effect(sample) < 0.1
