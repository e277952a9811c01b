"""G, S and V: recovered where they are known, and exact when put together again."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.deltaq.distribution import DeltaQ
from app.deltaq.gsv import decompose
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
    pooled = split.pooled({100: 2, 200: 2})
    assert pooled.loss == pytest.approx(0.25)
    assert pooled.cdf(0) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="how many"):
        split.pooled({})


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
