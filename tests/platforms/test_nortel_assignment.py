"""Shares onto the queues of a set: the optimum, against every assignment there is."""

from __future__ import annotations

from itertools import product
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qosforge.platforms.nortel_5510.assignment import nearest, unit_error
from qosforge.platforms.nortel_5510.queues import best, choose

from .switch_support import REST, VOICE, campus, intent, marked, request_for

DEVICE = "ers5510"
PARTS = st.floats(0.01, 1, allow_nan=False)
UNITS = st.lists(st.lists(PARTS, min_size=1, max_size=2).map(tuple), min_size=1, max_size=5)
WEIGHTS = st.lists(st.integers(1, 65), min_size=1, max_size=4)


def errors(
    units: list[tuple[float, ...]], weights: list[int], left: float, queue_of: tuple[int, ...]
) -> list[float]:
    used = sorted(set(queue_of))
    total = sum(weights[q] for q in used)
    groups = [tuple(a for u, at in zip(units, queue_of, strict=True) if at == q for a in u) for q in used]
    return [unit_error(group, left * weights[q] / total) for q, group in zip(used, groups, strict=True)]


@given(UNITS, WEIGHTS, PARTS, st.lists(st.booleans(), min_size=5, max_size=5), st.integers(0, 3))
def test_no_assignment_is_better(
    units: list[tuple[float, ...]], weights: list[int], left: float, bound: list[bool], spare: int
) -> None:
    bound = bound[: len(units)]

    def allowed(queue_of: tuple[int, ...]) -> bool:
        used = set(queue_of)
        if len(units) <= len(weights):
            return len(used) == len(units)
        alone = sum(not any(b for b, at in zip(bound, queue_of, strict=True) if at == q) for q in used)
        return len(used) == len(weights) and alone <= spare

    every = [q for q in product(range(len(weights)), repeat=len(units)) if allowed(q)]
    least = min((max(errors(units, weights, left, q)) for q in every), default=inf)
    error, found = nearest(tuple(units), tuple(weights), left, tuple(bound), spare)
    if least == inf:
        assert error == inf
        return
    assert error == pytest.approx(least)
    assert found in every
    assert max(errors(units, weights, left, found)) == pytest.approx(least)
    alike = [q for q in every if max(errors(units, weights, left, q)) <= least + 1e-9]
    assert sum(errors(units, weights, left, found)) == pytest.approx(
        min(sum(errors(units, weights, left, q)) for q in alike), abs=1e-6
    )


def test_more_units_than_can_be_tried() -> None:
    with pytest.raises(ValueError, match="13 units for 2 queues"):
        nearest(tuple((0.01,) for _ in range(13)), (3, 1), 1.0, (True,) * 13, 0)


def test_the_best_set_of_all() -> None:
    classes = request_for(DEVICE, campus()).classes
    found = best(classes, 10**8, 0.05)
    assert found is not None
    assert found.error == min(choose(classes, n, 10**8).error for n in range(3, 9))
    # Within the tolerance a set that keeps classes apart is better than one with a smaller error.
    many = [marked(f"c{n}", 8 * n, n, bandwidth={"percent": 10}) for n in (1, 2, 3)]
    classes = request_for(DEVICE, intent(VOICE, *many, {"name": "default"})).classes
    found = best(classes, 10**8, 0.05)
    assert found is not None
    assert (found.queue_set >= 5, found.merged) == (True, ())


def test_classes_of_one_priority_share_a_queue() -> None:
    twins = [marked("one", 10, 1, bandwidth={"percent": 15}), marked("two", 12, 1, bandwidth={"percent": 5})]
    classes = request_for(DEVICE, intent(VOICE, *twins, {"name": "default"})).classes
    chosen = choose(classes, 4, 10**8)
    assert chosen.queue_of["one"] == chosen.queue_of["two"] != chosen.queue_of["default"]
    assert chosen.merged == (("one", "two"),)
    assert chosen.error >= 0.15  # the other's share


def test_two_strict_queues_serve_priority_and_the_rest() -> None:
    calls = {**VOICE, "treatment": {"priority": True}}
    chosen = choose(request_for(DEVICE, intent(calls, {"name": "default"})).classes, 2, 10**8)
    assert (chosen.queue_of, chosen.fits, chosen.error) == ({"voice-video": 1, "default": 2}, True, 0.0)
    third = marked("bulk", 10, 1, bandwidth={"remaining_percent": 70})
    assert not choose(request_for(DEVICE, intent(calls, third, REST)).classes, 2, 10**8).fits
