"""What administrators do on the campus, from an empty policy to devices that hold what they held before."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from qosforge.access.roles import Role
from qosforge.intent.loader import parse_intent
from qosforge.settings import Settings
from tests.api.served import serving
from tests.parts import why_not
from tests.system.campus import Campus
from tests.web.browser import PHONE, Tab, part, unfold
from tests.web.conftest import Site
from tests.web.people import PASSWORD

LONG_MS = 180_000
"""What takes the devices or the twin some seconds, on a busy machine."""

MAKERS = {
    "r1": ("Cisco IOS", "priority percent 50", "voice-video"),
    "s2970": ("Catalyst 2970", "match ip dscp af41 ef", "voice-video"),
    "ers5510": ("BayStack 5510", "qos action", "voice-video"),
    "e300": ("Force10 E300", "bandwidth-percentage", "web-and-file"),
}
"""By device, its maker, a line of its configuration, and the class for which it stands there."""


@pytest.fixture(scope="module")
def campus(var_dir: Path) -> Iterator[Campus]:
    """The campus lab."""
    made = Campus(var_dir)
    try:
        made.start()
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="module")
def site(var_dir: Path, campus: Campus) -> Iterator[Site]:
    """A service where four eyes are asked for, with two people; both may approve what the other asks for."""
    with serving(var_dir, fork=True, four_eyes="true", request_seconds=str(LONG_MS / 1000)) as served:
        made = Site(served, Settings(var_dir=var_dir))
        for name in ("ann", "bob"):
            made.person(name, Role.APPROVER, campus.network.name)
        yield made


@pytest.mark.timeout(600)
def test_an_administrator_changes_the_campus_and_takes_it_back(tab: Callable[..., Tab], campus: Campus) -> None:
    delivered = campus.all_running()
    ann, bob = tab(), tab(PHONE, color_scheme="dark")

    ann.log_in("ann", PASSWORD)
    build_the_policy(ann.page)
    ann.require_sound()
    look_at_four_makers(ann.page)
    await_the_prediction(ann.page)
    ann.require_sound()
    ask_for_a_run(ann.page)

    status(ann.page, "needs approval")
    expect(ann.page.get_by_role("button", name="Approve", exact=True)).to_be_disabled()
    expect(ann.page.locator("#why-not")).to_contain_text("ann created the run and may not approve it")
    ann.require_sound()
    ann.page.evaluate("window.stillOpen = true")

    bob.log_in("bob", PASSWORD)
    look_and_approve(bob)

    watch_it_being_kept(ann.page)
    assert campus.all_running() != delivered
    read_the_verdict(ann.page)
    ann.require_sound()
    bob.require_sound()
    take_the_reports_away(ann.page)
    look_at_the_network(ann)

    ann.page.go_back()
    roll_back(ann)
    assert campus.all_running() == delivered


def _settled(page: Page) -> None:
    """The service has taken everything that was done in the form."""
    expect(page.locator("#policy-text")).to_have_js_property("readOnly", False)


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


def build_the_policy(page: Page) -> None:
    """The campus policy, with mistakes that are explained where they are made."""
    page.get_by_role("link", name="Policies").click()
    page.get_by_role("link", name="New policy").click()
    page.get_by_label("Name").fill("meeting")
    page.get_by_role("button", name="Read the 9 devices").click()
    expect(page.get_by_role("radio", name="campus-collaboration recommended")).to_be_checked(timeout=LONG_MS)
    page.get_by_role("radio", name="An empty policy").check()
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/policies/new?**")  # a call that leads there
    expect(page.locator("#problem-list")).to_contain_text("the policy applies nowhere yet")
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
    voice.get_by_text("Bounds of your own").click()
    voice.get_by_label("95 % within").fill("50 ms")
    voice.get_by_label("Loss").fill("1 %")

    web = _new_class(page, 1, "web-and-file")
    web.get_by_role("button", name="+ Application").click()
    web.get_by_label("Application", exact=True).fill("http, ftp")
    web.get_by_label("DSCP", exact=True).select_option("af21")
    web.get_by_label("Service").select_option("bandwidth.remaining_percent")
    web.get_by_label("% of what is left").fill("80")
    rest = unfold(_card(page, "default"))
    rest.get_by_label("Service").select_option("bandwidth.remaining_percent")
    rest.get_by_label("% of what is left").fill("30")
    sums = page.locator("#sums")
    expect(sums).to_contain_text("10 % too much")
    expect(rest.get_by_label("% of what is left")).to_have_attribute("aria-invalid", "true")  # entered last
    expect(rest).to_contain_text("the classes take 110 % of what priority leaves")
    web.get_by_label("% of what is left").fill("70")
    expect(sums).to_contain_text("0 % free")
    rest.get_by_label("(WRED)").check()

    _add(page, "+ Rule for slow links")
    rule = page.locator("#f-link_efficiency-0")
    rule.get_by_label("block the link at most for").or_(rule.get_by_label("Time")).first.fill("16 ms")
    page.get_by_label("Header compression").select_option("rtp")
    _add(page, "+ Output scope")
    for tag in ("wan", "lan", "trunk"):
        page.locator("#f-apply-0-interfaces").get_by_label(tag).check()
    expect(page.locator("#f-link_efficiency-0")).to_contain_text("56 kb/s × 16 ms / 8 = 112 bytes")
    expect(page.locator("#f-apply-0-covered")).to_contain_text("ports of campus")
    _add(page, "+ Input scope")
    for tag in ("lan", "trunk"):
        page.locator("#f-apply-1-interfaces").get_by_label(tag).check()
    # Access lists of the Catalyst 2950 tell no RTP by its ports: hosts there mark what they send.
    _add(page, "+ Input scope")
    page.locator("#f-apply-2-interfaces").get_by_label("marking-hosts").check()
    page.locator("#f-apply-2-trust").select_option("dscp")
    _settled(page)
    _add(page, "+ Measurement")
    page.get_by_label("From", exact=True).select_option("vigo1")
    page.get_by_label("To", exact=True).select_option("vigo2")
    page.locator("#f-verify-0-classes").get_by_label("voice-video").check()
    page.get_by_label("Seconds").fill("10")
    _settled(page)
    expect(page.locator("#problem-list")).to_be_empty()
    assert parse_intent(page.locator("#policy-text").input_value(), "meeting.yaml")


def look_at_four_makers(page: Page) -> None:
    """What each would be given, against what it holds now: lines coloured by class, findings with numbers."""
    preview = page.get_by_role("region", name="What the devices would do")
    expect(preview).to_contain_text("No errors")
    preview.get_by_role("button", name="Read the devices now").click()
    expect(preview.locator(".badge.changes")).to_have_count(9, timeout=LONG_MS)
    for name, (kind, line, traffic_class) in MAKERS.items():
        device = preview.locator(f"#device-{name}")
        expect(device).to_contain_text(kind)
        device.locator("summary").first.click()
        shown = device.locator(".lines .line", has_text=line)
        expect(shown.first).to_be_visible()
        legend = device.locator(".legend .of-class", has_text=traffic_class)
        colour = re.search(r"class-\d+", legend.get_attribute("class") or "")
        assert colour, f"{name} shows no colour of {traffic_class}"
        expect(shown.and_(device.locator(f".{colour[0]}")).first).to_be_visible()
    expect(preview.locator(".numbers:visible", has_text="requested 50 %").first).to_contain_text("applied")


def await_the_prediction(page: Page) -> None:
    """The twin's word on what is previewed, with its plots."""
    prediction = page.get_by_role("region", name="What each class would get")
    expect(prediction).to_contain_text("Every objective would be met", timeout=LONG_MS)


