"""Networks, devices and experiments in a browser, with two emulated routers that can be read and changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from qosforge.access.roles import Role
from qosforge.api.backend import open_backend
from qosforge.emulation import start_lab
from qosforge.inventory.loader import load_network
from qosforge.inventory.overlay import state_folder
from qosforge.resources import root
from qosforge.runs.record.reason import NOT_MET, RECOVER, Reason
from qosforge.runs.record.tables import JournalAction, RunStatus, Verdict
from qoslab import control
from tests.web.browser import PHONE, Tab
from tests.web.conftest import PASSWORD, Site
from tests.web.recorded import configured, record, waiting_run

LAB = "infn-fnal"
BY_HAND = (
    "policy-map BY-HAND",
    "class class-default",
    "fair-queue",
    "interface FastEthernet0/0",
    "service-policy output BY-HAND",
)


@pytest.fixture(scope="module")
def lab(var_dir: Path) -> Iterator[Path]:
    """The state of a lab whose devices the site can read."""
    inventory = root() / "inventories" / LAB
    state = state_folder(var_dir, LAB)
    start_lab(load_network(inventory), inventory, state)
    try:
        yield state
    finally:
        control.stop(state)


@pytest.fixture(scope="module")
def kept(site: Site, lab: Path) -> str:
    """A run that was kept on the lab as it is, and one on the campus."""
    with open_backend(site.settings) as backend:
        campus = backend.networks.network("campus")
        texts = configured(campus, root() / "policies" / "campus-collaboration.yaml")
        store, artifacts = backend.run_requests.store, backend.artifacts
        record(store, artifacts, "campus", texts, RunStatus.KEPT)
        running = control.request(lab, {"op": "running", "box": "router1"})["running"]
        return record(store, artifacts, LAB, {"router1": str(running)}, RunStatus.KEPT)


def require_words_in_their_boxes(page: Page) -> None:
    """The drawing is seen, and none of its words is wider than what it stands in."""
    drawing = page.locator("svg.topology").filter(visible=True)
    expect(drawing).to_have_count(1)
    wider = drawing.evaluate(
        """(drawing) => [...drawing.querySelectorAll('a')].filter((a) => {
          const box = a.querySelector('rect, circle').getBBox();
          return [...a.querySelectorAll('text')].some((text) => {
            const own = text.getBBox();
            const right = own.x + own.width > box.x + box.width;
            return own.x < box.x || right || own.y + own.height > box.y + box.height;
          });
        }).map((a) => a.getAttribute('aria-label'))"""
    )
    assert wider == [], "words that are wider than what they stand in"


def test_a_device_is_read_and_its_drift_marked(site: Site, tab: Callable[..., Tab], lab: Path, kept: str) -> None:
    ann = tab()
    site.person("ann", Role.VIEWER)
    ann.log_in("ann", PASSWORD)
    ann.page.goto(f"/networks/{LAB}")
    ann.page.get_by_role("link", name=re.compile("^router1, Cisco IOS")).click()
    read = ann.page.get_by_role("button", name="Read now")
    read.focus()
    ann.page.keyboard.press("Enter")
    expect(ann.page.get_by_text("Last read just now")).to_be_visible()
    expect(ann.page.get_by_role("status").filter(has_text="no drift")).to_have_count(1)
    expect(read).to_be_focused()
    ann.require_sound()

    said = control.configure(lab, "router1", BY_HAND)
    assert not any(line.startswith("%") for line in said), said
    read.click()
    drift = ann.page.locator("#port-2 .drift")
    expect(drift).to_contain_text("out, policy: is new: BY-HAND")
    expect(ann.page.locator("#drifted").get_by_role("link", name=kept[:13])).to_be_visible()
    ann.require_sound()
    ann.page.goto(f"/networks/{LAB}")
    expect(ann.page.get_by_role("link", name=re.compile("^router3 ATM.*not known"))).to_have_count(1)
    boxes = ann.page.get_by_role("region", name="Drawing of the network")
    expect(boxes.locator("circle.qos-drifted").filter(visible=True)).to_have_count(1)


@pytest.mark.usefixtures("kept")
def test_the_campus_is_drawn_readably(site: Site, tab: Callable[..., Tab]) -> None:
    eve = tab()
    site.person("eve", Role.VIEWER)
    eve.log_in("eve", PASSWORD)
    eve.page.goto("/networks/campus")
    eve.require_sound()
    require_words_in_their_boxes(eve.page)
    eve.page.get_by_role("link", name=re.compile("^r2 Multilink2: 3 queues")).click()
    expect(eve.page.locator("#port-4")).to_be_in_viewport()
    phone = tab(PHONE)
    phone.log_in("eve", PASSWORD)
    phone.page.goto("/networks/campus")
    phone.require_sound()
    expect(phone.page.locator("svg.topology")).to_be_hidden()
    links = phone.page.get_by_role("list", name="Links of the network")
    expect(links.get_by_role("listitem")).to_have_count(8)
    expect(links.get_by_role("link", name=re.compile("^r2 Multilink2"))).to_be_visible()
    phone.page.goto("/networks/campus/devices/e300")
    phone.page.get_by_role("button", name="Read now").click()
    expect(phone.page.locator("#device-state").get_by_text("The device could not be read now.")).to_be_visible()
    expect(phone.page.get_by_text("start the lab")).to_be_visible()
    expect(phone.page.get_by_role("heading", name="GigabitEthernet 0/0")).to_be_visible()
    phone.require_sound()


WIDER = """() => [...document.querySelectorAll('main :is(td, th, .tile, .card, .message)')]
  .filter((one) => one.checkVisibility() && one.clientWidth && one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.textContent.trim().slice(0, 60))"""


@pytest.mark.usefixtures("kept")
def test_words_of_networks_stay_in_their_boxes(site: Site, tab: Callable[..., Tab]) -> None:
    site.person("nora", Role.OPERATOR)
    nora = tab(PHONE)
    nora.log_in("nora", PASSWORD)
    with open_backend(site.settings) as backend:
        store = backend.run_requests.store
        broken = waiting_run(store, "itesm", "campus-collaboration")
        why = Reason("after the push the objectives are not met", "measure-after", NOT_MET)
        store.set_status(broken, RunStatus.ROLLED_BACK, Verdict.BROKEN, reason=why)
        kept = waiting_run(store, "infn-fnal", "campus-collaboration")
        store.set_status(kept, RunStatus.KEPT, Verdict.BROKEN)
        stuck = waiting_run(store, "campus", "campus-collaboration")
        left = Reason("the table is full", "rollback", RECOVER, "e300")
        store.journal.append(stuck, "e300", JournalAction.TOUCHING)  # it has no address here, and stays as it is
        store.set_status(stuck, RunStatus.NEEDS_RECOVERY, reason=left)
    for width in (PHONE["width"], 768, 1440):
        nora.page.set_viewport_size({"width": width, "height": 900})
        nora.page.goto("/networks")
        assert nora.page.evaluate(WIDER) == [], width
        nora.require_sound()
        row = nora.page.get_by_role("row", name="campus")
        expect(row.get_by_role("link", name="Open the run that stands half-way on campus")).to_be_visible()
        expect(row.get_by_role("link", name="New run on campus")).to_have_count(0)
        unaddressed = nora.page.get_by_role("row").filter(
            has=nora.page.get_by_role("link", name="itesm", exact=True)
        )
        expect(unaddressed.get_by_text("no addresses")).to_be_visible()
        for name in ("campus", "infn-fnal", "itesm"):
            nora.page.goto(f"/networks/{name}")
            assert nora.page.evaluate(WIDER) == [], (name, width)
    with open_backend(site.settings) as backend:
        store = backend.run_requests.store
        store.journal.append(stuck, "e300", JournalAction.UNDONE)
        store.set_status(stuck, RunStatus.ROLLED_BACK, reason=why)


def test_an_experiment_is_run_and_its_claims_shown(site: Site, tab: Callable[..., Tab]) -> None:
    olga = tab()
    site.person("olga", Role.OPERATOR)
    olga.log_in("olga", PASSWORD)
    olga.page.goto("/experiments")
    olga.page.get_by_role("link", name="Weighted round robin and frames of several sizes").click()
    olga.page.get_by_role("button", name="Simulate it").click()
    expect(olga.page.get_by_text("Simulated (seed 1)")).to_be_visible(timeout=90_000)
    expect(olga.page.get_by_role("link", name="Download as JSON")).to_be_focused()
    claim = olga.page.locator("#claim-cern-mixed-packet-share-q0")
    expect(claim).to_contain_text("0.248 (± 0.01)")
    expect(claim).to_contain_text("✔ agrees")
    expect(olga.page.locator(".plot svg[role=img]")).to_have_count(2)
    olga.require_sound()
    phone = tab(PHONE)
    phone.log_in("olga", PASSWORD)
    phone.page.goto("/experiments/cern-wrr-mixed")
    phone.page.locator("#plots").scroll_into_view_if_needed()
    expect(phone.page.locator(".plot svg[role=img]")).to_have_count(2)
    smallest = """(plot) => {
        const scale = plot.getBoundingClientRect().width / plot.viewBox.baseVal.width;
        return Math.min(...[...plot.querySelectorAll("text")].map((text) =>
            scale * parseFloat(getComputedStyle(text).fontSize)));
    }"""
    assert phone.page.locator(".plot svg[role=img]").first.evaluate(smallest) > 9.5, "letters are to be read"
    phone.require_sound()
