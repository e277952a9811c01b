"""Network calculus by hand: what the twin cannot show of a bound."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.calculus.bounds import (
    RateLatency,
    TokenBucket,
    backlog_bound,
    concatenation,
    deficit_round_robin,
    delay_bound,
    departures,
    full_queue_delay,
    held_back,
    policed,
    shaped,
    strict_priority,
    weighted_fair,
    weighted_round_robin,
)

SETTINGS = settings(max_examples=150, deadline=None, derandomize=True, database=None)
LINK = RateLatency.of(1_000_000)
ARRIVALS = TokenBucket.of(24_000, 200_000)
CURVES = st.builds(
    RateLatency.of, st.integers(1, 10**9), st.fractions(min_value=0, max_value=10, max_denominator=1000)
)


def test_rate_latency_bounds() -> None:
    service = RateLatency.of(400_000, Fraction(1, 100))

    assert delay_bound(ARRIVALS, service) == Fraction(7, 100)
    assert backlog_bound(ARRIVALS, service) == 26_000
    assert departures(ARRIVALS, service) == TokenBucket.of(26_000, 200_000)
    assert full_queue_delay(80_000, service) == Fraction(21, 100)


def test_more_than_the_rate_has_no_bound() -> None:
    service = RateLatency.of(199_999)

    assert delay_bound(ARRIVALS, service) is None
    assert backlog_bound(ARRIVALS, service) is None
    assert departures(ARRIVALS, service) is None
    assert strict_priority(service, ARRIVALS, 0) is None


def test_a_class_alone_has_the_link() -> None:
    assert weighted_fair(LINK, [5], [12_000], 0) == LINK
    assert deficit_round_robin(LINK, [12_000], [12_000], 0) == LINK
    assert weighted_round_robin(LINK, [2], [12_000], 12_000, 0) == LINK


@SETTINGS
@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(64, 1500)), min_size=2, max_size=6),
    st.integers(0, 5),
)
def test_deficit_round_robin_is_no_worse_than_stiliadis_and_varma(
    members: list[tuple[int, int]], chosen: int
) -> None:
    """Their latency holds where every quantum holds the largest packet: (3F − 2Q)/R."""
    chosen %= len(members)
    largest = [8 * size for _, size in members]
    quanta = [max(largest) * turns for turns, _ in members]

    found = deficit_round_robin(LINK, quanta, largest, chosen)

    assert found.rate == Fraction(quanta[chosen], sum(quanta)) * LINK.rate
    assert found.latency <= (3 * sum(quanta) - 2 * quanta[chosen]) / LINK.rate


@SETTINGS
@given(st.lists(st.tuples(st.integers(1, 40), st.integers(64, 1500)), min_size=2, max_size=6))
def test_parts_are_the_whole(members: list[tuple[int, int]]) -> None:
    weights, sizes = zip(*members, strict=True)
    for scheme in (weighted_fair, deficit_round_robin):
        parts = [scheme(LINK, weights, sizes, i) for i in range(len(members))]
        assert sum(part.rate for part in parts) == LINK.rate
        assert all(part.latency > LINK.latency for part in parts)


def test_a_tree_is_a_server_within_a_server() -> None:
    """A branch of 30 % and in it a class of one third: a tenth of the link, later than the branch."""
    branch = weighted_fair(LINK, [30, 70], [8000, 8000], 0)
    leaf = weighted_fair(branch, [10, 20], [8000, 8000], 0)

    assert leaf.rate == LINK.rate / 10
    assert leaf.latency == branch.latency + (2 * 8000 + 8000) / branch.rate


@SETTINGS
@given(st.lists(CURVES, min_size=1, max_size=5), st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_path_is_never_worse_than_its_hops_one_by_one(path: list[RateLatency], burst: int, rate: int) -> None:
    arrivals: TokenBucket | None = TokenBucket.of(burst, rate)
    assert arrivals is not None
    whole = delay_bound(arrivals, concatenation(path, packet=0))
    total = Fraction(0)
    for service in path:
        delay = delay_bound(arrivals, service) if arrivals else None
        arrivals = departures(arrivals, service) if arrivals else None
        if delay is None:
            assert whole is None
            return
        total += delay
    assert whole is not None
    assert whole <= total


def test_a_shaper_takes_its_rate_and_no_time_if_it_holds_a_packet() -> None:
    assert shaped(LINK, 100_000, 12_000, 12_000) == RateLatency.of(100_000)
    assert shaped(LINK, 100_000, 8_000, 12_000) == RateLatency.of(100_000, Fraction(4, 100))
    assert shaped(LINK, 2_000_000, 12_000, 12_000) == LINK


def test_what_cannot_be_overtaken_comes_first() -> None:
    assert held_back(LINK, 24_000) == RateLatency.of(1_000_000, Fraction(24, 1000))
    assert policed(40_000, 500_000, 12_000, unmetered=2) == TokenBucket.of(64_000, 500_000)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TokenBucket.of(-1, 0), "token bucket of -1 bits"),
        (lambda: RateLatency.of(0), "server of 0 b/s"),
        (lambda: RateLatency.of(1, -1), "after -1 s"),
        (lambda: concatenation([], 0), "path without a hop"),
        (lambda: weighted_fair(LINK, [1, 0], [1, 1], 0), "weight 0 of class 1"),
        (lambda: deficit_round_robin(LINK, [1, 2], [1], 0), "2 weights and 1 packet sizes"),
        (lambda: weighted_round_robin(LINK, [1, 2], [1, 1], 0, 0), "smallest packet of 0 bits"),
    ],
)
def test_what_cannot_be_is_named(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(ValueError, match=message):
        make()