def ask_for_a_run(page: Page) -> None:
    """Store the policy, look at the form of the run, start it."""
    page.get_by_label("What you changed, and why").fill("the conference first")
    page.get_by_role("button", name="Save and start a run").click()
    expect(page.get_by_role("heading", name="New run")).to_be_visible()
    expect(page.get_by_text("an approver who had no hand in the change")).to_be_visible()
    expect(page.locator("#network")).to_have_value("campus")
    expect(page.locator("#policy")).to_have_value("meeting")
    expect(page.locator("#version")).to_contain_text("1 – ann: the conference first")
    page.get_by_role("button", name="Start run").click()
    page.wait_for_url(re.compile(r"/runs/[0-9a-f-]{36}$"))


def status(page: Page, word: str | re.Pattern[str]) -> None:
    """Wait until the run's page tells a status."""
    expect(page.locator("#state .headline")).to_contain_text(word, timeout=LONG_MS)


def look_and_approve(bob: Tab) -> None:
    """On a phone, in a profile of one's own: see what would be entered, and approve that."""
    page = bob.page
    page.get_by_role("link", name="meeting on campus", exact=True).click()
    device = page.locator("details.change", has=page.locator("#device-e300"))
    device.locator("summary").first.click()
    expect(device.locator(".diff .added", has_text="bandwidth-percentage").first).to_be_visible()
    bob.require_sound()
    page.get_by_label("Comment").fill("looked at the core")
    page.get_by_role("button", name="Approve", exact=True).click()


