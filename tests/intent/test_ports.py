"""Merged ports are the same ports, in as few ranges as say them."""

from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.intent.ports import WELL_KNOWN, Range, intersect_ports, merge_ports, merge_services

PROPERTY = settings(max_examples=300, deadline=None, derandomize=True, database=None)
RANGES = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 12)).map(lambda p: (p[0], p[0] + p[1]))
    | st.integers(65_500, 65_535).map(lambda p: (p, p)),
    max_size=14,
)


def ports(ranges: tuple[Range, ...] | list[Range]) -> set[int]:
    return {port for first, last in ranges for port in range(first, last + 1)}


@PROPERTY
@given(RANGES)
def test_merged_ports_are_the_same_in_the_fewest_ranges(ranges: list[Range]) -> None:
    merged = merge_ports(ranges)
    every = ports(ranges)
    assert ports(merged) == every
    assert sum(last - first + 1 for first, last in merged) == len(every)
    assert len(merged) == sum(port - 1 not in every for port in every)
    assert merge_ports(merged) == merged


@PROPERTY
@given(RANGES, RANGES)
def test_ports_in_both(one: list[Range], other: list[Range]) -> None:
    both = intersect_ports(one, other)
    assert ports(both) == ports(one) & ports(other)
    assert sum(last - first + 1 for first, last in both) == len(ports(both))


def test_ranges_that_do_not_meet_keep_their_order() -> None:
    assert merge_ports([(443, 443), (80, 80), (8080, 8090)]) == ((443, 443), (80, 80), (8080, 8090))
    assert merge_ports([(443, 443), (81, 81), (20, 21), (80, 80)]) == ((443, 443), (80, 81), (20, 21))


def test_thousands_of_ports_in_a_row_are_one_range() -> None:
    assert merge_ports((port, port) for port in range(2000, 6500)) == ((2000, 6499),)


@PROPERTY
@given(
    st.lists(st.tuples(st.integers(1000, 1040), st.integers(0, 20)).map(lambda p: (p[0], p[0] + p[1])), max_size=8)
)
def test_ports_that_servers_answer_from_stay_the_same(ranges: list[Range]) -> None:
    merged = merge_services(ranges)
    assert ports(merged) == ports(ranges)
    assert ports([r for r in merged if r[1] < WELL_KNOWN]) == ports([r for r in ranges if r[1] < WELL_KNOWN])
