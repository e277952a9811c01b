"""The decision on a change, and the changes it is about, on screens of every width, in a browser."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import expect

from qosforge.access.roles import Role
from qosforge.artifacts.store import open_artifacts
from qosforge.deltaq.objective import Objective
from qosforge.deltaq.sample import Sample
from qosforge.deltaq.verdict import judge
from qosforge.device_state.last_known import store_readings
from qosforge.inventory.loader import load_network
from qosforge.resources import root
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import PredictionSummary, PreparedDevice, PrepareSummary, ReadSummary
from qosforge.runs.record.tables import RunStatus
from qosforge.tester.measurement.judging import ClassVerdict
from tests.device_texts import said_by
from tests.web.browser import DESKTOP, PHONE, Tab
from tests.web.conftest import Site
from tests.web.people import PASSWORD
from tests.web.recorded import waiting_run

Open = Callable[..., Tab]

LINES = {"r1": 25, "r2": 60}
"""How many lines each device would be given."""


def waiting(site: Site, *, broken: bool = False) -> str:
    """A run that waits for an approval; ``broken``: an objective is predicted to be."""
    network = load_network(root() / "inventories" / "campus")
    with RunStore(site.settings.database_url) as store:
        artifacts = open_artifacts(site.settings, store.database)
        put = artifacts.put_text
        params = {"network": put(network.model_dump_json()), "measure": True, "keep": "met"}
        run = waiting_run(store, "campus", "gold", params)
        deltas = {name: "\n".join(f"line {n}" for n in range(count)) for name, count in LINES.items()}
        held = put("hostname r\n")
        devices = {
            name: PreparedDevice(configuration=put(text), delta=put(text), inverse=put("no line"), empty=False)
            for name, text in deltas.items()
        }
        candidate = artifacts.put_json({"version": 1, "devices": deltas})
        with store.stage(run, "read", ReadSummary(running=dict.fromkeys(deltas, held), errors=[])):
            pass
        with store.stage(run, "prepare", PrepareSummary(candidate=candidate, devices=devices)):
            pass
        if broken:
            objective = Objective(delay={"p95": 0.03})
            seen = Sample.of_delays(*(np.full(2_000, 177e9) for _ in range(24)), independent=True)
            verdict = judge(objective, seen, evidence="predicted")
            found = ClassVerdict(
                scenario="one", traffic_class="voice", path="a→b", objective=objective, verdict=verdict
            )
            with store.stage(run, "predict", PredictionSummary(outcome=verdict.outcome)) as summary:
                summary.verdicts = artifacts.put_json([found.model_dump(mode="json")])
        store.set_status(run, RunStatus.NEEDS_APPROVAL, waits_for="an approver")
    return run


def test_lines_that_are_not_saved_by_now_are_told_beside_the_decision(site: Site, tab: Open) -> None:
    person = site.person("nora", Role.APPROVER)
    run = waiting(site)
    network = load_network(root() / "inventories" / "campus")
    one = tab(DESKTOP)
    one.log_in(person, PASSWORD)
    one.page.goto(f"/runs/{run}")
    expect(one.page.get_by_role("heading", name="Approve this change?")).to_be_visible()
    expect(one.page.locator("#not-saved")).to_have_count(0)
    with RunStore(site.settings.database_url) as store:
        artifacts = open_artifacts(site.settings, store.database)
        lines = {"r1": ("+hostname cellar", "-hostname R1"), "r2": (), "r3": ("+nothing that it changes",)}
        texts = said_by(dict.fromkeys(lines, "hostname r\n"))
        store_readings(store, artifacts, network, texts, store.now(), unsaved=lines)
    one.page.reload()
    told = one.page.locator("#not-saved")
    expect(told).to_contain_text("1 device holds lines that are not saved, by its last reading.")
    expect(told).to_contain_text(
        "running and startup configuration differ in 2 lines: +hostname cellar; -hostname R1"
    )
    expect(told.get_by_role("link", name="To the device")).to_have_attribute("href", "/networks/campus/devices/r1")
    expect(one.page.locator("#approve")).to_be_enabled()
    one.page.set_viewport_size(PHONE)
    beforehand = one.page.get_by_role("link", name="1 device with lines not saved")
    expect(beforehand).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("scripts", [True, False])
def test_on_a_phone_the_decision_is_at_hand_wherever_one_reads(site: Site, tab: Open, scripts: bool) -> None:
    person = site.person(f"pia-{scripts}".lower(), Role.APPROVER)
    run = waiting(site)
    one = tab(PHONE)
    one.log_in(person, PASSWORD)
    cookies = one.context.cookies()
    phone = tab(PHONE, java_script_enabled=scripts)
    phone.context.add_cookies(cookies)  # type: ignore[arg-type]
    phone.page.goto(f"/runs/{run}")
    approve, reject = phone.page.locator("#approve"), phone.page.locator("#reject")
    for where in (phone.page.locator("h1"), phone.page.locator("#tabs"), phone.page.get_by_label("Comment")):
        where.scroll_into_view_if_needed()
        expect(approve).to_be_in_viewport(ratio=1)
        expect(reject).to_be_in_viewport(ratio=1)
    # The comment is one tap away from the buttons, and not behind them.
    phone.page.locator("h1").scroll_into_view_if_needed()
    phone.page.get_by_role("link", name="Add a comment").click()
    expect(phone.page.get_by_label("Comment")).to_be_in_viewport(ratio=1)
    # Their place is behind the comment: there they cover nothing.
    phone.page.locator("#decision .hint").scroll_into_view_if_needed()
    comment, button = phone.page.get_by_label("Comment").bounding_box(), approve.bounding_box()
    assert comment is not None
    assert button is not None
    assert comment["y"] + comment["height"] <= button["y"]
    reject.click()
    if scripts:  # it is asked at the field, and nothing is sent
        expect(phone.page.get_by_label("Comment")).to_be_focused()
        expect(phone.page.locator("#messages")).to_be_empty()
    else:
        expect(phone.page.locator("main")).to_contain_text("A rejection says why")
        phone.page.go_back()
    phone.page.get_by_label("Comment").fill("not in the exam week")
    reject.click()
    headline = phone.page.locator("#state .headline")
    expect(headline).to_contain_text(f"declined by {person}")
    expect(headline).to_contain_text("The reason: “not in the exam week”. No device was touched.")
    if scripts:
        expect(headline).to_be_in_viewport()
    expect(phone.page.locator("#state .stepper")).to_contain_text("Approve: failed")
    with RunStore(site.settings.database_url) as store:
        (decision,) = store.decisions.on(run)
    assert (decision.approved, decision.by, decision.comment) == (False, person, "not in the exam week")


def test_what_has_the_focus_is_not_behind_the_buttons(site: Site, tab: Open) -> None:
    person = site.person("quinn", Role.APPROVER)
    phone = tab(PHONE)
    phone.log_in(person, PASSWORD)
    phone.page.goto(f"/runs/{waiting(site)}")
    phone.require_sound()
    bar = phone.page.locator("#decision .actions")
    for _ in range(40):
        phone.page.keyboard.press("Tab")
        if phone.page.evaluate("document.activeElement.matches('#decision .actions *')"):
            break
        focused = phone.page.evaluate(
            "(() => { const one = document.activeElement.getBoundingClientRect(); return [one.top, one.bottom] })()"
        )
        box = bar.bounding_box()
        assert box is not None
        assert focused[0] < box["y"], phone.page.evaluate("document.activeElement.outerHTML")
    else:
        raise AssertionError("no key leads to the decision")


def test_a_long_word_in_an_event_does_not_widen_the_page(site: Site, tab: Open) -> None:
    run = waiting(site)
    with RunStore(site.settings.database_url) as store:
        store.events.progress(run, "prepare", "f" * 80)
    phone = tab(PHONE)
    phone.log_in(site.person("sam", Role.APPROVER), PASSWORD)
    phone.page.goto(f"/runs/{run}?tab=events")
    phone.page.locator("#events summary").click()
    expect(phone.page.get_by_text("f" * 80)).to_be_visible()
    assert phone.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_on_a_wide_screen_the_decision_stands_beside_the_changes(site: Site, tab: Open) -> None:
    person = site.person("rhea", Role.APPROVER)
    one = tab(DESKTOP)
    one.log_in(person, PASSWORD)
    one.page.goto(f"/runs/{waiting(site)}")
    changes, card = one.page.locator(".part").bounding_box(), one.page.locator("section.decide").bounding_box()
    assert changes is not None
    assert card is not None
    assert card["x"] > changes["x"] + changes["width"]
    assert card["y"] < changes["y"] + 50


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_a_long_difference_says_that_it_goes_on_and_can_be_seen_whole(
    site: Site, tab: Open, size: dict[str, int]
) -> None:
    person = site.person(f"sam-{size['width']}", Role.VIEWER)
    one = tab(size)
    one.log_in(person, PASSWORD)
    one.page.goto(f"/runs/{waiting(site)}?tab=changes")
    short, long = (one.page.get_by_role("region", name=f"Changes on {name}") for name in LINES)
    whole = "one => one.scrollHeight <= one.clientHeight"
    assert short.evaluate(whole)
    assert not long.evaluate(whole)
    expect(one.page.get_by_label("Show all", exact=False)).to_have_count(1)
    one.page.get_by_label("Show all 60 lines").check()
    assert long.evaluate(whole)
    one.require_sound()


def test_beside_a_change_that_is_predicted_to_break_both_buttons_stand_in_one_row(site: Site, tab: Open) -> None:
    one = tab(DESKTOP)
    one.log_in(site.person("uma", Role.APPROVER), PASSWORD)
    one.page.goto(f"/runs/{waiting(site, broken=True)}")
    expect(one.page.locator("#predicted-broken")).to_have_text("✘ Predicted: 1 broken; would be rolled back")
    approve, reject = one.page.locator("#approve"), one.page.locator("#reject")
    expect(approve).to_have_text("Approve all the same")
    tops = [button.evaluate("one => one.getBoundingClientRect().top") for button in (approve, reject)]
    assert tops[0] == tops[1]
    one.require_sound()


TORN = """() => {
  window.torn = [];
  new MutationObserver(() => {
    const head = document.querySelector("#state .headline").textContent;
    if (head.includes("approved it") && document.getElementById("approve")) window.torn.push(head);
  }).observe(document.querySelector("main"), { childList: true, subtree: true });
}"""
"""Notes each moment at which the head of a run's page says that it is approved, beside a button to approve it."""


