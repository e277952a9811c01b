"""The policy editor in a browser: a policy from nothing, mistakes, the YAML in step, and nothing ever lost."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from app.access.roles import Role
from app.compiler.compile import compile_intent
from app.intent.loader import parse_intent
from app.inventory.loader import load_network
from app.resources import root
from tests.web.browser import PHONE, Tab
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


def _add(page: Page, button: str) -> None:
    page.get_by_role("button", name=button, exact=True).click()
    _settled(page)


def _card(page: Page, name: str) -> Locator:
    return page.locator(f"[data-class={name}]")


def _new_class(page: Page, position: int, name: str) -> Locator:
    """A new class; the focus is in its name at once."""
    _add(page, "+ Class")
    expect(page.locator(f"#f-classes-{position}-name")).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.type(name)
    card = _card(page, name)
    card.wait_for()
    return card


def test_the_campus_policy_is_built_from_nothing(site: Site, tab: Callable[..., Tab], ann: str) -> None:
    one = tab()
    one.log_in(ann, PASSWORD)
    page = one.page
    page.goto("/policies")
    page.get_by_label("Name").fill("meeting")
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/policies/new?**")
    page.get_by_label("Network").select_option("campus")

    voice = _new_class(page, 0, "voice-video")
    expect(voice).to_contain_text("has no match")
    voice.get_by_role("button", name="+ Application").click()
    voice.get_by_role("button", name="Choose… Application").click()
    dialog = page.get_by_role("dialog", name="Applications")
    dialog.get_by_label("rtp-audio").check()
    dialog.get_by_label("rtp-video").check()
    dialog.get_by_role("button", name="Take these").click()
    expect(voice).to_contain_text("rtp-video: UDP 16384–32767")
    voice.get_by_role("button", name="+ DSCP").click()
    voice.get_by_label("DSCP (mark of the packet)").fill("ef, af41")
    voice.get_by_label("DSCP", exact=True).select_option("af41")
    voice.get_by_label("CoS", exact=True).select_option("5")
    voice.get_by_label("Service").select_option("priority.percent")
    voice.get_by_label("% of the link").fill("120")
    expect(voice.get_by_label("% of the link")).to_have_attribute("aria-invalid", "true")
    expect(voice).to_contain_text("120 is not possible here give at most 100")
    expect(page.locator("#sums")).to_contain_text("Not counted, because its service is wrong: voice-video")
    voice.get_by_label("% of the link").fill("50")
    expect(voice).not_to_contain_text("not possible here")
    voice.get_by_label("95 % within").fill("50 ms")
    voice.get_by_label("Loss").fill("0.1 %")

    web = _new_class(page, 1, "web-and-file")
    web.get_by_role("button", name="+ Application").click()
    web.get_by_label("Application", exact=True).fill("http, ftp")
    web.get_by_label("DSCP", exact=True).select_option("af21")
    web.get_by_label("Service").select_option("bandwidth.remaining_percent")
    web.get_by_label("% of what is left").fill("80")
    rest = _card(page, "default")
    rest.get_by_label("Service").select_option("bandwidth.remaining_percent")
    rest.get_by_label("% of what is left").fill("30")
    sums = page.locator("#sums")
    expect(sums).to_contain_text("10 % too much")
    expect(page.get_by_text("the remaining_percent of all classes sum to 110").first).to_be_visible()
    web.get_by_label("% of what is left").fill("70")
    expect(sums).to_contain_text("0 % free")
    rest.get_by_label("(WRED)").check()

    _add(page, "+ Rule for slow links")
    page.get_by_label("block the link at most for").or_(page.get_by_label("Time")).first.fill("16 ms")
    page.get_by_label("Header compression").select_option("rtp")
    _add(page, "+ Place where packets are served (output)")
    for tag in ("wan", "lan", "trunk"):
        page.locator("#f-apply-0-interfaces").get_by_label(tag).check()
    expect(page.locator("#f-link_efficiency-0")).to_contain_text("56 kb/s × 16 ms / 8 = 112 bytes")
    expect(page.locator("#f-apply-0-covered")).to_contain_text("ports of campus")
    _add(page, "+ Place where packets are recognised (input)")
    for tag in ("lan", "trunk"):
        page.locator("#f-apply-1-interfaces").get_by_label(tag).check()
    _add(page, "+ Measurement")
    page.get_by_label("From", exact=True).select_option("vigo1")
    page.get_by_label("To", exact=True).select_option("vigo2")
    page.locator("#f-verify-0-classes").get_by_label("voice-video").check()
    _settled(page)
    expect(page.locator("#problem-list")).to_be_empty()
    one.require_sound()

    loaded = parse_intent(_text(page), "meeting.yaml")
    compiled = compile_intent(loaded, load_network(root() / "inventories" / "campus"))
    assert not [finding for finding in compiled.findings if finding.severity == "error"]
    page.get_by_label("What you changed, and why").fill("the conference first")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Stored as version 1.")).to_be_visible()
    page.get_by_role("link", name="All versions").click()
    expect(page.get_by_role("row", name="the conference first")).to_be_visible()


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
        body: JSON.stringify({text})})).status""",
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
    share = _card(page, "voice").get_by_label("% of the link")
    share.fill("33")
    share.blur()
    _settled(page)
    assert _text(page) == KEPT_AS_IT_IS.replace("percent: 30", "percent: 33")
    down = page.get_by_role("button", name="Move down voice")
    down.press("Enter")
    expect(page.locator("#f-classes-1-up")).to_be_focused()  # there is no way further down
    page.keyboard.press("Enter")
    expect(page.locator("#f-classes-0-down")).to_be_focused()
    _settled(page)
    assert _text(page) == KEPT_AS_IT_IS.replace("percent: 30", "percent: 33")

    page.get_by_role("tab", name="YAML").click()
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


def test_a_viewer_looks_and_changes_nothing(site: Site, tab: Callable[..., Tab]) -> None:
    vic = tab()
    vic.log_in(site.person("vic", Role.VIEWER), PASSWORD)
    vic.page.goto("/policies/rfc4594-8/edit?network=campus")
    expect(_card(vic.page, "telephony")).to_contain_text("ef, voice-admit")
    assert vic.page.locator("#pane-form input:enabled, #pane-form select:enabled").count() == 0
    assert vic.page.get_by_role("button", name="Save").count() == 0
    vic.page.get_by_role("tab", name="YAML").click()
    expect(vic.page.get_by_label("Text of the policy")).to_have_js_property("readOnly", True)
    vic.require_sound()
