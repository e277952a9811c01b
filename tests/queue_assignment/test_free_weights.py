"""Classes onto too few queues of free weights: the optimum, against every grouping there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.intent.treatment import MOST_CLASSES
from qosforge.queue_assignment import shape
from qosforge.queue_assignment.free_weights import MOST_STEPS, cheapest_groups, pairwise_groups
from qosforge.queue_assignment.shape import Criterion, Demand, QueueShape
from qosforge.queue_assignment.solver import assign_queues

PREFERENCES = (
    (shape.ALONE, shape.PARTED, shape.ERROR, shape.UNRELATED, shape.ERRORS),
    (shape.MISPLACED, shape.MERGED, shape.ERROR),
    (shape.ERROR, shape.ERRORS),
    (shape.KINDS, shape.ERROR, shape.PARTED),
)
DEMANDS = st.builds(
    Demand,
    name=st.just(""),
    shares=st.tuples(st.integers(0, 30).map(lambda n: n / 100), st.integers(0, 30).map(lambda n: n / 100)),
    alone=st.sampled_from([False, False, False, True]),
    kinds=st.frozensets(st.sampled_from(["data", "control"]), min_size=1),
    labels=st.frozensets(st.integers(0, 3), max_size=1),
)


def ways(things: Sequence[int], most: int) -> Iterator[list[list[int]]]:
    """Every way to put things into groups."""
    if not things:
        yield []
        return
    for groups in ways(things[:-1], most):
        for at in range(len(groups)):
            yield [[*g, things[-1]] if at == position else g for position, g in enumerate(groups)]
        if len(groups) < most:
            yield [*groups, [things[-1]]]


def come_to(groups: Sequence[Sequence[Demand]], preference: Sequence[Criterion]) -> list[float]:
    """What the criteria come to, by what their names say."""
    shared = [g for g in groups if len(g) > 1]
    errors = [
        sum(shares) - one for g in groups for shares in zip(*(d.shares for d in g), strict=True) for one in shares
    ]
    alone = [any(d.alone for d in g) for g in shared]
    unrelated = [not frozenset.intersection(*(d.kinds for d in g)) for g in shared]
    parted = sum(bool(a.labels & b.labels) for one, other in combinations(groups, 2) for a in one for b in other)
    values = {
        shape.ALONE: sum(alone),
        shape.UNRELATED: sum(unrelated),
        shape.MISPLACED: sum(len(g) for g, a, u in zip(shared, alone, unrelated, strict=True) if a or u),
        shape.PARTED: parted,
        shape.KINDS: sum(len(frozenset().union(*(d.kinds for d in g))) for g in groups),
        shape.MERGED: sum(map(len, shared)),
        shape.ERROR: max(errors, default=0.0),
        shape.ERRORS: sum(errors),
    }
    return [round(values[criterion], 8) for criterion in preference]


@given(st.lists(DEMANDS, min_size=1, max_size=7), st.integers(1, 4), st.sampled_from(PREFERENCES))
@settings(max_examples=150, deadline=None)
def test_no_grouping_is_preferred_to_the_one_found(
    demands: list[Demand], most: int, preference: tuple[Criterion, ...]
) -> None:
    demands = [d._replace(name=str(at)) for at, d in enumerate(demands)]
    found = cheapest_groups(demands, most, preference)
    assert sorted(d.name for g in found for d in g) == [d.name for d in demands]
    assert len(found) <= most
    every = ([[demands[n] for n in g] for g in way] for way in ways(range(len(demands)), most))
    assert come_to(found, preference) == min(come_to(way, preference) for way in every)


def test_a_search_of_many_classes_ends_with_the_best_so_far() -> None:
    demands = [Demand(str(n), (n / 1000,)) for n in range(60, 20, -1)]

    def largest_error(steps: int) -> float:
        found = cheapest_groups(demands, 4, (shape.ERROR, shape.ERRORS), steps)
        assert sorted(d.name for group in found for d in group) == sorted(d.name for d in demands)
        return max(sum(d.shares[0] for d in g) - min(d.shares[0] for d in g) for g in found)

    # 1620 in four: no way is better than 405 less the smallest.
    assert 0.345 <= largest_error(MOST_STEPS) <= largest_error(100) <= largest_error(0)
    assert largest_error(MOST_STEPS) <= 0.425


def test_a_bound_comes_before_kinds_and_these_before_the_error() -> None:
    demands = [Demand(n, (part,), kinds=frozenset({n[0]})) for n, part in (("a1", 0.3), ("a2", 0.1), ("b", 0.2))]

    def pairs(bound: float) -> list[list[str]]:
        found = cheapest_groups(demands, 2, (shape.error_above(bound), shape.MISPLACED, shape.ERROR))
        return sorted(sorted(d.name for d in group) for group in found)

    assert pairs(0.4) == [["a1", "a2"], ["b"]]
    # Together with the other kind the larger one may be wrong by 0.2, with its own by 0.3.
    assert pairs(0.2) == [["a1"], ["a2", "b"]]


def test_classes_of_the_largest_policy_are_grouped() -> None:
    demands = [Demand(str(n), (1 / MOST_CLASSES,), labels=frozenset({n % 64})) for n in range(MOST_CLASSES)]
    found = pairwise_groups(demands, 100, (shape.PARTED, shape.ERROR))
    assert sorted(d.name for group in found for d in group) == sorted(d.name for d in demands)
    assert len(found) == 100


def test_what_cannot_be_grouped_is_told() -> None:
    with pytest.raises(ValueError, match="no queue for the demands"):
        cheapest_groups([Demand("a", (0.1,))], 0, (shape.ERROR,))
    with pytest.raises(ValueError, match="257 demands; at most 256"):
        pairwise_groups([Demand("a", (0.1,))] * 257, 1, (shape.ERROR,))
    with pytest.raises(ValueError, match="demand 1 has 2 shares; give one for each rate"):
        pairwise_groups([Demand("a", (0.1,)), Demand("b", (0.1, 0.2))], 1, (shape.ERROR,))
    with pytest.raises(ValueError, match='no criterion "nearest"'):
        cheapest_groups([Demand("a", (0.1,))], 1, (Criterion("nearest"),))


def test_pairs_join_that_make_the_preferred_queue() -> None:
    shares = {"a": 0.1, "b": 0.02, "c": 0.03, "d": 0.2}
    demands = [Demand(name, (part,), kinds=frozenset({name == "c"})) for name, part in shares.items()]
    groups = pairwise_groups(demands, 2, (shape.KINDS, shape.ERROR))
    assert [[d.name for d in g] for g in groups] == [["a", "b", "d"], ["c"]]
    groups = pairwise_groups(demands, 2, (shape.ERROR,))
    assert [[d.name for d in g] for g in groups] == [["a", "b", "c"], ["d"]]


def test_strict_queues_go_by_rank_and_reserved_ones_to_their_class() -> None:
    demands = (
        *(Demand(name, priority=True) for name in ("voice", "video", "games")),
        Demand("data", (0.5,)),
        Demand("bulk", (0.3,)),
        Demand("default", (0.2,), queue=0),
    )
    found = assign_queues(QueueShape(weighted=(1, 2, 3, 4), strict=(1, 2)), demands)
    assert found.queue_of == {"voice": 1, "video": 2, "games": 2, "data": 3, "bulk": 4, "default": 0}
    assert (found.groups, found.merged, found.error) == ((("data",), ("bulk",)), (), 0.0)
    # A strict queue that no class has is weighted.
    assert assign_queues(QueueShape(weighted=(1, 2), strict=(1,)), demands[3:]).queue_of["data"] == 1
