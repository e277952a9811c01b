"""What fails on a page that keeps itself up to date: told once, and nothing of the page is lost."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from qosforge.access.roles import Role
from tests.web.browser import Tab
from tests.web.conftest import PASSWORD, Site


def _polled(page: Page) -> None:
    with page.expect_response("**/runs?*"):
        page.clock.run_for(5000)


def test_a_list_outlives_what_fails(site: Site, tab: Callable[..., Tab]) -> None:
    one = tab()
    one.log_in(site.person("ann", Role.OPERATOR), PASSWORD)
    page = one.page
    page.clock.install()
    page.goto("/runs")
    page.route("**/runs?*", lambda route: route.fulfill(status=502, body="<h1>Bad Gateway</h1>"))
    _polled(page)
    expect(page.locator("#connection")).to_be_visible()
    expect(page.get_by_text("Nothing has run yet.")).to_be_visible()
    expect(page.get_by_text("Bad Gateway")).to_have_count(0)
    page.unroute("**/runs?*")
    _polled(page)
    expect(page.locator("#connection")).to_be_hidden()

    one.context.clear_cookies()
    _polled(page)
    told = page.locator("#messages .message")
    expect(told).to_contain_text("nothing you entered is lost")
    told.evaluate("message => (message.id = 'first')")
    _polled(page)
    _polled(page)  # by then the answer before was taken
    expect(page.locator("#first")).to_be_visible()
    expect(page.get_by_text("Nothing has run yet.")).to_be_visible()
    one.require_sound("401", "502")  # the browser itself tells of them, and goes on asking
