"""The form of a new run: no run was on its network, so that its devices are as they are delivered."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from qosforge.access.roles import Role
from tests.web.browser import DESKTOP, PHONE, Tab
from tests.web.conftest import Site
from tests.web.people import PASSWORD


def test_a_new_run_says_in_a_line_which_devices_are_not_as_requested(site: Site, tab: Callable[..., Tab]) -> None:
    phone = tab(PHONE)
    phone.log_in(site.person("eli", Role.OPERATOR), PASSWORD)
    page = phone.page
    page.goto("/runs/new?network=campus&policy=campus-collaboration")
    near = page.locator("section[aria-labelledby=preview-near]")
    expect(near).to_contain_text("5 devices serve every class as requested.", timeout=120_000)
    expect(near).to_contain_text("Not as requested: s2950, s2970, ers5510, e300.")
    table = near.get_by_role("table")
    expect(table).to_be_hidden()
    cards = page.locator("#preview .device > summary")
    heights = cards.evaluate_all("found => found.map(one => one.getBoundingClientRect().height)")
    assert len(heights) == 9
    assert max(heights) < 65, heights  # its name with how much changes, and below them the whole name of its model
    cut = "found => found.filter(one => one.scrollWidth > one.clientWidth).map(one => one.textContent)"
    assert page.locator("#preview .device > summary > .faint").evaluate_all(cut) == []
    phone.require_sound()
    near.get_by_label("Show each device").check()
    expect(table).to_be_visible()
    phone.require_sound()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("policy", ["rfc4594-8", "rfc4594-12"])
def test_many_classes_leave_room_for_what_each_device_would_be_given(
    site: Site, tab: Callable[..., Tab], policy: str, size: dict[str, int]
) -> None:
    one = tab(size)
    one.log_in(site.person(f"fay-{policy}-{size['width']}", Role.OPERATOR), PASSWORD)
    page = one.page
    page.goto(f"/runs/new?network=campus&policy={policy}")
    devices = page.locator("#preview .device")
    expect(devices).to_have_count(9, timeout=120_000)
    boxes = devices.evaluate_all("found => found.map(one => [one.clientWidth, one.scrollWidth])")
    assert all(inside > 300 and wide <= inside + 1 for inside, wide in boxes), boxes
    one.require_sound()


OUT_OF_VIEW = """found => found.filter(one => {
  const own = one.getBoundingClientRect(), table = one.closest(".scroll").getBoundingClientRect();
  return own.left < table.left || own.right > table.right + 1;
}).map(one => one.textContent.trim())"""


@pytest.mark.parametrize("policy", ["rfc4594-8", "rfc4594-12"])
def test_of_many_classes_each_is_seen_at_each_device(site: Site, tab: Callable[..., Tab], policy: str) -> None:
    """They stood in half of a page, where what was red was often out of view: columns that fit, else a row each."""
    one = tab(DESKTOP)
    one.log_in(site.person(f"gus-{policy}", Role.OPERATOR), PASSWORD)
    page = one.page
    page.goto(f"/runs/new?network=campus&policy={policy}")
    fields = page.locator("#preview table.fidelity td > .badge")
    expect(fields).to_have_count(9 * int(policy.rpartition("-")[2]), timeout=60_000)
    for width in (1440, 1280, 1024, 768):
        page.set_viewport_size({"width": width, "height": 900})
        expect(fields.first).to_be_visible()
        assert fields.evaluate_all(OUT_OF_VIEW) == [], width
        one.require_sound()
    page.set_viewport_size(DESKTOP)
    table, changes = page.locator("table.fidelity").bounding_box(), page.locator("#preview-devices").bounding_box()
    assert table
    assert changes
    assert table["y"] + table["height"] <= changes["y"], "one below the other"
    page.goto(f"/policies/{policy}/edit?network=campus")
    expect(fields.first).to_be_visible(timeout=120_000)
    assert fields.evaluate_all(OUT_OF_VIEW) == [], "nor beside the editor"
