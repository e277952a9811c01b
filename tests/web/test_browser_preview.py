"""The preview in a browser: four makers, numbers by keyboard, an old preview that stays, devices read over SSH."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, ViewportSize, expect

from qosforge.access.roles import Role
from qosforge.artifacts.store import open_artifacts
from qosforge.emulation import start_lab
from qosforge.intent.policy_source import PolicySource
from qosforge.inventory.loader import load_network
from qosforge.inventory.overlay import state_folder
from qosforge.policy_library.library import PolicyLibrary
from qosforge.resources import root
from qosforge.runs.record.journal import JournalAction
from qosforge.runs.record.reason import RECOVER, Reason
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import RunStatus
from qoslab import control
from tests.principals import somebody
from tests.web.addresses import addresses
from tests.web.browser import DESKTOP, PHONE, Tab, await_code_editor, write_policy
from tests.web.conftest import PASSWORD, Site
from tests.web.recorded import waiting_run

LAB = "infn-fnal"
CAMPUS = (root() / "policies" / "campus-collaboration.yaml").read_text(encoding="utf-8")
LONG_MS = 180_000
"""Reading devices, and the first compilation of a service, on a busy machine."""


@pytest.fixture(scope="module")
def ann(site: Site) -> str:
    return site.person("ann", Role.ADMIN)  # what ships belongs to all networks


@pytest.fixture(scope="module")
def lab(var_dir: Path) -> Iterator[None]:
    """Two routers that can be read."""
    folder, state = root() / "inventories" / LAB, state_folder(var_dir, LAB)
    start_lab(load_network(folder), folder, state)
    try:
        yield
    finally:
        control.stop(state)


@pytest.fixture
def campus_addresses(site: Site) -> Iterator[None]:
    with addresses(site.settings, "campus"):
        yield


def _unfolded(page: Page, device: str) -> str:
    """The whole configuration of a device, as its part of the preview shows it."""
    page.locator(f"#device-{device} > summary").click()
    lines = page.get_by_role("region", name=f"Configuration of {device}").locator("code")
    expect(lines.first).to_be_visible()
    return "\n".join(lines.all_text_contents())


def test_four_makers_are_previewed_beside_the_editor(site: Site, tab: Callable[..., Tab], ann: str) -> None:
    one = tab()
    one.log_in(ann, PASSWORD)
    page = one.page
    page.goto("/policies/campus-collaboration/edit?network=campus")
    preview = page.locator("#preview")
    expect(preview).to_contain_text("No errors", timeout=LONG_MS)
    expect(preview).to_contain_text("Compiled for 9 devices")

    assert "bandwidth remaining percent 70" in _unfolded(page, "r1")
    assert "wrr-queue bandwidth 30 70 3 0" in _unfolded(page, "s2950")
    assert "qos queue-set-assignment queue-set 4 1p 5 queue 1" in _unfolded(page, "ers5510")
    assert "strict-priority unicast 4" in _unfolded(page, "e300")

    field = page.get_by_role("button", name="web-and-file on ers5510: not exactly as requested")
    field.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("requested 35 %, applied 35.7 % (+0.7 points of the link rate)")).to_be_visible()
    page.keyboard.press("Escape")
    expect(field).to_be_focused()

    note = preview.locator(".preview-findings").get_by_text("recognised by transport ports only").first
    expect(note).to_be_hidden()
    page.get_by_role("checkbox", name="notes").check()
    expect(note).to_be_visible()
    one.require_sound()

    # What was folded out and chosen stays while one types; a text that cannot be compiled keeps the old preview.
    page.get_by_role("tab", name="YAML").click()
    await_code_editor(page)
    text, field_text = page.get_by_label("Text of the policy"), page.locator("#policy-text")
    write_policy(page, field_text.input_value().replace("remaining_percent: 70", "remaining_percent: 60"))
    r1 = page.get_by_role("region", name="Configuration of r1")
    expect(r1).to_contain_text("bandwidth remaining percent 60", timeout=LONG_MS)
    expect(note).to_be_visible()
    write_policy(page, field_text.input_value().replace("percent: 50", "percent: 500"))
    expect(preview).to_contain_text("This cannot be compiled: 1 problem", timeout=LONG_MS)
    expect(preview).to_contain_text("the last text that could be compiled")
    expect(r1).to_contain_text("bandwidth remaining percent 60")
    one.require_sound()
    expect(preview.locator("#preview-refused .errors")).to_have_count(0)  # the list above the policy has it
    page.locator("#problem-list").get_by_role("link", name="line", exact=False).first.click()
    expect(text).to_be_focused()
    write_policy(page, field_text.input_value().replace("percent: 500", "percent: 40"))
    expect(r1).to_contain_text("priority percent 40", timeout=LONG_MS)
    expect(preview).not_to_contain_text("This cannot be compiled")


def test_errors_stand_first_and_lead_to_their_fields(site: Site, tab: Callable[..., Tab], ann: str) -> None:
    one = tab()
    one.log_in(ann, PASSWORD)
    page = one.page
    page.goto("/policies/new?name=demanding&from=campus-collaboration&network=campus")
    preview, start = page.locator("#preview"), page.get_by_role("button", name="Save and start a run")
    expect(preview).to_contain_text("No errors", timeout=LONG_MS)
    expect(start).to_be_enabled()
    page.get_by_role("tab", name="YAML").click()
    await_code_editor(page)
    text = page.locator("#policy-text")
    asks = text.input_value()
    write_policy(page, asks.replace("wred: {prefer: true}", "wred: {prefer: false}"))
    said = preview.locator("#preview-good > .message").first
    expect(said).to_contain_text("Cannot be started: 2 errors (", timeout=LONG_MS)
    expect(start).to_be_disabled()
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_enabled()
    why = page.locator("#start-run-why")
    expect(why).to_contain_text("Cannot start: 2 errors (s2950, ")
    why.get_by_role("link").click()
    errors = preview.get_by_role("region", name="Errors")
    expect(errors.get_by_role("heading")).to_be_in_viewport()
    found, changes = errors.bounding_box(), preview.get_by_text("devices would be configured").bounding_box()
    assert found
    assert changes
    assert found["y"] < changes["y"], "what is wrong stands first"
    first = errors.get_by_role("listitem").first
    expect(first).to_contain_text("s2950")
    expect(first).to_contain_text("leave WRED out for this device")
    one.require_sound()
    errors.get_by_role("link", name="default").first.click()
    early = page.locator("[data-class=default]").get_by_label("Drop early")
    expect(early).to_be_focused()
    early.uncheck()
    expect(preview).to_contain_text("No errors", timeout=LONG_MS)
    expect(start).to_be_enabled()
    expect(why.get_by_role("link")).to_have_count(0)


def test_a_run_whose_devices_have_no_address_is_not_started(site: Site, tab: Callable[..., Tab], ann: str) -> None:
    one = tab(PHONE)
    one.log_in(ann, PASSWORD)
    page, start = one.page, one.page.locator("#start-run")
    page.goto("/runs/new?network=campus&policy=campus-collaboration")
    why = page.get_by_role("link", name="Cannot start: see above")
    expect(why).to_be_visible(timeout=LONG_MS)
    expect(start).to_be_disabled()
    size = page.locator("#preview-size")
    expect(size).to_contain_text(re.compile(r"9 (of 9 )?devices would"))
    why.click()
    expect(page.locator("#without-address")).to_contain_text(
        re.compile(r"✘ 9 of the 9 devices that a run reads have no address \(\w+ and 8 more\): it would fail\.")
    )
    expect(page.locator("#without-address")).to_contain_text(
        "Give each a hostname in hosts.yaml; or start a lab of them: qosforge lab up -N campus."
    )
    one.require_sound()
    with addresses(site.settings, "campus"):
        page.reload()
        expect(start).to_be_enabled(timeout=LONG_MS)
        expect(page.locator("#without-address")).to_have_count(0)
        expect(page.locator("#start-run-why .would")).to_contain_text(re.compile(r"9 (of 9 )?devices would"))
        expect(size).to_be_hidden()  # beside the button it is told already


@pytest.mark.usefixtures("campus_addresses")
def test_a_run_that_would_be_rejected_for_unconfirmed_lines_begins_once_they_are_accepted(
    site: Site, tab: Callable[..., Tab], ann: str
) -> None:
    one = tab()
    one.log_in(ann, PASSWORD)
    page = one.page

    def as_on_devices_themselves(route: Route) -> None:
        answer = route.fetch()
        told = answer.text()
        if "accept_unconfirmed=yes" not in (route.request.post_data or ""):
            told = told.replace(" data-said", ' data-said data-unless-accepted="Cannot start: unconfirmed"', 1)
        route.fulfill(response=answer, body=told)

    page.route("**/preview", as_on_devices_themselves)
    page.goto("/runs/new?network=campus&policy=campus-collaboration")
    start = page.locator("#start-run")
    why = page.get_by_role("link", name="Cannot start: unconfirmed")
    expect(why).to_be_visible(timeout=LONG_MS)
    expect(start).to_be_disabled()
    why.click()
    accept = page.get_by_role("checkbox", name="Enter unconfirmed lines, too")
    accept.check()
    expect(start).to_be_enabled()
    expect(why).to_be_hidden()
    accept.uncheck()
    expect(start).to_be_disabled()
    one.require_sound()


@pytest.mark.usefixtures("campus_addresses")
def test_a_run_that_its_warnings_would_reject_is_not_started(site: Site, tab: Callable[..., Tab], ann: str) -> None:
    one = tab()
    one.log_in(ann, PASSWORD)
    page = one.page
    page.goto("/runs/new?network=campus&policy=campus-collaboration")
    start = page.locator("#start-run")
    expect(start).to_be_enabled(timeout=LONG_MS)
    page.locator("#more > summary").click()
    strict = page.get_by_role("checkbox", name="Warnings stand against it, too")
    strict.check()
    why = page.locator("#start-run-why a.wrong")
    expect(why).to_have_text(
        re.compile("Cannot start: \\d+ warnings, and “Warnings stand against it, too” is ticked")
    )
    expect(start).to_be_disabled()
    why.click()
    expect(strict).to_be_in_viewport()
    strict.uncheck()
    expect(start).to_be_enabled()
    expect(why).to_be_hidden()
    one.require_sound()


@pytest.mark.usefixtures("campus_addresses")
def test_a_run_that_could_measure_nothing_begins_once_it_is_to_measure_nothing(
    site: Site, tab: Callable[..., Tab], ann: str
) -> None:
    one = tab()
    one.log_in(ann, PASSWORD)
    page = one.page

    def as_without_traffic(route: Route) -> None:
        answer = route.fetch()
        without = ' data-said data-unless-unmeasured="Cannot start: no traffic"'
        told = answer.text().replace(" data-said", without, 1)
        route.fulfill(response=answer, body=told)

    page.route("**/preview", as_without_traffic)
    page.goto("/runs/new?network=campus&policy=campus-collaboration")
    start, why = page.locator("#start-run"), page.get_by_role("link", name="Cannot start: no traffic")
    expect(why).to_be_visible(timeout=LONG_MS)
    expect(start).to_be_disabled()
    page.get_by_role("radio", name="Not at all").check()
    expect(start).to_be_enabled()
    expect(why).to_be_hidden()
    page.get_by_role("radio", name="Simulation").check()
    expect(start).to_be_disabled()
    why.click()


def test_devices_are_read_from_a_phone(site: Site, tab: Callable[..., Tab], ann: str, lab: None) -> None:
    one = tab(PHONE, color_scheme="dark")
    one.log_in(ann, PASSWORD)
    page = one.page
    page.goto(f"/runs/new?network={LAB}&policy=infn-fnal-pq")
    preview = page.locator("#preview")
    expect(preview).to_contain_text("No device has been read yet", timeout=LONG_MS)
    page.get_by_role("button", name="Read the devices now").click()
    expect(preview).to_contain_text("Compared with what each device said when it was last read", timeout=LONG_MS)
    first = load_network(root() / "inventories" / LAB).devices[0].name
    page.locator(f"#device-{first} > summary").click()
    entered = page.get_by_role("region", name=f"Lines entered into {first}")
    expect(entered).to_contain_text("+", timeout=LONG_MS)
    one.require_sound()
    page.reload()
    expect(preview).to_contain_text("Compared with what each device said", timeout=LONG_MS)


@pytest.mark.usefixtures("campus_addresses")
def test_a_run_that_stands_half_way_keeps_others_from_its_devices(
    site: Site, tab: Callable[..., Tab], ann: str
) -> None:
    with RunStore(site.settings.database_url) as store:
        stuck = waiting_run(store, "campus", "silver")
        store.journal.append(stuck, "r1", JournalAction.TOUCHING)
        store.set_status(stuck, RunStatus.NEEDS_RECOVERY, reason=Reason("it is away", "rollback", RECOVER, "r1"))
        classes = CAMPUS[: CAMPUS.index("apply:")].replace("intent: campus-collaboration", "intent: elsewhere")
        elsewhere = f"{classes}apply:\n  - {{role: middle, interfaces: wan, direction: output}}\n"
        library = PolicyLibrary(store.database, open_artifacts(site.settings, store.database))
        written = PolicySource(elsewhere, "elsewhere.yaml")
        library.seen_by(somebody("ann")).store("elsewhere", written, network="campus")
    one = tab()
    one.log_in(ann, PASSWORD)
    page = one.page
    start = page.locator("#start-run")
    for policy in ("campus-collaboration", "impossible"):
        page.goto(f"/runs/new?network=campus&policy={policy}")
        why = page.get_by_role("link", name="Cannot start: silver on campus stands half-way at r1")
        expect(why).to_be_visible(timeout=LONG_MS)
        expect(start).to_be_disabled()
    expect(page.locator("#device-r1 > summary")).to_contain_text("✘ half-way")
    expect(page.locator("#device-r2 > summary")).not_to_contain_text("half-way")
    one.require_sound()
    why.click()
    page.wait_for_url(f"**/runs/{stuck}")
    page.goto("/runs/new?network=campus&policy=elsewhere")  # which applies to none of its devices
    expect(page.locator("#half-way")).to_contain_text("silver on campus")
    expect(start).to_be_enabled(timeout=LONG_MS)
    with RunStore(site.settings.database_url) as store:
        store.journal.append(stuck, "r1", JournalAction.UNDONE)
        store.set_status(stuck, RunStatus.ROLLED_BACK, reason=Reason("it was away", "push", RECOVER, "r1"))
    page.goto("/runs/new?network=campus&policy=campus-collaboration")
    expect(start).to_be_enabled(timeout=LONG_MS)


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_new_run_begins_with_its_policy(tab: Callable[..., Tab], ann: str, size: ViewportSize) -> None:
    one = tab(size)
    one.log_in(ann, PASSWORD)
    page = one.page
    page.goto("/runs/new?network=campus")
    expect(page.get_by_role("button", name="Start run")).to_be_disabled()
    expect(page.get_by_text("Choose a policy to see what would change.")).to_be_visible()
    rules = page.get_by_role("region", name="Rules of network campus").bounding_box()
    policy = page.locator("#policy")
    beside = policy.bounding_box()
    assert rules
    assert beside
    assert abs(rules["x"] - beside["x"]) < 2, "they stand in one column"
    one.require_sound()
    policy.select_option("campus-collaboration")
    expect(page.get_by_text("Choose a policy to see what would change.")).to_have_count(0)
    expect(page.locator("#start-run-why")).not_to_be_empty()
