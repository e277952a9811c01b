"""A run that asks whether to keep what is not shown to be met, in browsers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import numpy as np
import pytest
from playwright.sync_api import expect

from qosforge.access.roles import Role
from qosforge.artifacts.store import open_artifacts
from qosforge.deltaq.difference import differences
from qosforge.deltaq.objective import Objective
from qosforge.deltaq.sample import Sample
from qosforge.deltaq.verdict import judge
from qosforge.inventory.loader import load_network
from qosforge.resources import root
from qosforge.runs.record.status_events import ASKS
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import CompareSummary, MeasurementSummary
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.workflow.steps.compare import STAGE
from qosforge.tester.measurement.changes import ClassChange
from qosforge.tester.measurement.document import Side
from qosforge.tester.measurement.judging import ClassVerdict
from tests.reports.origins import measured
from tests.web.browser import DESKTOP, PHONE, Tab
from tests.web.conftest import Site
from tests.web.people import PASSWORD

OBJECTIVE = Objective(delay={"p95": 0.03}, loss=0.01)
PLACE = {"scenario": "layer-3", "traffic_class": "voice-video", "path": "vigo1→vigo2"}


@pytest.fixture
def site(idle_site: Site) -> Site:
    """A service that leaves the run as it is."""
    return idle_site


def sample(mean_ms: float, seed: int) -> Sample:
    generator = np.random.default_rng(seed)
    parts = (mean_ms * 1e9 * generator.uniform(0.9, 1.1, 2_000) for _ in range(8))
    return Sample.of_delays(*parts, independent=True)


def asking(site: Site) -> str:
    """A run whose change is better than what was, and not good enough."""
    network = load_network(root() / "inventories" / "campus")
    before, after = sample(177, 1), sample(72, 1)
    bounds = differences(OBJECTIVE, before, after, confidence=0.975, paired=True)
    change = ClassChange(**PLACE, confidence=0.975, bounds=bounds)
    with RunStore(site.settings.database_url) as store:
        artifacts = open_artifacts(site.settings, store.database)
        params = {"network": artifacts.put_text(network.model_dump_json()), "keep": "ask"}
        run = store.create_run("campus", "campus-collaboration", "f" * 64, params)
        store.set_status(run.id, RunStatus.RUNNING)
        sides: tuple[tuple[Side, Sample], ...] = (("before", before), ("after", after))
        for side, seen in sides:
            verdict = judge(OBJECTIVE, seen, evidence="emulated")
            told = ClassVerdict(**PLACE, objective=OBJECTIVE, verdict=verdict)
            with store.stage(run.id, f"measure-{side}", MeasurementSummary()) as summary:
                summary.measurement = artifacts.put_text(measured(side, recorded=False).model_dump_json())
                summary.verdicts = artifacts.put_json([told.model_dump(mode="json")])
        with store.stage(run.id, STAGE, CompareSummary()) as summary:
            summary.changes = artifacts.put_json([change.model_dump(mode="json")])
            summary.question = artifacts.put_json({"run": run.id})
        due = store.now() + timedelta(minutes=9)
        store.change(run.id, lambda _run, _connection: {"waits_for": ASKS, "due": due})
    return run.id


@pytest.mark.parametrize(
    ("size", "button", "approved"), [(DESKTOP, "Keep it", True), (PHONE, "Roll it back", False)]
)
def test_an_approver_says_whether_it_is_kept(
    site: Site, tab: Callable[..., Tab], size: dict[str, int], button: str, approved: bool
) -> None:
    person = site.person(f"kay-{size['width']}", Role.APPROVER)
    run = asking(site)
    one = tab(size)
    one.log_in(person, PASSWORD)
    one.page.goto(f"/runs/{run}")
    card = one.page.locator("section.decide")
    expect(card).to_contain_text("voice-video vigo1→vigo2: delay p95 is 78.48 ms, requested is at most 30 ms")
    expect(card).to_contain_text("Without an answer it is rolled back")
    row = one.page.locator("table.verdicts tbody tr").first
    expect(row).to_contain_text("better: −1")
    card.get_by_role("button", name=button).click()
    expect(one.page.get_by_role("heading", name="Decisions")).to_be_visible()
    with RunStore(site.settings.database_url) as store:
        (decision,) = store.decisions.on(run)
    assert (decision.approved, decision.by) == (approved, person)
    one.require_sound()


def test_who_is_no_approver_is_reported_so(site: Site, tab: Callable[..., Tab]) -> None:
    person = site.person("opal", Role.OPERATOR)
    run = asking(site)
    one = tab(DESKTOP)
    one.log_in(person, PASSWORD)
    one.page.goto(f"/runs/{run}")
    card = one.page.locator("section.decide")
    expect(card).to_contain_text("takes an approver of network campus")
    expect(card.get_by_role("button")).to_have_count(0)
