"""A run as administrators see it, in browsers at a real service with a lab of two routers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.web.browser import PHONE, Tab, part
from tests.web.conftest import Site
from tests.web.people import PASSWORD
from tests.web.two_routers import held, two_routers

LONG_MS = 180_000
"""A run's own time on a busy machine."""

Open = Callable[..., Tab]


@pytest.fixture(scope="module")
def site(var_dir: Path) -> Iterator[Site]:
    """The service with two routers."""
    with two_routers(var_dir) as made:
        yield made


def order(page: Page, policy: str, ticket: str = "") -> None:
    """Order a run by the form, and come to its page."""
    page.goto("/runs/new")
    page.locator("#network").select_option("infn-fnal")
    expect(page.get_by_text("Rules of network infn-fnal")).to_be_visible()
    # The list of policies is a new one now, which asks for nothing until it is in its place.
    expect(page.locator(".htmx-request, .htmx-swapping, .htmx-settling, .htmx-added")).to_have_count(0)
    page.locator("#policy").select_option(policy)
    expect(page.locator("#version option")).to_have_count(2)
    page.get_by_label("Ticket").fill(ticket)
    page.get_by_role("button", name="Start run").dblclick()
    page.wait_for_url(re.compile(r"/runs/[0-9a-f-]{36}$"))


def by_keys(page: Page, button: str) -> None:
    """Come to a button by the tab key alone, and press it."""
    for _ in range(80):
        if page.evaluate("(button) => document.activeElement.matches(button)", button):
            page.keyboard.press("Enter")
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no key leads to {button}")


def status(page: Page, word: str) -> None:
    """Wait until the run's page tells a status."""
    expect(page.locator("#state .headline")).to_contain_text(word, timeout=LONG_MS)


def test_a_run_is_ordered_approved_by_another_watched_judged_and_rolled_back(site: Site, tab: Open) -> None:
    ann, bob = tab(), tab(PHONE, color_scheme="dark")
    ann.log_in("ann", PASSWORD)
    order(ann.page, "remote-control", "CHG-7")
    status(ann.page, "needs approval")
    expect(ann.page.get_by_text("an approver who had no hand in it")).to_be_visible()
    ann.require_sound()

    bob.log_in("bob", PASSWORD)
    bob.page.get_by_role("link", name="remote-control on infn-fnal", exact=True).click()
    bob.page.get_by_label("Comment").fill("looked at both routers")
    expect(bob.page.locator(".diff .added", has_text="policy-map QOSFORGE-OUT").first).to_be_visible()
    bob.require_sound()
    by_keys(bob.page, "#approve")

    # Both see it go on without touching anything, to the verdict.
    for each in (ann.page, bob.page):
        status(each, "kept")
    expect(ann.page.locator("#now")).to_have_text("kept")
    for each in (ann.page, bob.page):
        expect(each.get_by_role("region", name="Decisions")).to_contain_text("“looked at both routers”")
        expect(each.locator(".class-tiles")).to_contain_text("1 of 1 met")
        part(each, "Events")
        expect(each.locator("table.matrix tbody tr")).to_have_count(2)
        expect(each.locator("table.matrix").get_by_text("✔ kept")).to_have_count(2)
        part(each, "Objectives")
        expect(each.locator("table.verdicts").get_by_text("✔ met")).not_to_have_count(0)
    part(ann.page, "Figures")
    expect(ann.page.locator("figure svg").first).to_be_visible(timeout=LONG_MS)
    ann.page.reload()
    expect(ann.page.locator("figure svg").first).to_be_visible()  # kept with the run: nothing is drawn again
    ann.page.get_by_text("Downloads").click()
    with ann.page.expect_download() as download:
        ann.page.get_by_role("link", name="Everything").click()
    assert download.value.suggested_filename.endswith(".zip")
    ann.require_sound()
    bob.require_sound()

    by_keys(ann.page, "#open-back")
    dialog = ann.page.get_by_role("dialog")
    expect(dialog).to_contain_text("router1")
    expect(dialog.get_by_role("button", name="Leave it as it is")).to_be_focused()
    ann.require_sound()
    ann.page.keyboard.press("Shift+Tab")
    ann.page.keyboard.press("Enter")
    expect(ann.page.get_by_role("heading", name="Rollback of remote-control")).to_be_visible()
    status(ann.page, "rolled back to before")
    ann.page.locator("#state").get_by_role("link", name=re.compile("^run ")).click()
    status(ann.page, "rolled back later")
    ann.page.goto("/runs")
    expect(ann.page.get_by_role("row", name=re.compile("remote-control")).nth(1)).to_contain_text(
        "rolled back later"
    )


