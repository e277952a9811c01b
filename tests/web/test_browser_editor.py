"""The policy editor in a browser: a policy from nothing, mistakes, the YAML in step, and nothing ever lost."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from qosforge.access.roles import Role
from tests.web.browser import PHONE, Tab, await_code_editor, soon, unfold
from tests.web.conftest import PASSWORD, Site


@pytest.fixture(scope="module")
def ann(site: Site) -> str:
    return site.person("ann", Role.OPERATOR)


def _text(page: Page) -> str:
    return page.locator("#policy-text").input_value()


def _settled(page: Page) -> None:
    """The service has taken everything that was done in the form."""
    expect(page.locator("#policy-text")).to_have_js_property("readOnly", False)
    page.wait_for_timeout(50)


def _card(page: Page, name: str) -> Locator:
    """The card of a class, opened."""
    return unfold(page.locator(f"[data-class={name}]"))


KEPT_AS_IT_IS = """# Why the campus does this.
version: 1
intent: steps   # its name
classes:
  - {name: voice, match: {any: [{dscp: ef}]}, treatment: {priority: {percent: 30}}}  # at most a third

  - name: default
    treatment: {bandwidth: {percent: 40},
                wred: {profiles: [{dscp: af11, minimum: 20 packets, maximum: 40 packets}]}}
