"""The form of a run beside one that is under way, in a browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from qosforge.access.roles import Role
from qosforge.runs.record.reason import RECOVER, Reason
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import RunStatus
from tests.web.addresses import addresses
from tests.web.browser import Tab
from tests.web.conftest import PASSWORD, Site

LONG_MS = 180_000
"""The first compilation of a service, on a busy machine."""


@pytest.fixture
def site(idle_site: Site) -> Site:
    """A service that leaves the run as it is."""
    return idle_site


def test_a_run_that_would_wait_for_another_says_so(site: Site, tab: Callable[..., Tab]) -> None:
    with RunStore(site.settings.database_url) as store:
        first = store.create_run("campus", "gold", "e" * 64, {}).id
        store.set_status(first, RunStatus.RUNNING)
        store.leases.acquire(first, ["r1"], 1800)
    one = tab()
    one.log_in(site.person("ann", Role.OPERATOR), PASSWORD)
    page = one.page
    with addresses(site.settings, "campus"):
        page.goto("/runs/new?network=campus&policy=campus-collaboration")
        expect(page.locator("#other-runs")).to_contain_text("gold is under way.")
        would = page.locator("#start-run-why .would")
        expect(would).to_contain_text("it begins after gold on campus, which holds its devices", timeout=LONG_MS)
        expect(page.locator("#start-run")).to_be_enabled()
        one.require_sound()
        with RunStore(site.settings.database_url) as store:
            store.leases.release(first)
            store.set_status(first, RunStatus.CANCELLED, reason=Reason("stopped", "push", RECOVER))
        page.reload()
        expect(would).to_contain_text("would", timeout=LONG_MS)
        expect(would).not_to_contain_text("it begins after")
        expect(page.locator("#other-runs")).to_have_count(0)