def test_the_head_of_a_run_and_its_decision_change_at_once(site: Site, tab: Open) -> None:
    person = site.person("vera", Role.APPROVER)
    one = tab(DESKTOP)
    one.log_in(person, PASSWORD)
    one.page.goto(f"/runs/{waiting(site)}?tab=changes")
    expect(one.page.locator("#approve")).to_be_enabled()
    one.page.evaluate(TORN)
    one.page.locator("#approve").click()
    expect(one.page.locator("#state .headline")).to_contain_text(f"{person} approved it.")
    expect(one.page.locator("#approve")).to_have_count(0)
    assert one.page.evaluate("window.torn") == []
    # The part of the page that was looked at is still there, with what was approved.
    expect(one.page.locator("#tabs [aria-current]")).to_contain_text("Changes")
    expect(one.page.get_by_role("region", name="Changes on r1")).to_be_visible()
    one.require_sound()


def test_approving_what_is_predicted_to_break_takes_a_reason(site: Site, tab: Open) -> None:
    run = waiting(site, broken=True)
    phone = tab(PHONE)
    phone.log_in(site.person("tess", Role.APPROVER), PASSWORD)
    page = phone.page
    expect(page.get_by_role("listitem").filter(has=page.locator(f"#review-{run}"))).to_contain_text(
        "1 objective predicted broken"
    )
    page.locator(f"#review-{run}").click()
    approve = page.get_by_role("button", name="Approve all the same")
    expect(approve).to_be_in_viewport(ratio=1)
    expect(approve).not_to_have_class("primary")  # it is no more than the other one
    # Where the buttons come to their place: further up they lie upon parts of targets that scrolling uncovers.
    page.locator("#decision .hint").scroll_into_view_if_needed()
    phone.require_sound()
    approve.click()  # the browser leads to what is missing
    comment = page.get_by_label("Comment")
    expect(comment).to_be_focused()
    expect(comment).to_have_js_property(
        "validationMessage", "Say why it is approved all the same: it is kept with the run."
    )
    expect(page.locator("#state .headline")).to_contain_text("needs approval")
    page.keyboard.type("the figures of site B are old")
    approve.click()
    expect(page.locator("#state .headline")).not_to_contain_text("needs approval")
    with RunStore(site.settings.database_url) as store:
        (decision,) = store.decisions.on(run)
    assert (decision.approved, decision.comment) == (True, "the figures of site B are old")