apply: [{interfaces: wan, direction: output}]
"""


def _store(one: Tab, name: str, text: str) -> None:
    stored = one.page.evaluate(
        """async ([name, text]) => (await fetch(`/api/v1/policies/${name}/versions`, {method: "POST",
        headers: {"Content-Type": "application/json",
                  "X-CSRF-Token": document.querySelector("meta[name=csrf]").content},
        body: JSON.stringify({text, network: "campus"})})).status""",
        [name, text],
    )
    assert stored == 201


def test_form_and_text_stay_in_step(tab: Callable[..., Tab], ann: str) -> None:
    one = tab(PHONE)
    one.log_in(ann, PASSWORD)
    page = one.page
    _store(one, "steps", KEPT_AS_IT_IS)
    page.goto("/policies/steps/edit?network=campus")
    one.require_sound()
    rest = _card(page, "default")
    expect(rest).to_contain_text("af11")  # seen, and left alone
    save = page.get_by_role("button", name="Save", exact=True)
    expect(save).not_to_be_in_viewport()
    share = _card(page, "voice").get_by_label("% of the link")
    share.fill("33")
    share.blur()
    _settled(page)
    page.evaluate("scrollTo(0, 0)")
    expect(save).to_be_in_viewport()  # now that there is something to save
    assert _text(page) == KEPT_AS_IT_IS.replace("percent: 30", "percent: 33")
    down = page.get_by_role("button", name="Move down voice")
    down.press("Enter")
    expect(page.locator("#f-classes-1-up")).to_be_focused()  # there is no way further down
    page.keyboard.press("Enter")
    expect(page.locator("#f-classes-0-down")).to_be_focused()
    _settled(page)
    assert _text(page) == KEPT_AS_IT_IS.replace("percent: 30", "percent: 33")

    page.get_by_role("tab", name="YAML").click()
    await_code_editor(page)
    text = page.get_by_label("Text of the policy")
    text.fill(_text(page).replace("percent: 40}", "percent: 41"))
    expect(page.locator("#problem-list")).to_contain_text("is not YAML")
    one.require_sound()
    page.locator("#problem-list").get_by_role("link", name="line").click()
    expect(text).to_be_focused()
    page.get_by_role("tab", name="YAML").press("ArrowLeft")
    expect(page.get_by_role("tabpanel")).to_contain_text("there are no cards")
    page.get_by_role("tab", name="Form").press("ArrowRight")
    text.fill(KEPT_AS_IT_IS.replace("percent: 40", "percent: 45"))
    page.get_by_role("tab", name="Form").click()
    unfold(rest)  # the cards went with the text that was none
    expect(rest.get_by_label("% of the link")).to_have_value("45")
    undo = page.get_by_role("button", name="Undo")
    held: list[Route] = []
    page.route("**/editor/change", lambda route: held.append(route), times=1)  # noqa: PLW0108  Playwright marks it
    with page.expect_request("**/editor/change"):
        rest.get_by_label("% of the link").fill("46")
    undo.click()  # what is on its way
    rest.get_by_label("Description").fill("done after it")
    held[0].continue_()
    expect(page.locator("#policy-text")).to_have_value(re.compile("done after it"))
    assert "percent: 45" in _text(page)
    expect(rest.get_by_label("% of the link")).to_have_value("45")
    undo.click()
    expect(page.locator("#policy-text")).not_to_have_value(re.compile("done after it"))
    assert "percent: 45" in _text(page)
    undo.click()
    expect(page.locator("#problem-list")).to_contain_text("is not YAML")
    with page.expect_event("dialog") as asked:  # what is not stored is not left without a word
        page.close(run_before_unload=True)
    assert asked.value.type == "beforeunload"
    asked.value.accept()


MOST_PX = 2500


def test_a_policy_opens_folded_and_each_class_is_told_in_a_line(tab: Callable[..., Tab], ann: str) -> None:
    one = tab({"width": 1440, "height": 900})
    one.log_in(ann, PASSWORD)
    page = one.page
    page.goto("/policies/campus-collaboration/edit?network=campus")
    voice = page.locator("[data-class=voice-video]")
    line = voice.locator("> details > summary")
    for told in ("priority ≤ 50 %", "af41, CoS 5", "p95 50 ms, loss 0.1 %"):
        expect(line).to_contain_text(told)
        shown = line.get_by_text(told).bounding_box()
        assert shown
        assert shown["height"] < 40, "it is no single line"
    expect(page.locator("[data-class=default] > details > summary")).to_contain_text("30 % of the rest")
    expect(page.locator("#f-apply-1 > details > summary")).to_contain_text("input · role edge · ports lan")
    expect(page.get_by_label("Service").first).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollHeight") < MOST_PX
    one.require_sound()
    line.press("Enter")
    expect(voice.get_by_label("Service")).to_be_visible()
    expect(voice.get_by_label("Recommendation")).to_be_visible()
    one.require_sound()
    rest = unfold(page.locator("[data-class=default]"))
    expect(rest.get_by_label("Loss")).to_be_hidden()  # bounds of one's own come after the recommendations
    page.set_viewport_size(PHONE)
    one.require_sound()


def test_a_long_description_is_read_whole_and_a_field_names_its_parameter(
    tab: Callable[..., Tab], ann: str
) -> None:
    one = tab({"width": 1440, "height": 900})
    one.log_in(ann, PASSWORD)
    page = one.page
    page.goto("/policies/new?name=eight&from=rfc4594-8&network=campus")
    box = page.locator("#f-description")
    cut = "one => [one.scrollWidth - one.clientWidth, one.scrollHeight - one.clientHeight].some((more) => more > 2)"
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert not box.evaluate(cut), f"a part of it cannot be read at {width} px"
    box.press("Control+End")
    box.press_sequentially(" Told twice.")
    box.press("Enter")
    box.press_sequentially(" And again.")
    box.blur()
    expect(page.locator("#policy-text")).to_have_value(re.compile(r"Told twice\. And again\."))
    expect(box).to_have_value(re.compile(r"eight queues\. Told twice\. And again\.$"))
    assert not box.evaluate(cut)
    _settled(page)
    more = page.get_by_text("Tolerance, trusted CoS, libraries of classes")
    expect(more).to_contain_text(": 5 %; classes/rfc4594-8.yaml")  # folded, it says what is set
    more.click()
    hint = page.locator("#f-tolerance-hint")
    expect(hint).to_contain_text("from parameter tolerance: 5 %")
    hint.get_by_role("link", name="tolerance").click()
    parameter = page.locator("#f-parameters-tolerance")
    expect(parameter).to_be_focused()
    parameter.fill("7 %")
    expect(hint).to_contain_text("from parameter tolerance: 7 %")
    one.require_sound()


def test_classes_change_places_by_keys_and_by_dragging(tab: Callable[..., Tab], ann: str) -> None:
    one = tab()
    one.log_in(ann, PASSWORD)
    page = one.page
    _store(one, "places", KEPT_AS_IT_IS.replace("steps", "places"))
    page.goto("/policies/places/edit?network=campus")
    before = _text(page)
    handle = page.get_by_role("button", name="Move voice with the arrow keys")
    _card(page, "voice")
    handle.press("ArrowUp")  # it is the first
    handle.press("ArrowDown")
    expect(page.locator("article.class").nth(1)).to_have_attribute("data-class", "voice")
    _settled(page)
    after = _text(page)
    assert after.index("name: default") < after.index("name: voice")
    assert sorted(after.split()) == sorted(before.split())
    expect(handle).to_be_focused()
    expect(page.locator("#f-classes-1-body")).to_have_attribute("open", "")  # what was open goes with it
    expect(page.locator("#f-classes-0-body")).not_to_have_attribute("open", "")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#policy-text")).to_have_value(before)

    page.locator("#f-classes-0-body > summary").click()
    handle.scroll_into_view_if_needed()
    handle.hover()
    page.mouse.down()
    target = page.locator("#f-classes-1").bounding_box()
    assert target
    page.mouse.move(target["x"] + 20, target["y"] + target["height"] - 5, steps=5)
    expect(page.locator("#f-classes-1")).to_have_attribute("data-drop", "after")
    page.mouse.up()
    expect(page.locator("#policy-text")).to_have_value(after)
    one.require_sound()


def test_another_page_may_lead_to_the_objective_of_a_class(tab: Callable[..., Tab], ann: str) -> None:
    one = tab(PHONE)
    one.log_in(ann, PASSWORD)
    page = one.page
    _store(one, "led-to", KEPT_AS_IT_IS.replace("steps", "led-to"))
    page.goto("/policies/led-to/edit?network=campus#class-voice/objective")
    voice = _card(page, "voice")
    expect(voice.get_by_label("Recommendation")).to_be_focused()
    expect(voice.get_by_label("Recommendation")).to_be_in_viewport()
    one.require_sound()


def test_a_sum_over_100_opens_the_class_that_was_changed(tab: Callable[..., Tab], ann: str) -> None:
    one = tab(PHONE)
    one.log_in(ann, PASSWORD)
    page = one.page
    _store(one, "sums", KEPT_AS_IT_IS.replace("steps", "sums"))
    page.goto("/policies/sums/edit?network=campus")
    voice = _card(page, "voice")
    share = voice.get_by_label("% of the link")
    share.fill("70")
    expect(share).to_have_attribute("aria-invalid", "true")
    told = "the classes take 110 % of the link: voice 70 %, default 40 %"
    expect(voice.get_by_text(told)).to_be_visible()
    expect(page.locator("#f-classes-1-body")).not_to_have_attribute("open", "")
    preview = page.get_by_role("form", name="Store the policy").locator("[data-preview-said]")
    expect(preview).to_contain_text("✘")  # the preview is far below: its first line is where one saves, too
    one.require_sound()
    page.get_by_role("tab", name="YAML").click()
    await_code_editor(page)
    text = page.get_by_label("Text of the policy")
    text.fill(_text(page).replace("percent: 70", "percent: 30"))
    expect(page.locator("#problem-list")).to_be_empty()
    expect(preview).to_have_text("✔ No errors")
    preview.click()
    expect(page.get_by_role("heading", name="Preview on campus")).to_be_in_viewport()
    text.fill(_text(page).replace("percent: 30", "percent: 70"))
    page.locator("#problem-list").get_by_role("link", name=told).click()  # the share that exceeds it
    expect(page.locator("[data-class=default]").get_by_label("% of the link")).to_be_focused()


def test_two_tabs_lose_nothing(tab: Callable[..., Tab], ann: str, site: Site) -> None:
    one = tab()
    one.log_in(ann, PASSWORD)
    _store(one, "shared", KEPT_AS_IT_IS.replace("steps", "shared"))
    bob = tab()
    bob.log_in(site.person("bob", Role.OPERATOR), PASSWORD)
    for each in (one, bob):
        each.page.goto("/policies/shared/edit?network=campus")
    for each, percent in ((one, "20"), (bob, "25")):
        field = _card(each.page, "voice").get_by_label("% of the link")
        field.fill(percent)
        field.blur()
        _settled(each.page)
    one.page.get_by_role("button", name="Save", exact=True).click()
    expect(one.page.get_by_text("Stored as version 2.")).to_be_visible()
    bob.page.get_by_role("button", name="Save", exact=True).click()
    conflict = bob.page.get_by_role("alertdialog")
    expect(conflict).to_contain_text("ann stored version 2")
    with bob.page.expect_response("**/versions"):
        bob.page.get_by_role("button", name="Save", exact=True).click()  # it is asked again, not stored over
    expect(conflict).to_have_count(1)
    expect(conflict.get_by_role("region", name="means something else").first).to_contain_text("20")
    assert "percent: 25" in _text(bob.page)
    assert [one for one in bob.complaints if "409" not in one] == []
    bob.complaints.clear()
    bob.require_sound()
    conflict.get_by_role("button", name="Take theirs").click()
    expect(bob.page.get_by_text("Your text, to copy")).to_be_visible()
    expect(bob.page.locator("#outcome pre")).to_contain_text("percent: 25")
    expect(_card(bob.page, "voice").get_by_label("% of the link")).to_have_value("20")
    bob.page.get_by_role("button", name="Undo").click()
    expect(_card(bob.page, "voice").get_by_label("% of the link")).to_have_value("25")
    _settled(bob.page)
    bob.page.get_by_role("button", name="Save", exact=True).click()
    expect(bob.page.get_by_text("Stored as version 3.")).to_be_visible()


def test_a_lost_connection_and_a_closed_tab_lose_nothing(tab: Callable[..., Tab], ann: str) -> None:
    one = tab()
    one.log_in(ann, PASSWORD)
    page = one.page
    _store(one, "away", KEPT_AS_IT_IS.replace("steps", "away"))
    page.goto("/policies/away/edit?network=campus")
    voice = _card(page, "voice")
    one.context.set_offline(True)
    voice.get_by_label("% of the link").fill("44")
    voice.get_by_label("Description").fill("while away")
    expect(page.locator("#connection")).to_be_visible()
    expect(voice.get_by_label("% of the link")).to_have_value("44")
    one.context.set_offline(False)
    expect(page.locator("#connection")).to_be_hidden()
    _settled(page)
    assert "percent: 44" in _text(page)
    assert "description: while away" in _text(page)

    page.close(run_before_unload=False)
    later = one.another()
    later.page.goto("/policies/away/edit?network=campus")
    expect(later.page.get_by_text("You have unsaved changes from")).to_be_visible()
    later.page.get_by_role("button", name="Restore them").click()
    expect(_card(later.page, "voice").get_by_label("% of the link")).to_have_value("44")
    later.require_sound()


def test_what_is_entered_before_the_scripts_are_there_is_taken(tab: Callable[..., Tab], ann: str) -> None:
    one = tab()
    one.log_in(ann, PASSWORD)
    page = one.page
    held: list[Route] = []
    page.route("**/static/editor.js*", lambda route: held.append(route))  # noqa: PLW0108  Playwright marks it
    page.goto("/policies/new?name=early&from=campus-collaboration&network=campus", wait_until="commit")
    voice = _card(page, "voice-video")
    voice.get_by_label("% of the link").fill("33")
    voice.get_by_label("CoS", exact=True).select_option("4")
    soon(page, lambda: bool(held), "the script is never asked for")
    held[0].continue_()
    expect(page.locator("#policy-text")).to_have_value(re.compile("cos: 4.*percent: 33", re.DOTALL))
    _settled(page)
    assert _text(page).count("cos: 4") == 1
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#policy-text")).to_have_value(re.compile("cos: 5.*percent: 50", re.DOTALL))
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()  # nothing else was taken for entered
    one.require_sound()


def test_a_viewer_looks_and_changes_nothing(site: Site, tab: Callable[..., Tab]) -> None:
    vic = tab()
    vic.log_in(site.person("vic", Role.VIEWER), PASSWORD)
    vic.page.goto("/policies/rfc4594-8/edit?network=campus")
    # What the preview says of classes is on their cards; only they are found by a class's name then, too.
    expect(vic.page.locator("summary > .refused-by").first).to_be_visible()
    expect(_card(vic.page, "telephony")).to_contain_text("ef, voice-admit")
    assert vic.page.locator("#pane-form input:enabled, #pane-form select:enabled").count() == 0
    assert vic.page.get_by_role("button", name="Save").count() == 0
    vic.page.get_by_role("tab", name="YAML").click()
    expect(vic.page.get_by_label("Text of the policy")).to_have_attribute("aria-readonly", "true")
    vic.require_sound()
