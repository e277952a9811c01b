"""Classes onto the four queues of a Catalyst: who shares one, which one it is, and where network control goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.findings import Finding
from qosforge.platforms.ios_switch.grouping import MOST_STEPS, best_groups
from qosforge.platforms.ios_switch.merging import MergeConstraints, Merging
from tests.compiler.goldens import findings_of, library

from .catalyst_support import intent, lowered, rendered

DEVICES = ("s2950", "s2970")


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


@given(st.lists(st.integers(0, 40), min_size=1, max_size=8), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_the_groups_found_are_the_cheapest_of_all(shares: list[int], most: int) -> None:
    def price(group: Sequence[int]) -> tuple[int, int]:
        errors = [sum(shares[n] for n in group) - shares[one] for one in group]
        return max(errors), sum(errors)

    def cost(prices: Sequence[tuple[int, int]]) -> tuple[int, int]:
        return max((worst for worst, _ in prices), default=0), sum(errors for _, errors in prices)

    things = sorted(range(len(shares)), key=lambda n: -shares[n])
    found = best_groups(things, most, price, cost)
    assert sorted(n for g in found for n in g) == list(range(len(shares)))
    assert len(found) <= most
    assert cost([*map(price, found)]) == min(cost([*map(price, way)]) for way in ways(things, most))


def test_a_search_of_many_things_ends() -> None:
    requested = 0

    def cost(prices: Sequence[int]) -> int:
        nonlocal requested
        requested += 1
        return max(prices)

    found = best_groups(range(60, 20, -1), 4, sum, cost)
    assert requested <= 4 * MOST_STEPS + 40**3
    # 1620 in four: no way is better than 405.
    assert 405 <= max(sum(g) for g in found) <= 425


NAMES = ("default", "routing", "voice", "data", "bulk", "video", "oam")
SHARES = st.lists(st.integers(0, 30), min_size=7, max_size=7)


@given(st.lists(SHARES, min_size=1, max_size=2), st.integers(1, 4), st.sets(st.sampled_from(NAMES), max_size=2))
@settings(max_examples=60, deadline=None)
def test_what_a_way_costs_at_least_hides_no_cheaper_one(
    percents: list[list[int]], queues: int, apart: set[str]
) -> None:
    requested = [{n: percent / 100 for n, percent in zip(NAMES, entry, strict=True)} for entry in percents]
    heaviest = sorted(NAMES, key=lambda n: -max(at[n] for at in requested))
    kept = MergeConstraints(frozenset(apart), (("voice", "video"), ("oam", "bulk")), frozenset({"routing"}))
    merging = Merging(heaviest, queues, requested, kept)
    found = best_groups(heaviest, queues, merging.price, merging.cost, merging.least)
    prices = [merging.price(group) for group in found]
    every = ways(range(len(heaviest)), queues)
    least = min(merging.cost([merging.price([heaviest[n] for n in group]) for group in way]) for way in every)
    assert merging.cost(prices) == pytest.approx(least, abs=2e-9)
    # What one class may miss is what the others of its queue ask for.
    worst = max(100 * (sum(at[n] for n in group) - at[one]) for at in requested for group in found for one in group)
    assert merging.cost(prices)[1] == pytest.approx(worst)


def told(policy: str, device: str, code: str) -> Finding:
    (found,) = [f for f in findings_of(library(policy), device) if f.code == code]
    return found


def test_eleven_classes_are_spread_over_three_queues() -> None:
    merged = told("rfc4594-12", "catalyst-2970", "queues-exceeded")
    assert merged.applied == "3 queues, a share may be wrong by 25.2 points of the link"


def test_classes_of_one_cos_stay_together_where_it_chooses_the_queue() -> None:
    merged = told("rfc4594-12", "catalyst-2950-ei", "queues-exceeded")
    groups = [set(group.split(" + ")) for group in merged.message.partition(": ")[2].split("; ")]
    by_cos: tuple[set[str], ...] = (
        {"signaling", "multimedia-conferencing", "real-time-interactive"},
        {"broadcast-video", "multimedia-streaming"},
        {"low-latency-data", "oam"},
        {"high-throughput-data", "low-priority-data"},
    )
    assert all(any(kept <= group for group in groups) for kept in by_cos)
    assert not [f for f in findings_of(library("rfc4594-12"), "catalyst-2950-ei") if f.code == "cos-shared"]


def weighted(name: str, dscp: str, percent: int, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "match": {"any": [{"dscp": [dscp]}]},
        "mark": {"dscp": dscp, **more},
        "treatment": {"bandwidth": {"remaining_percent": percent}},
    }


VOICE = {
    "name": "voice",
    "match": {"any": [{"dscp": ["ef"]}]},
    "mark": {"dscp": "ef"},
    "treatment": {"priority": {"percent": 30}},
}
REST = {"name": "default", "treatment": {"bandwidth": {"remaining_percent": 40}}}


@pytest.mark.parametrize("device", DEVICES)
def test_network_control_goes_with_the_class_that_carries_routing(device: str) -> None:
    classes = (VOICE, weighted("routing", "cs6", 5), weighted("data", "af21", 55), REST)
    _, result = lowered(device, intent(*classes))
    queue = next(
        int(q.removeprefix("queue ")) for q, c in result.classes.items() if c == "routing" and "queue" in q
    )
    system = result.plan.system
    assert system.cos_to_queue is not None
    assert {system.cos_to_queue[6], system.cos_to_queue[7]} == {queue}
    assert set((system.dscp_to_queue or [queue] * 64)[48:]) == {queue}
    (note,) = [f for f in result.findings if f.code == "network-control-queue"]
    assert note.message == f"network control (CoS 7, DSCP 49 to 63) shares queue {queue} with routing"


def by_cos(name: str, cos: list[int], weight: int) -> dict[str, Any]:
    return {"name": name, "match": {"any": [{"cos": cos}]}, "treatment": {"bandwidth": {"weight": weight}}}


def test_queues_are_taken_so_that_the_maps_stay() -> None:
    classes = (by_cos("q3", [6, 7], 4), by_cos("q2", [4, 5], 3), by_cos("q1", [2, 3], 2))
    rest = {"name": "default", "treatment": {"bandwidth": {"weight": 1}}}
    request, result = lowered("s2950", intent(*classes, rest))
    assert result.plan.system.cos_to_queue == (1, 1, 2, 2, 3, 3, 4, 4)
    assert "wrr-queue bandwidth 1 2 3 4\n" in rendered("s2950", request, result)
    _, result = lowered("s2970", intent(*classes, rest))
    # As delivered CoS 4 and 5 are in queues of their own: one of them has to move.
    assert result.plan.system.cos_to_queue == (2, 2, 3, 3, 1, 1, 4, 4)


@pytest.mark.parametrize("device", DEVICES)
def test_a_default_class_without_a_mark_is_told_to_lose_it(device: str) -> None:
    _, result = lowered(device, intent(VOICE, REST))
    (note,) = [f for f in result.findings if f.code == "default-marked-down"]
    assert (note.severity, note.traffic_class, note.applied) == ("info", "default", "DSCP 0")
    _, result = lowered(device, intent(VOICE, REST | {"mark": {"dscp": "default"}}))
    assert not [f for f in result.findings if f.code == "default-marked-down"]


@pytest.mark.parametrize("device", ["force10-e300", "nortel-5510", "catalyst-9000"])
def test_other_boxes_that_go_by_marks_tell_it_too(device: str) -> None:
    assert told("campus-collaboration", device, "default-marked-down").severity == "info"
    on_a_router = findings_of(library("campus-collaboration"), "ios-12-4")
    assert "default-marked-down" not in {f.code for f in on_a_router}
