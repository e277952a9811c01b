"""The page of a run on hundreds of devices: what failed once and first, all of it a few screens of a phone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

from qosforge.access.roles import Role
from qosforge.artifacts.store import Artifacts, open_artifacts
from qosforge.errors import ChangeRefused, DeviceError, Place
from qosforge.findings import Finding, Severity
from qosforge.inventory.models import Network
from qosforge.runs.record.reason import reason_of_errors, retry
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import PreparedDevice, PrepareSummary, PushSummary, ReadSummary, ValidateSummary
from qosforge.runs.record.tables import JournalAction, RunStatus
from qosforge.runs.views.progress import DeviceProgress, DeviceStep, StepMark, StepState
from qosforge.web.views.run_devices import device_rows
from tests.web.browser import DESKTOP, PHONE, Tab, part
from tests.web.conftest import Site
from tests.web.people import PASSWORD
from tests.web.recorded import waiting_run

DEVICES = [f"d{n}" for n in range(300)]
MOST_PX = 5_000
"""Six screens of a phone."""
SIZES = (DESKTOP, PHONE)


def failures(said: dict[str, Iterable[str]]) -> list[StepError]:
    """The error of each device, by what it says."""
    return [
        StepError.of(DeviceError(message, Place(device=device), "give it a hostname in hosts.yaml"))
        for message, devices in said.items()
        for device in devices
    ]


def refusal(device: str, answer: str, line: int) -> StepError:
    """That a device refused a line, with what it answered."""
    message = f"the device refused the change: refused at line {line} ('qos'), {line - 1} applied: {answer}"
    return StepError.of(ChangeRefused(message, Place(device=device), "put it right", answer, "the change"))


@pytest.fixture(scope="module", autouse=True)
def ann(site: Site) -> str:
    """Who looks at them."""
    return site.person("ann", Role.VIEWER)


@contextmanager
def recording(site: Site) -> Iterator[tuple[RunStore, Artifacts, str]]:
    """The store, its artifacts, and a run on all devices that nobody carries out."""
    kind = {"platform": "catalyst_2970", "image": "12.2", "driver": "ios_legacy", "role": "access"}
    devices = [{"name": name, "interfaces": [], **kind} for name in DEVICES]
    network = Network.model_validate({"name": "large", "devices": devices, "links": [], "stations": []})
    with RunStore(site.settings.database_url) as store:
        artifacts = open_artifacts(site.settings, store.database)
        kept = artifacts.put_text(network.model_dump_json())
        yield store, artifacts, waiting_run(store, "large", "gold", {"network": kept})


def pages(site: Site, tab: Callable[..., Tab], run: str, opens: str = "Events") -> Iterator[Page]:
    """The page of a run on a desktop and on a phone; it opens at the part where what happened is told."""
    for size in SIZES:
        one = tab(size)
        one.log_in("ann", PASSWORD)
        one.page.goto(f"/runs/{run}")
        current = one.page.get_by_role("navigation", name="Parts of this run").locator("[aria-current]")
        expect(current).to_contain_text(opens)
        yield one.page
        one.require_sound()


def height(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollHeight"))


def test_what_fails_on_every_device_is_said_once(site: Site, tab: Callable[..., Tab]) -> None:
    with recording(site) as (store, _, run):
        errors = failures({"no address is known": DEVICES})
        with store.stage(run, "read", ReadSummary(asked=DEVICES)) as summary:
            summary.errors = errors
        reason = reason_of_errors(errors, "read", retry(run), len(DEVICES))
        store.set_status(run, RunStatus.FAILED, reason=reason)
    for page in pages(site, tab, run):
        expect(page.locator("#state .headline")).to_contain_text(
            "300 devices: no address is known. No device was touched."
        )
        rows = page.locator("table.matrix tbody tr:not(.why)")
        expect(rows).to_have_count(1)
        expect(rows.first).to_contain_text("300 devices")
        assert page.locator("#watch").inner_text().count("no address is known") == 1
        expect(page.locator("#state .facts")).to_contain_text("Give it a hostname in hosts.yaml")
        assert height(page) < MOST_PX
        rows.first.get_by_text("300 devices").click()
        expect(rows.first).to_contain_text("d299")


def test_the_few_that_failed_stand_before_the_many_that_went_back(site: Site, tab: Callable[..., Tab]) -> None:
    refused = [
        refusal("d3", "% Error: no memory.", 6),
        refusal("d7", "% Error: no memory.", 9),
        refusal("d101", "% Cannot modify settings", 1),
        refusal("d9", "% Cannot modify settings", 2),
        refusal("d251", "% Error: no memory.", 4),
    ]
    with recording(site) as (store, artifacts, run):
        text = artifacts.put_text("mls qos\n")
        with store.stage(run, "read", ReadSummary(asked=DEVICES)) as summary:
            summary.running = dict.fromkeys(DEVICES, text)
        lines = PreparedDevice(configuration=text, delta=text, inverse=text, empty=False)
        with store.stage(run, "prepare", PrepareSummary(devices=dict.fromkeys(DEVICES, lines))):
            pass
        with store.stage(run, "push", PushSummary(devices=DEVICES)) as pushed:
            for device in DEVICES:
                store.journal.append(run, device, JournalAction.TOUCHING, before=text, delta=text, inverse=text)
                failed = next((one for one in refused if one.device == device), None)
                action = JournalAction.FAILED if failed else JournalAction.TOUCHED
                store.journal.append(run, device, action, note=failed.message if failed else "")
            pushed.errors = refused
        with store.stage(run, "rollback", ReadSummary()):
            for device in DEVICES:
                store.journal.append(run, device, JournalAction.UNDOING)
                store.journal.append(run, device, JournalAction.UNDONE)
        reason = reason_of_errors(refused, "push", retry(run), len(DEVICES))
        store.set_status(run, RunStatus.ROLLED_BACK, reason=reason)
    for page in pages(site, tab, run):
        expect(page.locator("#state .headline")).to_contain_text(
            "5 of 300 devices refused the change: 3 “% Error: no memory.” (d3, d7, d251), "
            "2 “% Cannot modify settings” (d9, d101). Every device is as it was before."
        )
        expect(page.locator("#because")).to_have_count(0)
        rows = page.locator("table.matrix tbody tr:not(.why)")
        expect(rows).to_have_count(3)
        expect(rows.locator("th").nth(0)).to_have_text("d3, d7, d251")
        expect(rows.locator("th").nth(1)).to_have_text("d9, d101")
        why = page.locator("table.matrix .why")
        expect(why).to_have_count(2)  # how far each came, and which line it refused, is no cause of its own
        expect(why.first).to_contain_text("refused the change: “% Error: no memory.” d3, for example:")
        expect(why.first).to_contain_text("line 6")
        expect(rows.last).to_contain_text(re.compile("295 devices.*rolled back", re.DOTALL))
        heading = rows.last.locator("summary")
        assert heading.evaluate("one => one.getClientRects().length") == 1
        pushed = page.locator("table.steps tr").filter(has_text="Push the lines")
        expect(pushed).to_contain_text("d3 and 4 more: the reasons stand above")
        expect(page.locator("#watch").get_by_text("put it right")).to_have_count(0)  # the head says what to do
        assert height(page) < MOST_PX


def test_of_a_few_devices_the_one_that_failed_stands_first() -> None:
    steps = dict.fromkeys(DeviceStep, StepMark())
    failed = steps | {DeviceStep.ROLL_BACK: StepMark(StepState.FAILED, "the table is full")}
    devices = [DeviceProgress("a", dict(steps)), DeviceProgress("e300", failed), DeviceProgress("r1", dict(steps))]
    assert [row.devices for row in device_rows(devices).shown] == [("e300",), ("a",), ("r1",)]


def test_what_stands_against_a_run_on_many_devices_is_said_once(site: Site, tab: Callable[..., Tab]) -> None:
    message = "the interface's bandwidth is not the link's rate, so every share would be wrong"
    rates = {"requested": "1 Gb/s", "applied": "100 Mb/s", "hint": "set it"}
    found = [
        Finding(
            code="bandwidth-differs",
            severity=Severity.ERROR,
            message=message,
            device=device,
            interface="Serial0/0",
            direction="output",
            **rates,
        )
        for device in DEVICES[3::4]
    ]
    few = [found[0].model_copy(update={"code": "queue-unknown", "message": "no such queue"})]
    with recording(site) as (store, artifacts, run):
        with store.stage(run, "validate", ValidateSummary()) as checked:
            checked.findings = artifacts.put_json([one.model_dump(mode="json") for one in (*found, *few)])
            checked.refused = True
        errors = [StepError(message=message, device=one.device or "", hint="set it") for one in found]
        store.set_status(run, RunStatus.REJECTED, reason=reason_of_errors(errors, "validate", retry(run)))
    for page in pages(site, tab, run, opens="Findings"):
        expect(page.locator("#state .headline")).to_contain_text(
            f"2 errors on 75 devices (d3 and 74 more); the first: {message}."
        )
        expect(page.locator("#because li")).to_have_text(["d3 Serial0/0 output: no such queue"])
        part(page, "Events")
        expect(page.locator("table.steps tr", has_text="Check the configurations")).to_contain_text("failed")


def test_devices_that_change_alike_are_their_number_and_product(site: Site, tab: Callable[..., Tab]) -> None:
    with recording(site) as (store, artifacts, run):
        text, lines = artifacts.put_text("mls qos\n"), artifacts.put_text("+mls qos\n")
        with store.stage(run, "read", ReadSummary(asked=DEVICES)) as summary:
            summary.running = dict.fromkeys(DEVICES, text)
        prepared = PreparedDevice(configuration=text, delta=text, inverse=text, difference=lines, empty=False)
        with store.stage(run, "prepare", PrepareSummary(devices=dict.fromkeys(DEVICES, prepared))):
            pass
        store.set_status(run, RunStatus.NEEDS_APPROVAL, waits_for="an approver")
    for page in pages(site, tab, run, opens="Changes"):
        expect(page.locator(".change summary").first).to_contain_text("300 devices")
        expect(page.locator(".change summary").first).to_contain_text("Cisco Catalyst 2970; the same line on each")
        page.get_by_text("Their names").click()
        expect(page.locator(".change .names")).to_contain_text("d299")
        assert height(page) < MOST_PX
