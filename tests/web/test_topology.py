"""The drawing of a network: always the same, and nothing on top of anything else."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.device_state.summaries import KnownDevices
from qosforge.inventory.loader import load_network
from qosforge.resources import root
from qosforge.web.views import graph_layout
from qosforge.web.views.networks import NetworkView
from qosforge.web.views.shapes import Rectangle
from qosforge.web.views.topology import Drawing, draw_network


def _everything(made: Drawing) -> list[Rectangle]:
    spots = [spot for line in made.lines for spot in (*line.badges, line.label) if spot is not None]
    return [*made.cards, *spots]


def _require_clear(made: Drawing) -> None:
    for one, other in combinations(_everything(made), 2):
        assert not one.overlaps(other), (one, other)
    for spot in _everything(made):
        assert spot.x >= 0
        assert spot.y >= 0
        assert spot.x + spot.width <= made.width
        assert spot.y + spot.height <= made.height


@st.composite
def networks(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
    """A campus: a tree of up to 40 devices with a few links more, some of them beside others."""
    count = draw(st.integers(1, 40))
    hosts = draw(st.lists(st.integers(0, 7), min_size=count, max_size=count))
    links = [(draw(st.integers(max(0, n - 6), n - 1)), n) for n in range(1, count) if draw(st.integers(0, 19))]
    if count > 1:
        some = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(
            lambda pair: pair[0] != pair[1]
        )
        links += draw(st.lists(some, max_size=4))
    return tuple(hosts), tuple(links)


@settings(max_examples=12, deadline=None)
@given(networks())
def test_nothing_lies_on_anything_else(network: tuple[tuple[int, ...], tuple[tuple[int, int], ...]]) -> None:
    _require_clear(draw_network(*network))


@pytest.mark.parametrize("count", [60, 300])
def test_a_large_network_is_nested_below_its_most_linked_device(count: int) -> None:
    links = tuple(((n - 1) // 8, n) for n in range(1, count))
    made = draw_network((48,) * count, links)
    for one, other in combinations(made.cards, 2):
        assert not one.overlaps(other)
    for above, below in links:
        assert made.cards[above].middle[1] < made.cards[below].middle[1]
    assert made.width < 3 * made.height
    assert made.height < 3 * made.width


def test_placing_twice_the_devices_takes_about_twice_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []
    pack = graph_layout._pack
    monkeypatch.setattr(
        graph_layout, "_pack", lambda blocks, *rest: looked_at.append(len(blocks)) or pack(blocks, *rest)
    )
    monkeypatch.setattr(graph_layout._Grid, "improve", lambda _: pytest.fail("takes the cube of the cards"))
    work = []
    for count in (200, 400):
        looked_at.clear()
        graph_layout.lay_out(count, [((n - 1) // 8, n) for n in range(1, count)])
        work.append(len(looked_at) + sum(looked_at))
    assert work[1] <= 2.1 * work[0]


@settings(max_examples=3, deadline=None)
@given(networks())
def test_the_same_network_is_drawn_the_same(network: tuple[tuple[int, ...], tuple[tuple[int, int], ...]]) -> None:
    draw_network.cache_clear()
    first = draw_network(*network)
    draw_network.cache_clear()
    assert draw_network(*network) == first


@pytest.mark.parametrize("name", ["campus", "itesm", "itesm-wan", "infn-fnal"])
def test_shipped_networks_are_drawn_with_every_label(name: str) -> None:
    view = NetworkView(load_network(root() / "inventories" / name), KnownDevices())
    _require_clear(view.drawing)
    assert all(line.label is not None for line in view.drawing.lines)


def test_the_campus_is_a_row_of_devices_with_its_branches_beside() -> None:
    view = NetworkView(load_network(root() / "inventories" / "campus"), KnownDevices())
    middles = {card.device.name: place.middle for card, place in zip(view.cards, view.drawing.cards, strict=True)}
    row = ["s2970", "s2950", "r1", "r2", "r3", "e300", "ers5510"]
    assert len({middles[name][1] for name in row}) == 1
    across = [middles[name][0] for name in row]
    assert across in (sorted(across), sorted(across, reverse=True))
    assert middles["b256"][0] == middles["b56"][0] == middles["r2"][0]
