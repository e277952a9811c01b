"""The YAML of a policy in a browser: completion, problems marked in the text, a text area without the script."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from qosforge.access.roles import Role
from tests.web.browser import PHONE, Tab, unfold
from tests.web.conftest import PASSWORD, Site

BEGIN = """# Why this is so.
version: 1
intent: mine
classes:
  - name: default
apply: [{role: edge, interfaces: wan, direction: output}]
"""


@pytest.fixture(scope="module")
def ann(site: Site) -> str:
    return site.person("ann", Role.OPERATOR)


def _open(one: Tab, ann: str) -> Page:
    one.log_in(ann, PASSWORD)
    one.page.goto("/policies/new?name=mine&network=campus")
    one.page.get_by_role("tab", name="YAML").click()
    return one.page


def _offered(page: Page, before: str, after: str = "") -> list[str]:
    """What is offered between two texts."""
    page.get_by_role("textbox", name="Text of the policy").fill("")
    page.keyboard.insert_text(before + after)
    for _ in after:
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("Control+Space")
    options = page.get_by_role("listbox", name="Completions").get_by_role("option")
    expect(options.first).to_be_visible()
    found = options.all_inner_texts()
    page.keyboard.press("Escape")
    return found


def test_keys_and_values_are_completed_from_the_schema(tab: Callable[..., Tab], ann: str) -> None:
    one = tab()
    page = _open(one, ann)
    expect(page.locator(".code-editor")).to_be_visible()
    assert {"classes", "apply", "verify"} <= set(_offered(page, "version: 1\n")) - {"version"}
    assert _offered(page, "classes:\n  - name: v\n    m") == ["match", "mark"]
    assert "percent" in _offered(page, "classes:\n  - name: v\n    treatment: {priority: {")
    assert _offered(page, "classes:\n  - name: v\n    treatment: {priority: {percent: 5, b", "}}\n") == ["burst"]
    assert "input_interface" in _offered(page, "classes:\n  - name: v\n    match:\n      any:\n        - ")
    assert _offered(page, "apply:\n  - direction: ") == ["input", "output"]
    assert _offered(page, "apply: [{direction: o") == ["output"]
    assert "g114" in _offered(page, "classes:\n  - name: v\n    objective:\n      preset: ")

    # Chosen by keyboard, with what the schema says of it, and in the text that is stored.
    page.get_by_role("textbox", name="Text of the policy").fill("")
    page.keyboard.insert_text("classes:\n  - name: v\n    ")
    page.keyboard.type("tre", delay=30)
    option = page.get_by_role("option", name="treatment")
    expect(option).to_have_attribute("aria-selected", "true")
    one.require_sound()
    page.wait_for_timeout(100)  # CodeMirror takes no key for a choice just after the list came up
    page.keyboard.press("Enter")
    expect(page.locator("#policy-text")).to_have_value("classes:\n  - name: v\n    treatment:")


def test_a_problem_is_marked_at_its_place(tab: Callable[..., Tab], ann: str) -> None:
    one = tab(color_scheme="dark")
    page = _open(one, ann)
    text = page.get_by_role("textbox", name="Text of the policy")
    expect(page.locator(".code-editor")).to_be_visible()
    text.fill(BEGIN)
    text.fill(BEGIN.replace("  - name: default", "  - name: default\n    treatment: {bandwidth: {percent: 300}}"))
    mark = page.locator(".cm-lintRange-error")
    expect(mark).to_have_text("300")
    mark.hover()
    expect(page.locator(".cm-tooltip-lint")).to_contain_text("300 is not possible here")
    one.require_sound()
    page.locator("#problem-list").get_by_role("link", name="line 6").click()
    expect(text).to_be_focused()
    page.keyboard.insert_text("    treatment: {bandwidth: {percent: 30}}")
    expect(mark).to_have_count(0)
    expect(page.locator("#problem-list")).to_have_text("")

    # A change by the form shows in the text around the caret, and may be taken back there.
    page.get_by_role("tab", name="Form").click()
    share = unfold(page.locator("[data-class=default]")).get_by_label("% of the link")
    share.fill("25")
    share.blur()
    page.get_by_role("tab", name="YAML").click()
    expect(text).to_contain_text("percent: 25")


def test_the_keyboard_leaves_the_text_by_tab(tab: Callable[..., Tab], ann: str) -> None:
    one = tab(PHONE)
    page = _open(one, ann)
    text = page.get_by_role("textbox", name="Text of the policy")
    expect(page.locator(".code-editor")).to_be_visible()
    page.get_by_role("tab", name="YAML").focus()
    for _ in range(4):
        page.keyboard.press("Tab")
        if text.evaluate("one => one.matches(':focus')"):
            break
    expect(text).to_be_focused()
    before = page.locator("#policy-text").input_value()
    page.keyboard.press("Tab")
    expect(page.get_by_placeholder("What you changed, and why")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(text).to_be_focused()
    assert page.locator("#policy-text").input_value() == before
    one.require_sound()


def test_the_text_area_does_where_the_editor_cannot_be_loaded(tab: Callable[..., Tab], ann: str) -> None:
    one = tab()
    one.page.route("**/static/codemirror.js", lambda route: route.abort())
    page = _open(one, ann)
    page.wait_for_load_state("networkidle")
    expect(page.locator(".code-editor")).to_have_count(0)
    text = page.locator("#policy-text")
    text.fill(BEGIN.replace("default", "other"))
    expect(page.locator("#problem-list")).to_contain_text(re.compile("default"))
    page.get_by_role("tab", name="Form").click()
    expect(page.locator("[data-class=other]")).to_be_visible()
    one.require_sound("net::ERR_FAILED")
