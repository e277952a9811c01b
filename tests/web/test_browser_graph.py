"""A network of 300 devices in a browser: a graph to pan, zoom and filter, and the drawing where there is none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks.campus import write_campus
from qosforge.access.roles import Role
from qosforge.settings import Settings
from tests.api.served import serving
from tests.web.browser import PHONE, Tab, soon
from tests.web.conftest import PASSWORD, Site

DEVICES = 300


@pytest.fixture(scope="module")
def site(var_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A service with a large network and one that is just not large."""
    folder = tmp_path_factory.mktemp("inventories")
    write_campus(folder / "large", DEVICES)
    write_campus(folder / "small", 40)
    with serving(var_dir, inventories_dir=str(folder)) as served:
        yield Site(served, Settings(var_dir=var_dir))


@pytest.fixture(scope="module")
def ann(site: Site) -> str:
    return site.person("ann", Role.VIEWER)


def _open(one: Tab, ann: str, network: str = "large") -> Page:
    one.log_in(ann, PASSWORD)
    one.page.goto(f"/networks/{network}")
    return one.page


def _picture(page: Page, *before: bytes) -> bytes:
    """The graph as it is drawn, once it is none of the pictures ``before`` and stays: Cytoscape draws in frames."""
    seen = [b"", page.locator("#graph-canvas").screenshot()]

    def stays() -> bool:
        seen[:] = seen[1], page.locator("#graph-canvas").screenshot()
        return seen[0] == seen[1] and seen[1] not in before

    soon(page, stays, "the graph is drawn as before, or never comes to rest")
    return seen[1]


def _count(page: Page, shown: int) -> None:
    told = f"1–{shown} of {shown} that fit, of {DEVICES}" if shown < DEVICES else f"1–50 of {DEVICES}"
    expect(page.get_by_role("status").filter(has_text="of 300")).to_have_text(told)
    expect(page.locator("tr[data-device]")).to_have_count(min(shown, 50))


def test_a_large_network_is_panned_zoomed_and_filtered(tab: Callable[..., Tab], ann: str) -> None:
    one = tab()
    page = _open(one, ann)
    graph = page.get_by_role("application")
    expect(graph).to_be_visible()
    expect(page.locator("svg.topology")).to_have_count(0)  # it is a page of its own
    _count(page, DEVICES)
    whole = _picture(page)
    page.get_by_role("button", name="Zoom in").click()
    zoomed = _picture(page, whole)
    graph.focus()
    page.keyboard.press("ArrowRight")
    _picture(page, whole, zoomed)
    page.keyboard.press("Tab")
    expect(graph).not_to_be_focused()

    page.get_by_label("Device, product or end host").fill("d29 force10")
    expect(page.locator("#shown")).to_have_text(re.compile("^1–[1-9] of [1-9] that fit, of 300"))
    found = page.locator("tr[data-device]")
    _count(page, found.count())
    assert all("Force10" in row for row in found.all_inner_texts())
    one.require_sound()
    page.get_by_label("Device, product or end host").fill("d299")
    _count(page, 1)
    box = graph.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)  # what is found is in the middle
    page.wait_for_url("**/networks/large/devices/d299")


def _drawn(graph: Locator) -> int:
    """How many devices the graph draws by themselves."""
    return int(graph.get_attribute("data-drawn") or "")


def _first_fold(x: float, y: float, width: float, height: float) -> tuple[float, float]:
    """Where the devices behind the first of eight are folded: at the right end of the first of eight rows.

    The drawing of a device, eight behind it and what is folded behind these is 612 wide before zooming, a row 58
    high; around it are 20 px.
    """
    zoom = (width - 40) / 612
    return x + width - 20 - 66 * zoom, y + height / 2 - 3.5 * 58 * zoom


def test_devices_are_folded_until_one_asks_for_them(tab: Callable[..., Tab], ann: str) -> None:
    one = tab()
    page = _open(one, ann)
    graph = page.get_by_role("application")
    folded, first = _picture(page), _drawn(graph)
    assert first < DEVICES
    box = graph.bounding_box()
    assert box is not None
    page.mouse.click(*_first_fold(box["x"], box["y"], box["width"], box["height"]))
    unfolded = _picture(page, folded)
    assert first < _drawn(graph) < DEVICES
    assert page.url.endswith("/networks/large"), "it stands for devices, and leads to none"
    page.get_by_role("button", name="Show all").click()
    all_unfolded = _picture(page, folded, unfolded)
    page.get_by_role("button", name="Fold again").click()
    _picture(page, unfolded, all_unfolded)
    assert _drawn(graph) == first
    one.require_sound()


@pytest.mark.parametrize("size", [{"width": 1440, "height": 900}, PHONE], ids=["desktop", "phone"])
def test_words_of_the_first_view_can_be_read(tab: Callable[..., Tab], ann: str, size: dict[str, int]) -> None:
    one = tab(size)
    page = _open(one, ann)
    graph = page.get_by_role("application")
    expect(graph).to_have_attribute("data-words", re.compile("^1[2-9]$"))
    for _ in range(9):
        page.get_by_role("button", name="Zoom out").click()
    expect(graph).to_have_attribute("data-words", "0")  # rather none than such that nobody can read
    page.get_by_role("button", name="Show all").click()
    expect(graph).to_have_attribute("data-words", re.compile("^1[2-9]$"))
    one.require_sound()


def test_the_drawing_is_a_page_of_its_own_and_where_the_graph_is_not(tab: Callable[..., Tab], ann: str) -> None:
    one = tab()
    page = _open(one, ann)
    graph, drawing = page.locator("#graph-canvas"), page.get_by_role("region", name="Drawing of the network")
    expect(graph).to_be_visible()
    page.get_by_role("link", name="As a drawing").click()
    expect(drawing).to_be_visible()
    one.require_sound()

    page.goto("/networks/small")
    expect(drawing).to_be_visible()
    expect(graph).to_have_count(0)

    page.route("**/static/cytoscape.js", lambda route: route.abort())
    page.goto("/networks/large")
    page.wait_for_load_state("networkidle")
    expect(page.locator("#graph")).to_be_hidden()
    expect(page.get_by_role("link", name="As a drawing")).to_be_visible()
    _count(page, DEVICES)
