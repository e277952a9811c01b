"""Where the delay arises, on the page of a run in browsers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from qosforge.access.roles import Role
from qosforge.artifacts.store import open_artifacts
from qosforge.inventory.loader import load_network
from qosforge.resources import root
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import MeasurementSummary
from qosforge.runs.record.tables import RunStatus
from tests.reports.origins import measured, path_delay
from tests.web.browser import DESKTOP, PHONE, Tab, part
from tests.web.conftest import Site
from tests.web.people import PASSWORD
from tests.web.recorded import waiting_run


def stored(site: Site) -> str:
    """A run that ended with a measurement before it was recorded, and one after."""
    network = load_network(root() / "inventories" / "campus")
    with RunStore(site.settings.database_url) as store:
        artifacts = open_artifacts(site.settings, store.database)
        params = {"network": artifacts.put_text(network.model_dump_json())}
        run = waiting_run(store, "campus", "campus-collaboration", params)
        sides = {
            "before": measured("before", recorded=False),
            "after": measured("after", path_delay(node="a-distribution-switch-7")),
        }
        for when, measurement in sides.items():
            with store.stage(run, f"measure-{when}", MeasurementSummary()) as summary:
                summary.measurement = artifacts.put_text(measurement.model_dump_json())
                summary.verdicts = artifacts.put_json([])
        store.set_status(run, RunStatus.KEPT)
    return run


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_table_of_hops_is_read_on_any_screen(site: Site, tab: Callable[..., Tab], size: dict[str, int]) -> None:
    person = site.person(f"vic-{size['width']}", Role.VIEWER)
    run = stored(site)
    one = tab(size)
    one.log_in(person, PASSWORD)
    one.page.goto(f"/runs/{run}")
    part(one.page, "Figures")
    origin = one.page.locator("details.origin")
    expect(one.page.get_by_text("before: not recorded by this measurement")).to_be_visible()
    expect(origin).to_have_count(1)
    origin.locator("summary").click()
    rows = origin.locator("table").first.locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(1)).to_contain_text("a-distribution-switch-7 Serial0 → b")
    expect(rows.nth(2)).to_contain_text("Whole path")
    # Every figure is on the screen without scrolling sideways.
    for box in (rows.nth(1).locator("td").nth(n).bounding_box() for n in range(5)):
        assert box is not None
        assert box["x"] + box["width"] <= size["width"]
    one.require_sound()
