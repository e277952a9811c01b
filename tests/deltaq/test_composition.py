"""Laws of composition: along a path, first and last to finish, and the order between outcomes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qosforge.deltaq.composition import CELLS, along, first_to_finish, last_to_finish
from qosforge.deltaq.distribution import DeltaQ, mixture
from tests.deltaq.test_distribution import bounded, delays, outcomes, same
from tests.stopwatch import Stopwatch


def close(one: DeltaQ, other: DeltaQ) -> bool:
    """Equal as distribution functions, wherever either steps."""
    support = np.union1d(one.delays_ps, other.delays_ps)
    return np.allclose(one.cdf_at(support), other.cdf_at(support), atol=1e-12)


@bounded
@given(outcomes, outcomes)
def test_first_and_last_commute(one: DeltaQ, other: DeltaQ) -> None:
    assert close(first_to_finish([one, other]), first_to_finish([other, one]))
    assert close(last_to_finish([one, other]), last_to_finish([other, one]))


@bounded
@given(outcomes, outcomes, outcomes)
def test_first_and_last_associate(one: DeltaQ, two: DeltaQ, three: DeltaQ) -> None:
    for compose in (first_to_finish, last_to_finish):
        nested = compose([compose([one, two]), three])
        assert close(nested, compose([one, compose([two, three])]))
        assert close(nested, compose([one, two, three]))


@bounded
@given(outcomes)
def test_first_and_last_have_their_units(one: DeltaQ) -> None:
    assert close(first_to_finish([one, DeltaQ.lost()]), one)
    assert close(last_to_finish([one, DeltaQ.identity()]), one)
    assert close(first_to_finish([one, DeltaQ.identity()]), DeltaQ.identity())
    assert close(last_to_finish([one, DeltaQ.lost()]), DeltaQ.lost())
    assert same(first_to_finish([]), DeltaQ.lost())
    assert same(last_to_finish([]), DeltaQ.identity())


@bounded
@given(outcomes, outcomes, st.floats(0, 1))
def test_a_choice_lies_between_the_first_and_the_last_and_the_sum_beyond(
    one: DeltaQ, other: DeltaQ, weight: float
) -> None:
    first, last = first_to_finish([one, other]), last_to_finish([one, other])
    choice = mixture([(weight, one), (1 - weight, other)])
    assert first.compare(choice) in ("less", "equal")
    assert choice.compare(last) in ("less", "equal")
    assert last.compare(one.convolve(other)) in ("less", "equal")


@bounded
@given(st.lists(delays, min_size=1, max_size=3))
def test_first_and_last_are_those_of_every_combination_of_packets(sent: list[list[int]]) -> None:
    parts = [DeltaQ.from_delays(each) for each in sent]
    arrivals = [[math.inf if delay < 0 else delay for delay in combined] for combined in itertools.product(*sent)]
    for compose, pick in ((first_to_finish, min), (last_to_finish, max)):
        picked = [pick(each) for each in arrivals]
        counted = DeltaQ.from_delays(-1 if math.isinf(each) else int(each) for each in picked)
        assert close(compose(parts), counted)


@bounded
@given(outcomes, outcomes, outcomes)
def test_the_order_is_kept_by_first_and_last(one: DeltaQ, two: DeltaQ, three: DeltaQ) -> None:
    if one.compare(two) in ("less", "equal"):
        for compose in (first_to_finish, last_to_finish):
            assert compose([one, three]).compare(compose([two, three])) in ("less", "equal")


@bounded
@given(outcomes, outcomes)
def test_the_order_has_two_sides(one: DeltaQ, other: DeltaQ) -> None:
    mirrored = {"less": "greater", "greater": "less", "equal": "equal", "incomparable": "incomparable"}
    assert one.compare(one) == "equal"
    assert other.compare(one) == mirrored[one.compare(other)]


def test_what_each_answer_of_the_order_means() -> None:
    sure, slow, lossy = (DeltaQ.from_delays(each) for each in ([5, 5], [5, 9], [1, -1]))
    assert sure.compare(slow) == "less"
    assert slow.compare(sure) == "greater"
    assert sure.compare(lossy) == "incomparable"
    assert sure.compare(DeltaQ.from_delays([5])) == "equal"


@bounded
@given(outcomes, outcomes, st.integers(0, 10**12))
def test_a_constant_delay_is_a_convolution(one: DeltaQ, other: DeltaQ, delay: int) -> None:
    assert same(one.shift(delay), one.convolve(DeltaQ.from_delays([delay])))
    assert same(one.shift(delay).convolve(other), one.convolve(other).shift(delay))
    assert same(one.shift(delay).shift(-delay), one)


def test_no_shift_makes_a_packet_arrive_before_it_was_sent() -> None:
    with pytest.raises(ValueError, match="below zero"):
        DeltaQ.from_delays([10, 20]).shift(-11)


@bounded
@given(delays)
def test_moments_are_those_of_what_arrives(sample: list[int]) -> None:
    arrived = [delay for delay in sample if delay >= 0]
    spread = DeltaQ.from_delays(sample).sd_delivered_ps()
    if arrived:
        assert spread == pytest.approx(float(np.std(arrived)), rel=1e-9, abs=1e-3)
    else:
        assert spread == math.inf


@bounded
@given(st.lists(outcomes, max_size=3))
def test_a_short_path_is_composed_without_rounding(parts: list[DeltaQ]) -> None:
    path = along(parts)
    assert path.late_ps == 0
    expected = DeltaQ.identity()
    for part in parts:
        expected = expected.convolve(part)
    assert same(path.deltaq, expected)


def hops(generator: np.random.Generator, count: int, atoms: int = 3_000) -> list[DeltaQ]:
    """Hops of a fixed delay and a queue; one packet in a thousand is lost."""
    return [
        DeltaQ.from_delays(
            [*(10**9 + generator.exponential(5e9, atoms)).astype(np.int64), *[-1] * max(1, atoms // 1_000)]
        )
        for _ in range(count)
    ]


def test_a_long_path_is_never_flattered_and_late_by_less_than_it_says() -> None:
    parts = hops(np.random.default_rng(41), 5)
    path = along(parts)
    assert 0 < path.late_ps < 10**7
    assert path.deltaq.delivered == pytest.approx(math.prod(part.delivered for part in parts), abs=1e-9)
    mean = sum(part.mean_delivered_ps() for part in parts)
    assert 0 <= path.deltaq.mean_delivered_ps() - mean < path.late_ps
    assert path.deltaq.delays_ps[0] >= sum(int(part.delays_ps[0]) for part in parts)


def test_rounding_stays_within_its_bound_at_every_delay() -> None:
    generator = np.random.default_rng(42)
    one, other = hops(generator, 2, atoms=400)
    path = along([one, other])
    exact = one.convolve(other)
    assert path.late_ps > 0
    assert exact.at_least_as_good_as(path.deltaq)
    assert path.deltaq.at_least_as_good_as(exact.shift(path.late_ps))


def test_the_order_of_hops_moves_a_long_path_by_less_than_its_rounding() -> None:
    parts = hops(np.random.default_rng(43), 3)
    there, back = along(parts), along(parts[::-1])
    assert there.deltaq.at_least_as_good_as(back.deltaq.shift(there.late_ps))
    assert back.deltaq.at_least_as_good_as(there.deltaq.shift(back.late_ps))


def test_one_dead_hop_kills_a_path_and_a_constant_one_costs_nothing() -> None:
    parts = hops(np.random.default_rng(44), 2)
    assert same(along([*parts, DeltaQ.lost()]).deltaq, DeltaQ.lost())
    constant = DeltaQ.from_delays([7])
    assert along([*parts, constant]).late_ps == along(parts).late_ps
    assert close(along([*parts, constant]).deltaq, along(parts).deltaq.shift(7))


def test_sixteen_hops_take_no_time() -> None:
    parts = hops(np.random.default_rng(45), 16)
    watch = Stopwatch()
    path = along(parts)
    assert path.deltaq.delivered == pytest.approx(math.prod(part.delivered for part in parts), abs=1e-12)
    # 0.3 s on one slow core; the loop over pairs that it replaces would take hours.
    assert watch.seconds < 5
    assert path.deltaq.delays_ps.size <= CELLS + len(parts) + 1


def test_a_path_on_one_lattice_is_exact_however_long() -> None:
    """Ten geometric delays in steps of a microsecond make a negative binomial one."""
    step, hops, part = 10**6, 10, 0.3
    mass = (1 - part) ** np.arange(200) * part
    hop = DeltaQ(np.arange(200) * step + 7, mass)
    path = along([hop] * hops)
    assert path.late_ps == 0
    beyond = (path.deltaq.delays_ps - 7 * hops) % step
    assert not beyond.any()
    for count in (0, 5, 20, 60):
        exact = math.comb(count + hops - 1, count) * part**hops * (1 - part) ** count
        at = np.searchsorted(path.deltaq.delays_ps, count * step + 7 * hops)
        assert path.deltaq.masses[at] == pytest.approx(exact, abs=1e-14)
