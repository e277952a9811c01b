"""G, S and V: recovered where they are known, and exact when put together again."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qosforge.deltaq.distribution import DeltaQ
from qosforge.deltaq.gsv import decompose, g_interval_ps, least_without_waiting
from tests.deltaq.test_distribution import bounded, delays, same

US = 10**6


def arrived(least: dict[int, int]) -> dict[int, DeltaQ]:
    return {size: DeltaQ.from_delays([delay]) for size, delay in least.items()}


def test_a_path_of_two_links_is_told_from_its_load() -> None:
    """10 Mb/s and 2 Mb/s, 300 µs of propagation: S is 0.8 + 4 µs a byte, G is 300 µs."""
    generator = np.random.default_rng(51)
    sizes = (64, 512, 1_500)
    waited = {size: generator.exponential(2_000 * US, 5_000).astype(np.int64) for size in sizes}
    # Some packets of every size met no other.
    free = {size: np.concatenate((delays, [0])) for size, delays in waited.items()}
    split = decompose({size: DeltaQ.from_delays(300 * US + 4_800_000 * size + free[size]) for size in sizes})
    assert split.g_ps == 300 * US
    assert split.s_ps_per_byte == 4_800_000
    assert split.rate_bps == pytest.approx(1 / (1 / 10e6 + 1 / 2e6))
    for size in sizes:
        assert same(split.variable[size], DeltaQ.from_delays(free[size]))


def test_the_line_lies_below_every_size_and_as_high_as_it_can() -> None:
    split = decompose(arrived({100: 1_000, 200: 1_900, 300: 2_000, 400: 2_700}))
    # The hull is 100, 300, 400; the sizes' mean, 250, lies below its first edge, slope 5. At 200 all waited.
    assert split.s_ps_per_byte == 5
    assert split.g_ps == 500
    assert [int(split.variable[size].delays_ps[0]) for size in (100, 200, 300, 400)] == [0, 400, 0, 200]


def test_neither_part_is_negative() -> None:
    small_waited = decompose(arrived({100: 3_000, 1_000: 1_000}))
    assert (small_waited.g_ps, small_waited.s_ps_per_byte) == (1_000, 0)
    assert small_waited.rate_bps == float("inf")
    large_waited = decompose(arrived({100: 1_000, 1_000: 90_000}))
    assert (large_waited.g_ps, large_waited.s_ps_per_byte) == (0, 10)


@bounded
@given(st.dictionaries(st.integers(1, 9_000), delays, min_size=2, max_size=5), st.integers(0, 10**9))
def test_the_parts_convolved_give_back_the_whole(sent: dict[int, list[int]], shift: int) -> None:
    by_size = {size: DeltaQ.from_delays([*sample, shift]) for size, sample in sent.items()}
    split = decompose(by_size)
    assert split.g_ps >= 0
    assert split.s_ps_per_byte >= 0
    fixed = {size: DeltaQ.from_delays([split.fixed_ps(size)]) for size in by_size}
    for size, part in by_size.items():
        assert same(split.total(size), part)
        assert same(fixed[size].convolve(split.variable[size]), part)
    # The line touches: somebody waited for nobody, to the picosecond that rounding takes.
    assert min(int(part.delays_ps[0]) for part in split.variable.values()) == 0


def test_loss_stays_with_what_varies() -> None:
    split = decompose({100: DeltaQ.from_delays([10, -1]), 200: DeltaQ.from_delays([20, 30])})
    assert split.variable[100].loss == pytest.approx(0.5)
    pooled = split.pool({100: 2, 200: 2})
    assert pooled.loss == pytest.approx(0.25)
    assert pooled.cdf(0) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="how many"):
        split.pool({})


def test_a_size_not_measured_takes_what_varies_from_others() -> None:
    split = decompose(arrived({100: 1_300, 200: 1_600}))
    assert same(split.total(1_500, split.variable[200]), DeltaQ.from_delays([1_000 + 3 * 1_500]))
    with pytest.raises(KeyError):
        split.total(1_500)


def test_a_size_of_which_nothing_arrived_has_no_part_in_the_line() -> None:
    split = decompose({**arrived({100: 1_300, 200: 1_600}), 300: DeltaQ.lost()})
    assert split.s_ps_per_byte == Fraction(3)
    assert split.variable[300].loss == 1


@pytest.mark.parametrize(
    ("by_size", "message"),
    [
        ({}, "no packets arrived.* two or more sizes"),
        ({100: DeltaQ.identity()}, "of 100 bytes alone arrived.* two or more sizes"),
        ({100: DeltaQ.identity(), 200: DeltaQ.lost()}, "of 100 bytes alone"),
        ({0: DeltaQ.identity(), 200: DeltaQ.identity()}, "at least one byte"),
    ],
)
def test_what_cannot_be_taken_apart_is_refused(by_size: dict[int, DeltaQ], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decompose(by_size)


def holds(load: float, hops: int, packets: int) -> tuple[int, int]:
    """In how many of 400 draws the interval of G holds, and in how many it has two ends.

    A packet waits at each hop as in M/M/1 (not at all, or exponentially), G is 5 ms and S 4 µs a byte; eight
    replications have so many packets of each of three sizes.
    """
    true, kept, bounded_below = 5_000 * US, 0, 0
    for seed in range(400):
        generator = np.random.default_rng([52, seed])
        ranges = {}
        for size in (64, 512, 1_500):
            waits = generator.exponential(1_000 * US / (1 - load), (8, packets, hops))
            waits[generator.random(waits.shape) > load] = 0
            least, second = np.sort(waits.sum(axis=2).min(axis=1))[:2] + true + 4 * US * size
            ranges[size] = (least_without_waiting(float(least), float(second), hops, 0.05 / 3), float(least))
        found = g_interval_ps(ranges)
        kept += found is not None and found[0] <= true + 1 and true <= found[1] + 1
        bounded_below += found is not None and found[0] > 0
    return kept, bounded_below


@pytest.mark.parametrize("hops", [1, 2, 4])
@pytest.mark.parametrize(("load", "packets"), [(0.5, 50), (0.9, 50), (0.99, 50), (0.99, 1_000)])
def test_an_interval_of_g_holds_as_often_as_it_says(load: float, hops: int, packets: int) -> None:
    kept, _ = holds(load, hops, packets)
    assert kept >= 400 * (0.95 - 2 * (0.95 * 0.05 / 400) ** 0.5)


def test_an_interval_of_g_is_narrow_where_some_wait_for_nobody() -> None:
    assert holds(0.5, 2, 50)[1] == 400
    ranges = {size: (300.0 + 5 * size, 300.0 + 5 * size) for size in (64, 512, 1_500)}
    assert g_interval_ps(ranges) == pytest.approx((300, 300), abs=1)


def test_no_line_is_found_where_size_does_not_act_alone() -> None:
    cells = {size: -(-(size + 8) // 48) * 1_000.0 for size in (40, 41, 88, 89)}
    assert g_interval_ps({size: (delay, delay) for size, delay in cells.items()}) is None


@pytest.mark.parametrize(("least", "second", "hops", "error"), [(2, 1, 1, 0.05), (1, 2, 0, 0.05), (1, 2, 1, 0)])
def test_a_limit_that_means_nothing_is_refused(least: float, second: float, hops: int, error: float) -> None:
    with pytest.raises(ValueError, match="no limit from"):
        least_without_waiting(least, second, hops, error)
    with pytest.raises(ValueError, match="two or more"):
        g_interval_ps({100: (1, 2)})
