"""Laws of the fluid model under random trees and loads."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.plan.fluid import Division, FluidClass, max_min, policed, throughput

SETTINGS = settings(max_examples=150, deadline=None, derandomize=True, database=None)
RATES = st.integers(0, 1000).map(float)
WEIGHTS = st.integers(1, 50).map(float)
NEAR = 1e-6


@st.composite
def trees(
    draw: st.DrawFn, depth: int = 2, *, bounded: bool = True, strict: bool = True, name: str = "r"
) -> FluidClass:
    """A tree of up to three levels with any mixture of what the model has."""
    ceiling = draw(RATES) if bounded and draw(st.booleans()) else math.inf
    common: dict[str, object] = {"name": name, "weight": draw(WEIGHTS), "ceiling": ceiling}
    common["level"] = draw(st.integers(1, 2))
    if strict and draw(st.integers(0, 3)) == 0:
        common |= {"priority": draw(st.integers(1, 2)), "conforming": draw(st.one_of(RATES, st.just(math.inf)))}
    if depth and draw(st.integers(0, 3)):
        inside = [
            draw(trees(depth - 1, bounded=bounded, strict=strict, name=f"{name}.{number}"))
            for number in range(draw(st.integers(1, 4)))
        ]
        division = draw(st.sampled_from(Division))
        return FluidClass(**common, children=tuple(inside), division=division)  # type: ignore[arg-type]
    return FluidClass(**common, offered=draw(RATES))  # type: ignore[arg-type]


def nodes(root: FluidClass) -> list[FluidClass]:
    return [root, *(node for child in root.children for node in nodes(child))]


@SETTINGS
@given(trees(), RATES)
def test_nothing_is_made_or_lost(root: FluidClass, rate: float) -> None:
    found = throughput(root, rate)

    assert found[root.name] <= rate + NEAR
    for node in nodes(root):
        assert -NEAR <= found[node.name] <= node.demand + NEAR
        if node.children:
            inside = sum(found[child.name] for child in node.children)
            assert inside == pytest.approx(found[node.name], abs=NEAR)


@SETTINGS
@given(trees(bounded=False), RATES)
def test_without_bounds_no_capacity_is_left_while_there_is_demand(root: FluidClass, rate: float) -> None:
    offered = sum(node.offered for node in nodes(root))

    assert throughput(root, rate)[root.name] == pytest.approx(min(offered, rate), abs=NEAR)


@SETTINGS
@given(trees(), RATES, st.data())
def test_who_offers_more_never_gets_less(root: FluidClass, rate: float, data: st.DataObject) -> None:
    leaf = data.draw(st.sampled_from([node for node in nodes(root) if not node.children]))
    more = leaf.offered + data.draw(RATES)

    def grown(node: FluidClass) -> FluidClass:
        if node.name == leaf.name:
            return replace(node, offered=more)
        return replace(node, children=tuple(grown(child) for child in node.children))

    assert throughput(grown(root), rate)[leaf.name] >= throughput(root, rate)[leaf.name] - NEAR


@SETTINGS
@given(trees(), RATES, st.randoms(use_true_random=False))
def test_the_order_of_classes_does_not_matter(root: FluidClass, rate: float, random: object) -> None:
    def mixed(node: FluidClass) -> FluidClass:
        children = [mixed(child) for child in node.children]
        random.shuffle(children)  # type: ignore[attr-defined]
        return replace(node, children=tuple(children))

    assert throughput(mixed(root), rate) == pytest.approx(throughput(root, rate), abs=NEAR)


@SETTINGS
@given(st.lists(st.tuples(RATES, WEIGHTS), min_size=1, max_size=8), RATES)
def test_max_min_is_optimal(members: list[tuple[float, float]], rate: float) -> None:
    """Who gets less than it wants has at least as much per weight as anybody else."""
    demands, weights = zip(*members, strict=True)
    given_ = max_min(rate, demands, weights)

    assert sum(given_) == pytest.approx(min(rate, sum(demands)), abs=NEAR)
    most = max(part / weight for part, weight in zip(given_, weights, strict=True))
    for part, demand, weight in zip(given_, demands, weights, strict=True):
        assert part >= demand - NEAR or part / weight >= most - NEAR


@SETTINGS
@given(st.lists(st.tuples(RATES, WEIGHTS), min_size=1, max_size=6), RATES)
def test_a_level_that_holds_one_class_each_changes_nothing(members: list[tuple[float, float]], rate: float) -> None:
    flat = [FluidClass(f"c{i}", demand, weight) for i, (demand, weight) in enumerate(members)]
    deep = [replace(c, name=f"in {c.name}", offered=0.0, children=(c,)) for c in flat]
    one, two = (throughput(FluidClass("r", children=tuple(c)), rate) for c in (flat, deep))

    assert {c.name: two[c.name] for c in flat} == pytest.approx({c.name: one[c.name] for c in flat}, abs=NEAR)


def llq(voice: float, data: float) -> dict[str, float]:
    classes = (FluidClass("voice", voice, priority=1, conforming=300), FluidClass("data", data))
    return throughput(FluidClass("link", children=classes), 1000)


def test_a_priority_policed_under_congestion_exceeds_its_cap_on_what_others_leave() -> None:
    assert llq(500, 2000) == {"link": 1000, "voice": 300, "data": 700}
    assert llq(500, 600) == {"link": 1000, "voice": 400, "data": 600}
    assert llq(500, 100) == {"link": 600, "voice": 500, "data": 100}


def test_a_policed_priority_keeps_to_its_cap_whatever_others_leave() -> None:
    classes = (
        FluidClass("voice", 500, priority=1, conforming=300),
        FluidClass("video", 500, priority=1, conforming=100),
        FluidClass("data", 100),
    )
    link = FluidClass("link", children=classes)

    both = throughput(policed(link, {"voice", "video"}), 1000)
    one = throughput(policed(link, {"video"}), 1000)

    assert both == {"link": 500, "voice": 300, "video": 100, "data": 100}
    assert one == {"link": 700, "voice": 500, "video": 100, "data": 100}


def test_streams_of_one_queue_share_it_as_they_offer() -> None:
    streams = (FluidClass("a", 900), FluidClass("b", 300))

    found = throughput(FluidClass("q", children=streams, division=Division.OFFERED), 600)

    assert (found["a"], found["b"]) == pytest.approx((450, 150))


def test_rounding_leaves_no_debt_to_those_who_come_last() -> None:
    # In proportion these come to more than the link by a last bit.
    first = tuple(
        FluidClass(name, offered=offered, priority=1)
        for name, offered in (("a", 209003.04346047592), ("b", 282394.5540498428), ("c", 159661.28271475277))
    )
    last = (
        FluidClass("silent", priority=2),
        FluidClass("weighted", offered=1.0),
        FluidClass("late", 1.0, priority=3),
    )
    got = throughput(FluidClass("link", children=(*first, *last)), 300_000.0)
    assert [got["silent"], got["weighted"], got["late"]] == [0.0, 0.0, 0.0]


def test_what_has_no_weight_gets_what_nobody_else_wants() -> None:
    classes = (FluidClass("a", 100, weight=2), FluidClass("b", math.inf, weight=0), FluidClass("c", 50, weight=0))

    found = throughput(FluidClass("link", children=classes), 200)

    assert (found["a"], found["b"], found["c"]) == (100, 50, 50)


@pytest.mark.parametrize(
    ("root", "rate", "message"),
    [
        (FluidClass("a", -1.0), 1, "class a has the offered load -1.0"),
        (FluidClass("a", math.nan), 1, "class a has the offered load nan"),
        (FluidClass("a", weight=-2), 1, "class a has weight -2"),
        (FluidClass("a", weight=math.inf), 1, "class a has weight inf"),
        (FluidClass("a", ceiling=-2), 1, "class a has the ceiling -2"),
        (FluidClass("a", children=(FluidClass("a"),)), 1, "class a comes twice"),
        (FluidClass("a", 3.0, children=(FluidClass("b"),)), 1, "class a has classes and a load"),
        (FluidClass("a"), math.inf, "a link of inf b/s"),
    ],
)
def test_what_cannot_be_is_named(root: FluidClass, rate: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        throughput(root, rate)
