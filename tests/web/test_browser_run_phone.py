"""The page of a run on a phone: what part of it is shown, how each device fared, and what is done next."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from qosforge.access.roles import Role
from qosforge.artifacts.store import open_artifacts
from qosforge.errors import ChangeRefused, Place
from qosforge.inventory.loader import load_network
from qosforge.resources import root
from qosforge.runs.record.reason import reason_of_errors, retry
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import PreparedDevice, PrepareSummary, PushSummary, ReadSummary
from qosforge.runs.record.tables import JournalAction, RunStatus
from tests.web.browser import PHONE, Tab
from tests.web.conftest import Site
from tests.web.people import PASSWORD
from tests.web.recorded import waiting_run
from tests.web.test_browser_decision import waiting

Open = Callable[..., Tab]

REFUSED = "e300"


def rolled_back(site: Site) -> str:
    """A run on the nine devices of the campus that one of them refused; every device is as before."""
    network = load_network(root() / "inventories" / "campus")
    names = [device.name for device in network.devices]
    with RunStore(site.settings.database_url) as store:
        artifacts = open_artifacts(site.settings, store.database)
        kept = artifacts.put_text(network.model_dump_json())
        run = waiting_run(store, "campus", "gold", {"network": kept})
        text = artifacts.put_text("mls qos\n")
        with store.stage(run, "read", ReadSummary(running=dict.fromkeys(names, text))):
            pass
        lines = PreparedDevice(configuration=text, delta=text, inverse=text, empty=False)
        with store.stage(run, "prepare", PrepareSummary(devices=dict.fromkeys(names, lines))):
            pass
        answer = "% Error: Cannot remove, in use."
        said = f"the device refused the change: refused at line 2 ('no qos'), 1 of 33 commands applied: {answer}"
        hint = "put right on the device what its answer says, then try again; else change the policy"
        error = StepError.of(ChangeRefused(said, Place(device=REFUSED), hint, answer, "the change"))
        with store.stage(run, "push", PushSummary(devices=names)) as pushed:
            for name in names:
                store.journal.append(run, name, JournalAction.TOUCHING, before=text, delta=text, inverse=text)
                action = JournalAction.FAILED if name == REFUSED else JournalAction.TOUCHED
                store.journal.append(run, name, action, note=said if name == REFUSED else "")
            pushed.errors = [error]
        with store.stage(run, "rollback", ReadSummary()):
            for name in names:
                store.journal.append(run, name, JournalAction.UNDOING)
                store.journal.append(run, name, JournalAction.UNDONE)
        reason = reason_of_errors([error], "push", retry(run), len(names))
        store.set_status(run, RunStatus.ROLLED_BACK, reason=reason)
    return run


def on_a_phone(site: Site, tab: Open, name: str, role: Role = Role.OPERATOR) -> Tab:
    """The browser of somebody who is logged in."""
    phone = tab(PHONE)
    phone.log_in(site.person(name, role), PASSWORD)
    return phone


def box(page: Page, selector: str) -> dict[str, float]:
    """Where an element stands on the screen."""
    found = page.locator(selector).bounding_box()
    assert found is not None
    return dict(found)


@pytest.mark.parametrize("part", ["changes", "figures", "events"])
def test_the_tab_that_is_shown_is_in_view_and_joined_to_what_it_shows(site: Site, tab: Open, part: str) -> None:
    phone = on_a_phone(site, tab, f"ann-{part}")
    page = phone.page
    page.goto(f"/runs/{rolled_back(site)}?tab={part}")
    shown = page.locator("#tabs [aria-current]")
    # In the middle: at an edge of the view a part of a pixel may be cut off.
    shown.evaluate("one => one.scrollIntoView({block: 'center'})")
    expect(shown).to_be_in_viewport(ratio=1)
    tops = page.locator("#tabs a").evaluate_all("links => links.map(one => one.getBoundingClientRect().top)")
    assert len(set(tops)) == 1, tops  # one row
    for one in page.locator("#tabs a").all():
        expect(one).to_be_in_viewport(ratio=1)
    tabs, tab_of = box(page, "#tabs"), box(page, "#tabs [aria-current]")
    assert tab_of["x"] >= 0
    assert tab_of["x"] + tab_of["width"] <= PHONE["width"]
    assert tab_of["y"] + tab_of["height"] == tabs["y"] + tabs["height"]  # nothing between it and the line
    phone.require_sound()


def test_devices_that_fared_alike_are_one_card_and_the_one_that_did_not_says_why_in_its_own(
    site: Site, tab: Open
) -> None:
    phone = on_a_phone(site, tab, "bea", Role.VIEWER)
    page = phone.page
    page.goto(f"/runs/{rolled_back(site)}?tab=events")
    cards = page.locator("table.matrix tbody tr:not(.why)")
    expect(cards).to_have_count(2)
    expect(cards.first).to_contain_text(REFUSED)
    expect(cards.last).to_contain_text("8 devices")
    expect(cards.last).to_contain_text("r1, r2, r3")
    failed, why = box(page, "table.matrix tbody tr:not(.why) >> nth=0"), box(page, "table.matrix .why")
    assert why["y"] == failed["y"] + failed["height"]  # one card
    table = box(page, "table.matrix")
    assert table["height"] < 400, table
    for card in (cards.first, cards.last):  # what came of it beside its name
        name, result = card.locator("th").bounding_box(), card.locator("td").last.bounding_box()
        assert name is not None
        assert result is not None
        assert abs(name["y"] - result["y"]) < 5
        assert result["x"] >= name["x"] + name["width"] - 1
    phone.require_sound()


def test_what_to_do_about_a_run_that_is_over_is_on_the_first_screen(site: Site, tab: Open) -> None:
    phone = on_a_phone(site, tab, "cleo")
    page = phone.page
    page.goto(f"/runs/{rolled_back(site)}")
    expect(page.locator("#state .facts").get_by_text("put right on the device")).to_be_in_viewport(ratio=1)
    again = page.get_by_role("button", name="Try again")
    expect(again).to_be_in_viewport(ratio=1)
    expect(again).to_be_enabled()
    phone.require_sound()


def test_how_a_run_is_cancelled_stands_below_its_state(site: Site, tab: Open) -> None:
    phone = on_a_phone(site, tab, "dana")
    page = phone.page
    page.goto(f"/runs/{waiting(site)}")
    cancel = page.get_by_role("button", name="Cancel the run")
    expect(cancel).to_be_in_viewport(ratio=1)
    assert box(page, "#open-cancel")["y"] < box(page, "#tabs")["y"]
    cancel.click()
    expect(page.get_by_role("dialog")).to_contain_text("No device was touched.")
    page.get_by_role("button", name="Let it go on").click()
    phone.require_sound()
