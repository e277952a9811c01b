"""The first screen of a new policy in a browser: what is wrong with it stands where it was entered."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from qosforge.access.roles import Role
from qosforge.emulation import start_lab
from qosforge.inventory.loader import load_network
from qosforge.inventory.overlay import state_folder
from qosforge.resources import root
from qoslab import control
from tests.web.browser import PHONE, Tab
from tests.web.conftest import PASSWORD, Site

LAB = "infn-fnal"
WIDE = {"width": 1440, "height": 900}
LONG_MS = 180_000
"""What takes the devices some seconds, on a busy machine."""


@pytest.fixture(scope="module")
def ann(site: Site) -> str:
    return site.person("ann", Role.OPERATOR)


@pytest.fixture(scope="module")
def lab(var_dir: Path) -> Iterator[None]:
    """Two routers that can be read."""
    folder, state = root() / "inventories" / LAB, state_folder(var_dir, LAB)
    start_lab(load_network(folder), folder, state)
    try:
        yield
    finally:
        control.stop(state)


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_what_is_wrong_with_a_name_stands_under_it(tab: Callable[..., Tab], ann: str, size: dict[str, int]) -> None:
    one = tab(size)
    one.log_in(ann, PASSWORD)
    page = one.page
    page.goto("/policies/new?network=campus&from=campus-collaboration")
    name, go_on = page.get_by_label("Name", exact=True), page.get_by_role("button", name="Continue")
    hint = page.get_by_text("Letters, digits, “-” and “_”, beginning with a letter; 40 at most.")
    taken = "there is a policy 'campus-collaboration' already: edit that one, or choose another name"
    for entered, told in (
        ("", "It needs a name."),
        ("9 voice", "This is no name: letters, digits, “-” and “_” only, beginning with a letter."),
        ("x" * 80, "Name: takes 40 characters at most"),
        ("campus-collaboration", taken),
    ):
        name.fill(entered)
        expect(page.locator("#name-wrong")).to_be_empty()  # of what was there before
        go_on.click()
        wrong = page.locator("#name-wrong")
        expect(wrong).to_have_text(told)
        for seen in (name, wrong, hint):
            expect(seen).to_be_in_viewport(ratio=1)
        expect(name).to_be_focused()
        expect(name).to_have_value(entered)
        expect(name).to_have_attribute("aria-invalid", "true")
        expect(page.locator("#messages")).to_be_empty()
        under = wrong.evaluate("one => one.getBoundingClientRect().top")
        assert under >= name.evaluate("one => one.getBoundingClientRect().bottom")
        one.require_sound("422")
    name.fill("campus-voice")
    go_on.click()
    page.wait_for_url(re.compile("name=campus-voice"))


def test_that_nothing_was_chosen_is_told_at_the_choice(tab: Callable[..., Tab], ann: str) -> None:
    one = tab(WIDE)
    one.log_in(ann, PASSWORD)
    page = one.page
    page.goto("/policies/new?network=campus")
    page.get_by_label("Name", exact=True).fill("campus-voice")
    page.evaluate("document.querySelectorAll('[name=from]').forEach((one) => (one.checked = false))")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Choose what it begins from, or an empty policy.")).to_be_in_viewport()
    expect(page.locator("#name-wrong")).to_be_empty()
    one.require_sound()
    page.get_by_label("An empty policy").check()
    expect(page.get_by_text("Choose what it begins from, or an empty policy.")).to_have_count(0)


def test_nothing_is_recommended_before_the_devices_are_read(tab: Callable[..., Tab], ann: str, lab: None) -> None:
    one = tab(PHONE)
    one.log_in(ann, PASSWORD)
    page = one.page
    page.goto(f"/policies/new?network={LAB}")
    starts = page.locator("#starts")
    expect(starts).to_contain_text("The 2 devices of infn-fnal were never read.", timeout=LONG_MS)
    expect(page.locator("[name=from]:checked")).to_have_count(0)
    expect(starts.locator(".status-kept, .is-ok")).to_have_count(0)
    one.require_sound()
    page.get_by_label("Name", exact=True).fill("kept-while-reading")
    starts.get_by_role("button", name="Read the 2 devices").click()
    expect(starts).not_to_contain_text("never read", timeout=LONG_MS)
    expect(starts.get_by_text("recommended", exact=True)).to_be_visible(timeout=LONG_MS)
    expect(page.locator("[name=from]:checked")).to_have_count(1)
    expect(page.get_by_label("Name", exact=True)).to_have_value("kept-while-reading")
    one.require_sound()