def test_a_run_that_errors_stand_against_is_not_started(site: Site, tab: Open) -> None:
    ann = tab()
    ann.log_in("ann", PASSWORD)
    page = ann.page
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route("**/preview", hold)
    with page.expect_request("**/preview"):
        page.goto("/runs/new?network=infn-fnal&policy=aircraft-gold")
    start, against = page.get_by_role("button", name="Start run"), page.get_by_role("link", name="Cannot start: ")
    expect(start).to_be_disabled()
    expect(page.locator("#start-run-why")).to_contain_text("as soon as the preview below is there")
    expect(page.locator("#preview")).to_contain_text("No device is touched.")
    for one in waiting:
        one.continue_()
    page.unroute("**/preview")
    expect(against).to_be_visible(timeout=LONG_MS)
    expect(start).to_be_disabled()
    against.click()
    expect(page.locator(":target")).to_be_visible()
    ann.require_sound()
    page.locator("#policy").select_option("of-fnal")
    expect(page.locator("#preview")).to_contain_text("No errors", timeout=LONG_MS)
    expect(start).to_be_enabled()
    expect(against).to_be_hidden()


def test_another_network_brings_its_own_policies_and_keeps_what_was_entered(site: Site, tab: Open) -> None:
    ann = tab()
    ann.log_in("ann", PASSWORD)
    page = ann.page
    page.goto("/runs/new?network=infn-fnal")
    expect(page.locator("#policy")).to_have_value("")
    expect(page.get_by_role("button", name="Start run")).to_be_disabled()
    page.get_by_label("Ticket").fill("CHG-9")
    page.locator("#policy").select_option("of-fnal")
    expect(page.locator("#version option")).to_have_count(2)
    page.get_by_text("When, and how strict").click()
    page.get_by_label("Warnings stand against it, too").check()
    expect(page.locator("#preview")).to_contain_text("router1", timeout=LONG_MS)
    ann.require_sound()

    page.locator("#network").focus()
    page.locator("#network").select_option("campus")
    expect(page.get_by_text("Rules of network campus")).to_be_visible()
    expect(page.get_by_text("belongs to network infn-fnal, not to network campus")).to_be_visible()
    expect(page.locator("#policy")).to_have_value("")
    expect(page.locator("#policy option", has_text="of-fnal")).to_have_count(0)
    expect(page.locator("#network")).to_be_focused()
    expect(page.get_by_label("Ticket")).to_have_value("CHG-9")
    expect(page.locator("#strict")).to_be_checked()
    expect(page.get_by_role("button", name="Start run")).to_have_count(0)
    expect(page.locator("#preview")).to_be_empty()
    ann.require_sound()

    page.locator("#policy").select_option("remote-control")
    expect(page.get_by_role("button", name="Start run")).to_be_visible()
    page.locator("#network").select_option("infn-fnal")
    expect(page.get_by_text("Rules of network infn-fnal")).to_be_visible()
    expect(page.locator("#policy")).to_have_value("remote-control")
    expect(page.get_by_label("Ticket")).to_have_value("CHG-9")
    ann.require_sound()


def test_a_change_that_breaks_its_objective_is_taken_back_and_told_after_an_outage(site: Site, tab: Open) -> None:
    ann, bob = tab(), tab()
    ann.log_in("ann", PASSWORD)
    bob.log_in("bob", PASSWORD)
    before = held(site)
    order(ann.page, "too-much")
    status(ann.page, "needs approval")
    # The connection is gone while the run goes on: the page says so, and catches up by itself.
    ann.context.set_offline(True)
    expect(ann.page.locator("#connection")).to_be_visible()
    bob.page.goto(ann.page.url)
    bob.page.get_by_label("Comment").fill("to see it go back")
    bob.page.get_by_role("button", name="Approve all the same").click()
    status(bob.page, "rolled back")
    status(ann.page, "needs approval")
    ann.context.set_offline(False)
    status(ann.page, "rolled back")
    expect(ann.page.locator("#connection")).to_be_hidden()
    expect(ann.page.locator("#state .sentence")).to_contain_text("is not met (delay p99 ")
    part(ann.page, "Events")
    expect(ann.page.locator("table.matrix").get_by_text("↩ rolled back")).to_have_count(2)
    assert held(site) == before
    expect(ann.page.get_by_role("button", name="Try again")).to_be_visible()
    bob.require_sound()


def test_a_viewer_looks_on_and_the_list_keeps_itself_up_to_date(site: Site, tab: Open) -> None:
    vic, ann = tab(PHONE), tab()
    vic.log_in("vic", PASSWORD)
    vic.page.goto("/runs?network=infn-fnal")
    rows = vic.page.locator("table.runs tbody tr")
    before = rows.count()
    ann.log_in("ann", PASSWORD)
    order(ann.page, "remote-control")
    status(ann.page, "needs approval")
    expect(rows).to_have_count(before + 1)
    expect(rows.first).to_contain_text("needs approval")
    vic.require_sound()
    rows.first.get_by_role("link").click()
    expect(vic.page.get_by_text("You may look at this run")).to_be_visible()
    assert vic.page.locator("main form, main dialog").count() == 0
    ann.page.get_by_role("button", name="Cancel the run").click()
    ann.page.get_by_role("dialog").get_by_role("button", name="Cancel the run").click()
    for each in (ann.page, vic.page):
        status(each, "cancelled")
    vic.require_sound()
    ann.require_sound()
    vic.page.goto("/")
    vic.require_sound()
    ann.page.goto("/runs/new?network=infn-fnal&policy=remote-control")
    ann.page.get_by_text("When, and how strict").click()
    ann.require_sound()
    ann.page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    ann.require_sound()
