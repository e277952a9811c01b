"""Shares as whole weights and per cents, and their division among the classes of a queue."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.queue_assignment.shares import divide_queues, whole_numbers, whole_percents, whole_weights

HIGHEST = 255


@pytest.mark.parametrize(
    ("wanted", "weights"),
    [
        ([30.0, 70.0, 3.0], [30, 70, 3]),
        ([100 / 3, 200 / 3], [1, 2]),
        ([0.0, 100.0], [1, 255]),
        ([0.0, 0.0], [1, 1]),
        ([500.0, 250.0], [2, 1]),
        ([33.0, 67.0], [33, 67]),
    ],
)
def test_whole_weights(wanted: list[float], weights: list[int]) -> None:
    assert whole_weights([wanted], HIGHEST) == weights


@given(st.lists(st.integers(1, 60), min_size=2, max_size=3))
@settings(max_examples=30, deadline=None)
def test_weights_are_the_best_there_are(wanted: list[int]) -> None:
    def error(weights: tuple[int, ...] | list[int]) -> float:
        return max(abs(w / sum(weights) - p / sum(wanted)) for w, p in zip(weights, wanted, strict=True))

    found_weights = whole_weights([wanted], HIGHEST)
    assert all(1 <= w <= 255 for w in found_weights)
    assert error(found_weights) <= min(map(error, itertools.product(range(1, 26), repeat=len(wanted)))) + 1e-9


@given(st.lists(st.lists(st.integers(1, 99), min_size=3, max_size=3), min_size=2, max_size=3))
@settings(max_examples=30, deadline=None)
def test_weights_for_several_ports_are_in_the_middle(targets: list[list[int]]) -> None:
    def error(weights: tuple[int, ...] | list[int]) -> float:
        return max(
            abs(w / sum(weights) - p / sum(wanted))
            for wanted in targets
            for w, p in zip(weights, wanted, strict=True)
        )

    best = min(map(error, itertools.product(range(1, 16), repeat=3)))
    assert error(whole_weights(targets, HIGHEST)) <= best + 0.005


@given(st.lists(st.floats(0, 1000, allow_nan=False), min_size=1, max_size=8))
def test_whole_percents_add_up_and_are_near(parts: list[float]) -> None:
    whole = whole_percents(parts)
    assert sum(whole) == 100
    assert min(whole) >= 1
    total = sum(parts)
    if total and all(part / total >= 0.01 for part in parts):
        assert all(abs(w - 100 * p / total) < 1 for w, p in zip(whole, parts, strict=True))


@given(st.lists(st.integers(0, 200), min_size=1, max_size=8), st.integers(8, 200))
def test_whole_numbers_err_least(parts: list[int], total: int) -> None:
    exact = (
        [total * part / (sum(parts) or 1) for part in parts] if any(parts) else [total / len(parts)] * len(parts)
    )
    whole = whole_numbers(exact, total)
    assert (sum(whole), min(whole) >= 1) == (total, True)
    worst = max(abs(w - e) for w, e in zip(whole, exact, strict=True))
    # No exchange of one between two places errs less.
    for up, down in itertools.permutations(range(len(whole)), 2):
        if whole[down] > 1:
            other = [w + (at == up) - (at == down) for at, w in enumerate(whole)]
            assert max(abs(w - e) for w, e in zip(other, exact, strict=True)) >= worst - 1e-9


def test_classes_of_one_queue_divide_it_as_they_request() -> None:
    queue_of = {"a": 1, "b": 1, "c": 2, "d": 3, "e": 3}
    requested = {"a": 0.1, "b": 0.3, "c": 0.2, "d": 0.0, "e": 0.0}
    shares = divide_queues(requested, queue_of, {1: 0.6, 2: 0.3, 3: 0.1})
    assert shares == pytest.approx({"a": 0.15, "b": 0.45, "c": 0.3, "d": 0.05, "e": 0.05})
