"""Classes onto queues of fixed weights: the optimum, against every assignment there is."""

from __future__ import annotations

from itertools import product
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qosforge.queue_assignment.fixed_weights import nearest
from qosforge.queue_assignment.shape import Demand

PARTS = st.floats(0.01, 1, allow_nan=False)
UNITS = st.lists(st.lists(PARTS, min_size=1, max_size=2).map(tuple), min_size=1, max_size=5)
WEIGHTS = st.lists(st.integers(1, 65), min_size=1, max_size=4)


def labelled(shares: tuple[float, ...], bound: bool) -> list[Demand]:
    """The classes of a unit; only of a ``bound`` one they have a label."""
    return [Demand("", (part,), labels=frozenset({1} if bound else ())) for part in shares]


def queue_error(requested: tuple[float, ...], share: float) -> float:
    """The largest error of a class in a queue with this share: that of all, and what the others request."""
    return max(abs(share - sum(requested)) + sum(requested) - one for one in requested)


def errors(
    units: list[tuple[float, ...]], weights: list[int], left: float, queue_of: tuple[int, ...]
) -> list[float]:
    used = sorted(set(queue_of))
    total = sum(weights[q] for q in used)
    groups = [tuple(a for u, at in zip(units, queue_of, strict=True) if at == q for a in u) for q in used]
    return [queue_error(group, left * weights[q] / total) for q, group in zip(used, groups, strict=True)]


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
    error, found = nearest([labelled(u, b) for u, b in zip(units, bound, strict=True)], weights, left, spare)
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


def test_more_units_than_can_be_tried_or_no_queues_have_no_assignment() -> None:
    units = [labelled((0.01,), True)] * 13
    assert nearest(units, (3, 1), 1.0, 0)[0] == inf
    assert nearest(units[:12], (3, 1), 1.0, 0)[0] < inf
    assert nearest(units[:1], (), 1.0, 0)[0] == inf


def test_a_bearable_error_bounds_shared_queues() -> None:
    units = [labelled((part,), True) for part in (0.5, 0.3, 0.2)]
    error, places = nearest(units, (1, 1), 1.0, 0, bearable=0.3)
    assert (error, places) == (pytest.approx(0.3), (0, 1, 1))
    assert nearest(units, (1, 1), 1.0, 0, bearable=0.29)[0] == inf
