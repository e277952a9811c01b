"""Bounds behind token buckets and in unknown orders, by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from qosforge.calculus.bounds import (
    NOTHING,
    RateLatency,
    TokenBucket,
    deficit_round_robin,
    delay_bound,
    leaking_priority,
)
from qosforge.calculus.shaping_bounds import (
    behind_bucket,
    blocks_round_robin,
    bucket_departures,
    bucket_server,
    busy_period,
    guaranteed_by_rate,
)

LINK = RateLatency.of(1_000_000)
SIZES = (4_000, 8_000)


def test_a_bucket_lets_its_burst_and_one_packet_pass() -> None:
    assert bucket_departures(100_000, 12_800, 8_000) == TokenBucket.of(20_800, 100_000)


def test_a_bucket_makes_good_what_waiting_for_the_line_costs() -> None:
    """8 ms for a packet on the line are 800 bits at the bucket's rate: a larger burst loses nothing."""
    late = RateLatency.of(1_000_000, Fraction(2, 1000))

    assert behind_bucket(late, 100_000, 1_000, SIZES) == RateLatency.of(100_000, Fraction(2, 1000))
    # 10 ms less the 5 ms that 500 bits are, for every packet of 40 ms.
    assert behind_bucket(late, 100_000, 500, SIZES).rate == Fraction(4_000) / Fraction(45, 1000)


def test_no_bucket_serves_more_than_the_line_behind_it() -> None:
    assert behind_bucket(LINK, 2_000_000, 10**6, SIZES).rate == 1_000_000
    assert behind_bucket(LINK, 2_000_000, 10**6, SIZES, spread=Fraction(5, 4)).rate == 800_000


def test_a_strict_curve_pays_for_debt_and_whole_packets() -> None:
    behind = behind_bucket(LINK, 100_000, 8_000, SIZES)
    strict = bucket_server(LINK, 100_000, 8_000, SIZES)

    assert strict.rate == behind.rate
    assert strict.latency - behind.latency == 2 * Fraction(8_000, 100_000)


def test_a_busy_period_ends_when_all_that_came_is_sent() -> None:
    arrivals = TokenBucket.of(40_000, 600_000)

    assert busy_period(arrivals, LINK) == Fraction(1, 10)
    assert (busy_period(arrivals, LINK) or 0) > (delay_bound(arrivals, LINK) or 0)
    assert busy_period(TokenBucket.of(1, 1_000_000), LINK) is None


def test_blocks_that_are_filled_are_deficit_round_robin() -> None:
    by_blocks = blocks_round_robin(LINK, [2, 3], [4, 2], [2_048, 2_048], 0)

    assert by_blocks == deficit_round_robin(LINK, [4_096, 6_144], [8_192, 4_096], 0)
    # The less a begun block holds, the less does its class get.
    assert blocks_round_robin(LINK, [2, 3], [4, 2], [1_024, 2_048], 0).rate < by_blocks.rate


def test_a_rate_is_guaranteed_beside_what_others_are() -> None:
    others = TokenBucket.of(20_000, 600_000)
    free = guaranteed_by_rate(LINK, others, 8_000, SIZES)

    assert free == RateLatency.of(400_000, Fraction(7, 100))
    assert guaranteed_by_rate(LINK, TokenBucket.of(0, 1_000_000), 8_000, SIZES) is None


def test_a_ceiling_lets_others_in_after_every_packet() -> None:
    capped = guaranteed_by_rate(LINK, NOTHING, 8_000, SIZES, 500_000)

    # 4 ms for the smallest packet, 8 ms at its ceiling, 8 ms of another.
    assert capped == RateLatency.of(Fraction(4_000) / Fraction(20, 1000), Fraction(8 + 16, 1000))


def test_a_leak_costs_its_part_of_the_turns() -> None:
    assert leaking_priority(LINK, 1, 5, 4_000, 4_000) == RateLatency.of(800_000, Fraction(10, 1000))
    assert leaking_priority(LINK, 0, 1, 4_000, 8_000).rate == LINK.rate


@pytest.mark.parametrize(("packets", "out_of", "smallest"), [(2, 2, 100), (-1, 2, 100), (1, 2, 0)])
def test_a_leak_of_every_turn_is_refused(packets: int, out_of: int, smallest: int) -> None:
    with pytest.raises(ValueError, match="turns leak"):
        leaking_priority(LINK, packets, out_of, smallest, 100)
