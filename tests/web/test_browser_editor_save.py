"""Storing what cannot be stored, in a browser: what is wrong is in view, wherever one pressed."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from qosforge.access.roles import Role
from tests.web.browser import PHONE, Tab, await_code_editor, soon, unfold, write_policy
from tests.web.conftest import PASSWORD, Site

WIDE = {"width": 1440, "height": 900}
LONG_MS = 180_000
"""The first compilation of a service, on a busy machine."""


@pytest.fixture(scope="module")
def ann(site: Site) -> str:
    return site.person("ann", Role.OPERATOR)


def _expect_on_top(one: Locator) -> None:
    """The middle of it is seen: nothing lies over it, and it is on the screen.

    Soon: a message that several calls of the page bring is put there with each anew.
    """
    is_on_top = """one => {
      const {left, top, width, height} = one.getBoundingClientRect();
      const hit = document.elementFromPoint(left + width / 2, top + height / 2);
      return hit !== null && (one.contains(hit) || hit.contains(one));
    }"""
    soon(one.page, lambda: bool(one.evaluate(is_on_top)), f"something lies over {one}")


def _press_save(page: Page) -> None:
    with page.expect_response("**/versions"):
        page.get_by_role("button", name="Save", exact=True).click()


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_saving_what_is_wrong_leads_to_what_is_wrong(
    tab: Callable[..., Tab], ann: str, size: dict[str, int]
) -> None:
    one = tab(size)
    one.log_in(ann, PASSWORD)
    page = one.page
    page.goto(f"/policies/new?name=excess-{size['width']}&from=campus-collaboration&network=campus")
    share = unfold(page.locator("[data-class=voice-video]")).get_by_label("% of the link")
    share.fill("150")
    expect(page.locator("#problem-list")).to_contain_text("150 is not possible here")
    page.locator("#applications-head").scroll_into_view_if_needed()  # far from what is wrong
    _press_save(page)
    problems = page.get_by_role("region", name="1 problem")
    told = problems.get_by_text("Not saved: it cannot be compiled.")
    expect(told).to_be_in_viewport(ratio=1)
    _expect_on_top(told)
    way = problems.get_by_role("link", name="150 is not possible here")
    expect(way).to_be_focused()
    _expect_on_top(way)
    expect(page.locator("#messages")).to_be_empty()  # it is told once
    one.require_sound("422")
    page.keyboard.press("Enter")
    expect(share).to_be_focused()
    share.fill("50")
    _press_save(page)
    expect(page.get_by_text("Stored as version 1.")).to_be_visible()


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_message_of_the_service_lies_over_what_sticks(
    tab: Callable[..., Tab], ann: str, size: dict[str, int]
) -> None:
    one = tab(size)
    one.log_in(ann, PASSWORD)
    page = one.page
    page.goto("/policies/new?name=withheld&from=campus-collaboration&network=campus")
    page.locator("#applications-head").scroll_into_view_if_needed()
    expect(page.locator("#sums")).to_be_in_viewport()
    one.context.clear_cookies()
    _press_save(page)
    told = page.locator("#messages").get_by_text("nothing you entered is lost")
    expect(told).to_be_in_viewport(ratio=1)
    _expect_on_top(told)
    _expect_on_top(page.locator("#messages strong"))


def test_what_devices_refuse_is_at_hand_on_a_phone_before_anything_is_stored(
    tab: Callable[..., Tab], ann: str
) -> None:
    one = tab(PHONE)
    one.log_in(ann, PASSWORD)
    page = one.page
    page.goto("/policies/new?name=eight&from=rfc4594-8&network=campus")
    store = page.get_by_role("form", name="Store the policy")
    said = store.locator("[data-preview-said]")
    expect(said).to_have_text(re.compile("^✘ [0-9]+ errors$"), timeout=LONG_MS)
    assert page.evaluate("scrollY") == 0
    for seen in (said, store.get_by_role("button", name="Save", exact=True)):
        expect(seen).to_be_in_viewport(ratio=1)
        _expect_on_top(seen)
    one.require_sound()
    said.click()
    expect(page.get_by_role("heading", name="Preview on campus")).to_be_in_viewport()
    # Nor once it is stored: there is nothing to save then, but the errors stay.
    _press_save(page)
    page.goto("/policies/eight/edit?network=campus")
    expect(said).to_have_text(re.compile("^✘ [0-9]+ errors$"), timeout=LONG_MS)
    expect(store.get_by_role("button", name="Undo")).to_be_disabled()
    assert page.evaluate("scrollY") == 0
    expect(said).to_be_in_viewport(ratio=1)
    _expect_on_top(said)


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_class_that_devices_refuse_is_marked_in_the_form(
    tab: Callable[..., Tab], ann: str, size: dict[str, int]
) -> None:
    one = tab(size)
    one.log_in(ann, PASSWORD)
    page = one.page
    page.goto(f"/policies/new?name=refused-{size['width']}&from=campus-collaboration&network=campus")
    expect(page.locator("#preview")).to_contain_text("No errors", timeout=LONG_MS)
    marks = page.locator("#pane-form .refused-by")
    expect(marks).to_have_count(0)
    page.get_by_role("tab", name="YAML").click()
    await_code_editor(page)
    text = page.locator("#policy-text").input_value()
    write_policy(page, text.replace("wred: {prefer: true}", "wred: {prefer: false}"))
    page.get_by_role("tab", name="Form").click()
    refused = page.locator("[data-class=default] > .body > summary").locator(".refused-by")
    expect(refused).to_be_visible(timeout=LONG_MS)
    expect(refused).to_contain_text("✘")
    expect(refused).to_have_attribute("title", re.compile("s2950"))
    page.evaluate("scrollTo(0, document.body.scrollHeight)")  # where what sticks lies over no line
    one.require_sound()
    early = unfold(page.locator("[data-class=default]")).get_by_label("Drop early")
    early.uncheck()
    expect(page.locator("#preview")).to_contain_text("No errors", timeout=LONG_MS)
    expect(marks).to_have_count(0)


def test_a_text_that_cannot_be_compiled_is_not_said_to_have_no_errors(tab: Callable[..., Tab], ann: str) -> None:
    one = tab(WIDE)
    one.log_in(ann, PASSWORD)
    page = one.page
    page.goto("/policies/new?name=past&from=campus-collaboration&network=campus")
    good = page.locator("#preview-good").get_by_text("No errors")
    expect(good).to_be_visible(timeout=LONG_MS)
    comment = page.get_by_label("What you changed, and why")
    unfold(page.locator("[data-class=voice-video]")).get_by_label("% of the link").fill("150")
    expect(page.locator("#preview")).to_contain_text("This cannot be compiled", timeout=LONG_MS)
    expect(page.locator("#start-run-why")).to_contain_text("Cannot start: 1 error")
    expect(good).to_be_hidden()
    cut = comment.evaluate(
        """one => {
          const pen = document.createElement("canvas").getContext("2d");
          pen.font = getComputedStyle(one).font;
          return pen.measureText(one.placeholder).width > one.clientWidth - 16;
        }"""
    )
    assert not cut, "what is to be entered cannot be read"
    one.require_sound()
