"""A form that the service renders anew while somebody works in it, in a browser: what they do there stays."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Route, expect

from qosforge.access.roles import Role
from tests.web.browser import Tab
from tests.web.conftest import PASSWORD, Site


def test_a_renewed_form_keeps_the_caret_what_is_typed_and_what_is_unfolded(
    site: Site, tab: Callable[..., Tab]
) -> None:
    ann = tab()
    page = ann.page
    ann.log_in(site.person("ann", Role.OPERATOR), PASSWORD)
    page.goto("/policies/new?name=mine&network=campus")
    page.get_by_role("button", name="+ Class", exact=True).click()
    added = page.locator("article.class").filter(has=page.locator("input:focus"))
    new = page.locator(f"#{added.get_attribute('id')}")
    unfolded = page.locator("[data-class=default] details.body")
    unfolded.locator("summary").first.click()
    description = new.get_by_label("Description")
    description.fill("abcdef")
    expect(page.locator("#policy-text")).to_have_value(re.compile("description: abcdef"))
    held: list[Route] = []
    page.route("**/editor/change", lambda route: held.append(route), times=1)  # noqa: PLW0108  Playwright marks it
    with page.expect_request("**/editor/change"):
        new.get_by_label("Name", exact=True).fill("other")
    description.evaluate("one => { one.focus(); one.setSelectionRange(2, 4) }")
    page.keyboard.press("x")  # newer than what the service answers
    with page.expect_response("**/editor/change"):
        held[0].continue_()
    expect(page.locator("[data-class=other]")).to_have_count(1)
    caret = description.evaluate("one => [one === document.activeElement, one.value, one.selectionStart]")
    assert caret == [True, "abxef", 3]
    expect(page.locator("#policy-text")).to_have_value(re.compile("description: abxef"))
    assert description.evaluate("one => [one === document.activeElement, one.selectionStart]") == [True, 3]
    assert unfolded.evaluate("one => one.open")
    ann.require_sound()
