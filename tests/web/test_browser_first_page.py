"""The first page, in a browser."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from qosforge.access.roles import Role
from tests.web.browser import PHONE, Tab
from tests.web.conftest import PASSWORD, Site

BOUND_BYTES = 150_000


def test_a_login_leads_to_the_page_that_was_asked_for(site: Site, tab: Callable[..., Tab]) -> None:
    ann = tab()
    site.person("ann", Role.OPERATOR)
    ann.page.goto("/?")
    assert ann.page.url.endswith("/login?to=%2F")
    ann.require_sound()
    ann.log_in("ann", PASSWORD)
    expect(ann.page.get_by_role("heading", name="Overview")).to_be_visible()
    ann.require_sound()


def test_the_first_page_is_light_enough_for_a_phone(site: Site, tab: Callable[..., Tab]) -> None:
    bob = tab(PHONE)
    site.person("bob", Role.VIEWER)
    sizes: list[int] = []
    bob.page.on("response", lambda response: sizes.append(response.request.sizes()["responseBodySize"]))
    bob.log_in("bob", PASSWORD)
    bob.page.wait_for_load_state("networkidle")
    assert 0 < sum(sizes) < BOUND_BYTES, sizes
    bob.require_sound()