def watch_it_being_kept(page: Page) -> None:
    """The page that is open tells by itself how far each device is, and how it ends."""
    status(page, re.compile("under way|kept"))
    boxes = page.get_by_role("region", name="Devices by step")
    pushed = boxes.get_by_role("row", name=re.compile(r"\br1\b")).get_by_role("cell").nth(2)
    expect(pushed).to_contain_text("done", timeout=LONG_MS)
    status(page, "kept")
    assert page.evaluate("window.stillOpen")
    part(page, "Events")
    expect(boxes.get_by_role("row", name=re.compile(r"9 devices.*\br1\b"))).to_contain_text("✔ kept")
    expect(page.get_by_role("region", name="Decisions")).to_contain_text("“looked at the core”")


def read_the_verdict(page: Page) -> None:
    """By class: broken before, met after, and what the change did; and the plots."""
    part(page, "Objectives")
    expect(page.locator("#objectives-1 table").first).to_be_visible()
    row = page.locator("table.verdicts").get_by_role("row", name=re.compile("voice-video.*p95"))
    expect(row.get_by_role("cell")).to_have_text(
        [
            re.compile(text)
            for text in (r"p95 ≤ 50 ms", r"✘ broken lost", r"✔ met \d.* ms", r"✔ met \d.* ms", r"^better")
        ]
    )
    expect(page.get_by_text("Lost (∞): so many packets were lost").first).to_be_visible()
    part(page, "Figures")
    plot = page.locator("figure", has_text="voice-video").first
    expect(plot.get_by_role("img").first).to_be_visible(timeout=LONG_MS)


def take_the_reports_away(page: Page) -> None:
    """As a page for a browser, and for paper."""
    page.get_by_text("Downloads").click()
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Report", exact=True).click()
    expect(opened.value.get_by_role("heading", name=re.compile("meeting")).first).to_be_visible()
    opened.value.close()
    address = page.get_by_role("link", name="Report as PDF").get_attribute("href")
    assert address is not None
    if why_not("pdf") is None:  # else the page of the problem, which a test of its own reads
        assert page.request.get(address, timeout=LONG_MS).body().startswith(b"%PDF")


def look_at_the_network(ann: Tab) -> None:
    """Each link's state in the drawing, and the queues of a device as the run left them."""
    page = ann.page
    page.get_by_role("link", name="campus", exact=True).click()
    ann.require_sound()
    page.get_by_role("link", name="r1 Serial0/0: 3 queues").click()
    expect(page.get_by_text("It is as")).to_be_visible()
    ann.require_sound()
    page.go_back()


def roll_back(ann: Tab) -> None:
    """Ask for it, confirm it, and see every device come back."""
    page = ann.page
    page.get_by_role("button", name="Roll back").click()
    dialog = page.get_by_role("dialog")
    for name in MAKERS:
        expect(dialog).to_contain_text(name)
    dialog.get_by_role("button", name="Roll back").click()
    expect(page.get_by_role("heading", name="Rollback of meeting")).to_be_visible()
    status(page, "rolled back to before")
    expect(page.get_by_role("button", name="Cancel the run")).to_have_count(0)
    ann.require_sound()
