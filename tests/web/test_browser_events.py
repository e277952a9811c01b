"""The events of a run in a real browser: when each was, where a long one goes, and how to find one."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
import sqlalchemy as sa
from playwright.sync_api import expect

from qosforge.access.roles import Role
from qosforge.runs.record.reason import RECOVER, Reason
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import ReadSummary, StageSummary
from qosforge.runs.record.tables import EVENTS, JournalAction, RunStatus
from tests.web.browser import DESKTOP, PHONE, Tab
from tests.web.conftest import Site
from tests.web.people import PASSWORD
from tests.web.test_browser_decision import waiting

Open = Callable[..., Tab]


def over_two_days(site: Site, run: str) -> None:
    """Set the events of a run to the evening and the morning after it."""
    with RunStore(site.settings.database_url) as store:
        noon = store.now().replace(hour=12, minute=0, second=0, microsecond=0)
        with store.database.write() as connection:
            order = sa.select(EVENTS.c.seq).where(EVENTS.c.run_id == run).order_by(EVENTS.c.seq.desc())
            for number, seq in enumerate(connection.scalars(order).all()):
                at = noon - timedelta(hours=5 * number, seconds=number)
                connection.execute(sa.update(EVENTS).where(EVENTS.c.seq == seq).values(at=at))


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_the_day_is_told_with_the_first_event_of_each(site: Site, tab: Open, size: dict[str, int]) -> None:
    run = waiting(site)
    with RunStore(site.settings.database_url) as store:
        store.events.progress(run, "prepare", "a long line of words; " * 20)
    over_two_days(site, run)
    one = tab(size, timezone_id="UTC")
    one.log_in(site.person(f"uma-{size['width']}", Role.VIEWER), PASSWORD)
    one.page.goto(f"/runs/{run}?tab=events")
    one.page.locator("#events > summary").click()
    times = one.page.locator("#events time").all_inner_texts()
    whole = [re.fullmatch(r"\d+ \w+ \d{4}, \d\d:\d\d:\d\d UTC", each) is not None for each in times]
    short = [re.fullmatch(r"\d\d:\d\d:\d\d", each) is not None for each in times]
    assert whole[:5] == [True, False, False, True, False], times
    assert [not each for each in whole] == short, times
    long = one.page.locator("#events details.long")
    expect(long).not_to_have_attribute("open", "")
    long.locator("summary").click()
    assert long.inner_text().count("a long line of words") > 20
    one.require_sound()


def of_many_devices(site: Site) -> str:
    """A run on 300 devices that reads them and then fails at two of them, one of which cannot even be read."""
    run = waiting(site)
    with RunStore(site.settings.database_url) as store:
        with store.stage(run, "read", ReadSummary()) as read:
            for number in range(300):
                store.events.device(run, f"edge-{number:03}", "read")
            read.errors = [StepError(device="edge-299", message="cannot be reached")]
        with store.stage(run, "push", StageSummary()):
            for number in range(300):
                store.journal.append(run, f"edge-{number:03}", JournalAction.TOUCHING)
            store.journal.append(run, "edge-007", JournalAction.FAILED, note="the table is full")
        store.set_status(run, RunStatus.FAILED, reason=Reason("the table is full", "push", RECOVER, "edge-007"))
    return run


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_events_are_filtered_by_device_by_step_and_to_the_errors(
    *, site: Site, tab: Open, size: dict[str, int], scripts: bool
) -> None:
    person = site.person(f"vic-{size['width']}-{scripts}".lower(), Role.VIEWER)
    first = tab(size)
    first.log_in(person, PASSWORD)
    run = of_many_devices(site)
    one = tab(size, java_script_enabled=scripts)
    one.context.add_cookies(first.context.cookies())  # type: ignore[arg-type]
    page = one.page
    page.goto(f"/runs/{run}?tab=events")
    events, told = page.locator("#events"), page.locator("#events > ol > li")
    events.locator("> summary").click()
    expect(told).to_have_count(100)

    page.get_by_label("Device", exact=True).fill("EDGE-007")
    page.get_by_role("button", name="Filter").click()
    expect(told).to_have_count(4)  # newest first: the end, what it refused, its lines, and that it was read
    expect(told.nth(1)).to_contain_text("edge-007: failed (the table is full)")
    expect(events.locator("> summary")).to_have_text(re.compile(r"^4 of \d+ events, newest first$"))
    if scripts:
        one.require_sound()

    page.get_by_label("Step", exact=True).select_option("Read what every device holds")
    page.get_by_role("button", name="Filter").click()
    expect(told).to_have_count(1)
    expect(told).to_contain_text("edge-007: read")
    expect(page.get_by_label("Device", exact=True)).to_have_value("EDGE-007")

    page.get_by_role("link", name="Clear").click()
    expect(page.get_by_label("Device", exact=True)).to_have_value("")
    expect(told).to_have_count(100)
    page.goto(f"/runs/{run}?tab=events&errors=only")
    expect(told).to_have_count(3)
    expect(page.get_by_label("only errors")).to_be_checked()
    page.get_by_label("Device", exact=True).fill("edge-299")
    page.get_by_role("button", name="Filter").click()
    expect(told).to_have_count(1)  # the step that could not read it
    expect(told).to_contain_text("Read what every device holds: failed")

    page.goto(f"/runs/{run}?tab=events&step=push")
    expect(told).to_have_count(100)
    page.get_by_role("link", name=re.compile("Show all 30[0-9] events")).click()
    expect(told).to_have_count(303)  # its begin and its end, 300 devices and the one that refused
    if scripts:
        one.require_sound()

    page.goto(f"/runs/{run}?tab=events&device=nowhere")
    expect(page.get_by_text("No event is like that.")).to_be_visible()


def test_what_is_being_typed_stays_while_the_run_goes_on(site: Site, tab: Open) -> None:
    run = waiting(site)
    one = tab(DESKTOP)
    one.log_in(site.person("wes", Role.VIEWER), PASSWORD)
    one.page.goto(f"/runs/{run}?tab=events&step=prepare")
    one.page.get_by_label("Device", exact=True).fill("edge")
    one.page.get_by_label("only errors").check()
    with RunStore(site.settings.database_url) as store:
        store.events.device(run, "edge-001", "read")
        store.events.progress(run, "prepare", "something new")
    expect(one.page.locator("#events > ol")).to_contain_text("something new")
    expect(one.page.locator("#events > ol")).not_to_contain_text("edge-001")
    expect(one.page.get_by_label("Device", exact=True)).to_have_value("edge")
    expect(one.page.get_by_label("only errors")).to_be_checked()
    one.require_sound()
