"""The page of a run on hundreds of devices: what failed once and first, all of it a few screens of a phone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

from qosforge.access.roles import Role
from qosforge.artifacts.store import Artifacts, open_artifacts
from qosforge.errors import DeviceError, Place
from qosforge.inventory.models import Network
from qosforge.runs.record.reason import reason_of_errors, retry
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import PreparedDevice, PrepareSummary, PushSummary, ReadSummary
from qosforge.runs.record.tables import JournalAction, RunStatus
from tests.web.browser import DESKTOP, PHONE, Tab, part
from tests.web.conftest import Site
from tests.web.people import PASSWORD

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


@pytest.fixture(scope="module", autouse=True)
def ann(site: Site) -> str:
    """Who looks at them."""
    return site.person("ann", Role.VIEWER)


@contextmanager
def recording(site: Site) -> Iterator[tuple[RunStore, Artifacts, str]]:
    """The store, its artifacts, and a run on all devices that has only begun."""
    kind = {"platform": "catalyst_2970", "image": "12.2", "driver": "ios_legacy", "role": "access"}
    devices = [{"name": name, "interfaces": [], **kind} for name in DEVICES]
    network = Network.model_validate({"name": "large", "devices": devices, "links": [], "stations": []})
    with RunStore(site.settings.database_url) as store:
        artifacts = open_artifacts(site.settings, store.database)
        kept = artifacts.put_text(network.model_dump_json())
        run = store.create_run("large", "gold", "f" * 64, {"network": kept})
        store.set_status(run.id, RunStatus.RUNNING)
        yield store, artifacts, run.id


def pages(site: Site, tab: Callable[..., Tab], run: str) -> Iterator[Page]:
    """The page of a run on a desktop and on a phone."""
    for size in SIZES:
        one = tab(size)
        one.log_in("ann", PASSWORD)
        one.page.goto(f"/runs/{run}")
        part(one.page, "Events")
        yield one.page
        one.require_sound()


def height(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollHeight"))


def test_what_fails_on_every_device_is_said_once(site: Site, tab: Callable[..., Tab]) -> None:
    with recording(site) as (store, _, run):
        errors = failures({"its address is not known": DEVICES})
        with store.stage(run, "read", ReadSummary(asked=DEVICES)) as summary:
            summary.errors = errors
        reason = reason_of_errors(errors, "read", retry(run))
        store.set_status(run, RunStatus.FAILED, reason=reason)
    for page in pages(site, tab, run):
        expect(page.locator("#state .headline")).to_contain_text("d0 and 299 more: its address is not known.")
        rows = page.locator("table.matrix tbody tr:not(.why)")
        expect(rows).to_have_count(1)
        expect(rows.first).to_contain_text("300 devices")
        said = page.locator("#watch").inner_text().count("its address is not known")
        assert said == 2  # of the devices, and of the step
        assert height(page) < MOST_PX
        rows.first.get_by_text("300 devices").click()
        expect(rows.first).to_contain_text("d299")


def test_the_few_that_failed_stand_before_the_many_that_went_back(site: Site, tab: Callable[..., Tab]) -> None:
    refused = failures({"refused a line": ["d7", "d99"], "was reloaded meanwhile": ["d250"]})
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
        store.set_status(run, RunStatus.ROLLED_BACK, reason=reason_of_errors(refused, "push", retry(run)))
    for page in pages(site, tab, run):
        expect(page.locator("#state .headline")).to_contain_text(
            "d7, d99: refused a line; d250: was reloaded meanwhile. Every device is as it was before."
        )
        rows = page.locator("table.matrix tbody tr:not(.why)")
        expect(rows).to_have_count(3)
        expect(rows.first).to_contain_text("d7, d99")
        expect(rows.last).to_contain_text(re.compile("297 devices.*rolled back", re.DOTALL))
        assert height(page) < MOST_PX
