"""The decision on a change, and the changes it is about, on screens of every width, in a browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from qosforge.access.roles import Role
from qosforge.artifacts.store import open_artifacts
from qosforge.inventory.loader import load_network
from qosforge.resources import root
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import PreparedDevice, PrepareSummary, ReadSummary
from qosforge.runs.record.tables import RunStatus
from tests.web.browser import DESKTOP, PHONE, Tab
from tests.web.conftest import Site
from tests.web.people import PASSWORD

Open = Callable[..., Tab]

LINES = {"r1": 25, "r2": 60}
"""How many lines each device would be given."""


def waiting(site: Site) -> str:
    """A run that waits for an approval."""
    network = load_network(root() / "inventories" / "campus")
    with RunStore(site.settings.database_url) as store:
        artifacts = open_artifacts(site.settings, store.database)
        put = artifacts.put_text
        run = store.create_run("campus", "gold", "f" * 64, {"network": put(network.model_dump_json())}).id
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
        store.set_status(run, RunStatus.NEEDS_APPROVAL, waits_for="an approver")
    return run


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
    expect(phone.page.locator("#state .headline")).to_contain_text("cancelled")
    with RunStore(site.settings.database_url) as store:
        (decision,) = store.decisions.on(run)
    assert (decision.approved, decision.by) == (False, person)


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
