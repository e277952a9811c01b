"""Combinations are counted before they are made."""

import pytest

from qosforge.errors import InputError
from qosforge.expansion import MOST_COMBINATIONS, combine, count_combinations
from tests.stopwatch import Stopwatch


def test_combinations_in_order() -> None:
    assert list(combine((1, 2), "ab")) == [(1, "a"), (1, "b"), (2, "a"), (2, "b")]
    assert count_combinations((1, 2), "abc", ()) == 0
    assert len(list(combine(range(256), range(MOST_COMBINATIONS // 256)))) == MOST_COMBINATIONS


def test_too_many_are_told_and_not_made() -> None:
    watch = Stopwatch()
    with pytest.raises(InputError) as raised:
        combine(range(10**6), range(10**6), range(10**6))
    assert watch.seconds < 0.5
    assert "1,000,000 × 1,000,000 × 1,000,000 entries" in raised.value.message
    assert "1,000,000,000,000,000,000 combinations" in raised.value.message
    assert f"{MOST_COMBINATIONS:,}" in raised.value.hint
