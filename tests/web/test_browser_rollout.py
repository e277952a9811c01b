"""A rollout that one person pauses on its page, another approves, and that goes on when it is told to."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from qosforge.access.roles import Role
from qosforge.artifacts.store import open_artifacts
from qosforge.emulation import start_lab
from qosforge.intent.policy_source import PolicySource
from qosforge.inventory.loader import load_network
from qosforge.inventory.overlay import state_folder
from qosforge.policy_library.library import PolicyLibrary
from qosforge.resources import root
from qosforge.runs.record.store import RunStore
from qosforge.settings import Settings
from qoslab import control
from tests.api.served import serving
from tests.principals import somebody
from tests.web.browser import Tab, part
from tests.web.conftest import Site
from tests.web.people import PASSWORD

POLICY = (root() / "examples/policies/remote-control.yaml").read_text()
LONG_MS = 180_000


@pytest.fixture(scope="module")
def site(var_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Two routers, changed one after the other once somebody else approved it."""
    inventories = tmp_path_factory.mktemp("rollout") / "inventories"
    inventory = inventories / "infn-fnal"
    shutil.copytree(root() / "inventories" / "infn-fnal", inventory)
    (inventory / "changes.yaml").write_text("approval: four_eyes\nrollout: {waves: [{count: 1}], pause: 30}\n")
    lab, settings = state_folder(var_dir, "infn-fnal"), Settings(var_dir=var_dir)
    start_lab(load_network(inventory), inventory, lab)
    try:
        with serving(var_dir, fork=True, inventories_dir=str(inventories)) as served:
            made = Site(served, settings)
            for name, role in (("ann", Role.OPERATOR), ("bob", Role.APPROVER)):
                made.person(name, role)
            with RunStore(settings.database_url) as store:
                library = PolicyLibrary(store.database, open_artifacts(settings, store.database))
                library.seen_by(somebody("ann")).store(
                    "remote-control", PolicySource(POLICY, "remote-control.yaml"), network="*"
                )
            yield made
    finally:
        control.stop(lab)


def changed(site: Site) -> list[str]:
    """The routers that hold the policy, as the lab itself tells."""
    lab = state_folder(site.settings.var_dir, "infn-fnal")
    running = {
        name: str(control.request(lab, {"op": "running", "box": name})["running"])
        for name in ("router1", "router3")
    }
    return [name for name, text in running.items() if "service-policy output QOSFORGE" in text]


def test_a_rollout_waits_between_its_waves_until_it_is_reported_to_go_on(
    site: Site, tab: Callable[..., Tab]
) -> None:
    ann, bob = tab(), tab()
    ann.log_in("ann", PASSWORD)
    page = ann.page
    page.goto("/runs/new?network=infn-fnal")
    page.locator("#policy").select_option("remote-control")
    page.get_by_role("button", name="Start run").click()
    page.wait_for_url(re.compile(r"/runs/[0-9a-f-]{36}$"))
    expect(page.locator("#state .headline")).to_contain_text("needs approval", timeout=LONG_MS)
    part(page, "Events")
    waves = page.get_by_role("region", name="Waves").locator("tbody tr")
    expect(waves).to_have_count(2)
    page.get_by_role("button", name="Pause before the next wave").click()
    expect(page.get_by_role("button", name="Go on with the next wave")).to_be_visible()
    ann.require_sound()

    bob.log_in("bob", PASSWORD)
    bob.page.goto(page.url)
    bob.page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.locator("#state")).to_contain_text("paused by ann", timeout=LONG_MS)
    first = changed(site)
    assert len(first) == 1
    expect(waves.nth(0)).to_contain_text(first[0])
    ann.require_sound()

    bob.page.get_by_role("button", name="Go on with the next wave").click()
    for each in (page, bob.page):
        expect(each.locator("#state .headline")).to_contain_text("kept", timeout=2 * LONG_MS)
        expect(each.get_by_role("button", name="Go on with the next wave")).to_have_count(0)
    assert changed(site) == ["router1", "router3"]
