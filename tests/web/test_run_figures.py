"""Figures on the page of a run: drawn once, kept with the run, and tried again where that failed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend, open_backend
from qosforge.artifacts.store import open_artifacts
from qosforge.compute import Compute, TookTooLong
from qosforge.inventory.loader import load_network
from qosforge.operations.references import expired, references
from qosforge.resources import root
from qosforge.runs.record.events import EventKind
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import MeasurementSummary
from qosforge.runs.record.tables import RunStatus, Verdict
from qosforge.settings import Settings
from qosforge.tester.measurement.document import FlowResult, Measurement, ScenarioResult, When
from tests.reports.origins import MS, measured
from tests.web.browser import PHONE, Tab
from tests.web.conftest import Site
from tests.web.people import PASSWORD, Persons
from tests.web.recorded import waiting_run
from tests.web.test_run_standing import measure

PLOT = '<figure class="plot"'


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[Backend]:
    """A service whose requests may take long: the first figure waits for the process that draws it."""
    with open_backend(Settings(var_dir=tmp_path / "var", compute_processes=1, request_seconds=300)) as made:
        yield made


@pytest.fixture
def run(backend: Backend, persons: Persons, client: TestClient) -> str:
    """A run that was measured after its change; a viewer looks on."""
    persons.add("vic", Role.VIEWER, "campus").log_in(client)
    store, put = backend.run_requests.store, backend.artifacts.put_text
    network = put(load_network(root() / "inventories" / "campus").model_dump_json())
    made = store.create_run("campus", "campus-collaboration", "f" * 64, {"network": network})
    for side in ("before", "after"):
        with store.stage(made.id, f"measure-{side}", MeasurementSummary()) as summary:
            summary.measurement = put(measured(side, recorded=False).model_dump_json())
            summary.verdicts = backend.artifacts.put_json([])
    store.set_status(made.id, RunStatus.KEPT)
    return made.id


def test_figures_are_drawn_once_and_kept_with_the_run(
    backend: Backend, client: TestClient, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = client.get(f"/runs/{run}?tab=figures").text
    assert "drawn once and kept with the run" in page
    assert f'hx-get="/runs/{run}/figures?tab=figures"' in page
    told = client.get(f"/runs/{run}/figures?tab=figures").text
    assert PLOT in told, told

    def never(*_: object, **__: object) -> None:
        raise AssertionError("drawn again")

    monkeypatch.setattr(Compute, "call", never)
    for address in (f"/runs/{run}?tab=figures", f"/runs/{run}/figures"):
        assert PLOT in client.get(address).text
    (drawn,) = backend.run_requests.store.events.newest(run, 9, EventKind.FIGURES)
    kept = backend.database.query(
        lambda connection: {each.artifact for each in references(connection, expired(connection)).values()}
    )
    assert drawn.data["artifact"] in kept  # by backups and by retention


def test_a_run_opens_at_its_objectives_until_its_figures_are_drawn(
    backend: Backend, client: TestClient, persons: Persons
) -> None:
    persons.add("vic", Role.VIEWER, "campus").log_in(client)
    store, put = backend.run_requests.store, backend.artifacts.put_text
    network = put(load_network(root() / "inventories" / "campus").model_dump_json())
    run = store.create_run("campus", "campus-collaboration", "f" * 64, {"network": network}).id
    measure(backend, run, "measure-after", 10, measurement=put(carried("after", 400, 500).model_dump_json()))
    store.set_status(run, RunStatus.KEPT, Verdict.MET)

    def opens() -> tuple[str, str]:
        page = client.get(f"/runs/{run}").text
        return re.findall(r'href="\?tab=(\w+)[^"]*" aria-current="page"', page)[0], page

    tab, page = opens()
    assert tab == "objectives"
    (ask,) = re.findall(r'hx-get="([^"]+brief=yes)" hx-trigger="load"', page)
    assert "The figures are being drawn" in page
    drawn = client.get(ask).text
    assert drawn.strip() == "", "the tab says it"
    tab, page = opens()
    assert tab == "figures"
    assert PLOT in page
    assert "brief=yes" not in client.get(f"/runs/{run}?tab=objectives").text


def carried(when: When, voice_kbps: int, rest_kbps: int) -> Measurement:
    """Two classes on a path; of one it is known when each packet arrived."""
    flows = tuple(
        FlowResult(
            name=name,
            traffic_class=name,
            path="a→b",
            sent=9,
            delivered=9,
            lost=0,
            mean_delay_ps=MS,
            throughput_bps=kbps * 1000,
            histogram=((MS, 9),) if name == "voice" else (),
        )
        for name, kbps in (("voice", voice_kbps), ("rest", rest_kbps))
    )
    scenario = ScenarioResult(name="calls", title="Calls", flows=flows)
    return Measurement(
        when=when, evidence="emulated", tester="twin", seed=1, delay_reference="x", scenarios=(scenario,)
    )


def test_figures_are_in_a_list_for_phones_and_trade_offs_in_rows(
    backend: Backend, client: TestClient, persons: Persons
) -> None:
    persons.add("vic", Role.VIEWER, "campus").log_in(client)
    store, put = backend.run_requests.store, backend.artifacts.put_text
    network = put(load_network(root() / "inventories" / "campus").model_dump_json())
    made = store.create_run("campus", "campus-collaboration", "f" * 64, {"network": network})
    for measurement in (carried("before", 200, 800), carried("after", 400, 500)):
        with store.stage(made.id, f"measure-{measurement.when}", MeasurementSummary()) as summary:
            summary.measurement = put(measurement.model_dump_json())
            summary.verdicts = backend.artifacts.put_json([])
    store.set_status(made.id, RunStatus.KEPT)
    page = client.get(f"/runs/{made.id}?tab=figures&draw=now").text
    assert "The hatched area" not in page  # nothing is asked of these
    offered = re.findall(r'<option value="(figure-\d+)"( selected)?>([^<]+)', page)
    assert offered == [("figure-1", " selected", "All classes"), ("figure-2", "", "voice, a→b")]
    assert 'value="figure-2" selected' in client.get(f"/runs/{made.id}?tab=figures&figure=figure-2").text
    (row,) = re.findall(r'<th scope="row">Throughput</th>(.*?)</tr>', page, re.S)
    cells = [" ".join(re.sub("<[^>]+>", "", cell).split()) for cell in re.findall("<td.*?</td>", row, re.S)]
    assert cells == ["voice 200 kb/s more", "rest 300 kb/s less"]


def test_a_failure_is_told_and_can_be_tried_again(
    client: TestClient, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(*_: object, **__: object) -> None:
        raise TookTooLong("it took longer than 30 s", hint="ask again")

    with monkeypatch.context() as patched:
        patched.setattr(Compute, "call", slow)
        answer = client.get(f"/runs/{run}/figures", headers={"HX-Request": "true"})
        assert answer.status_code == 200
        assert "could not be drawn: it took longer than 30 s" in " ".join(answer.text.split())
        assert "Try again" in answer.text
        without_scripts = client.get(f"/runs/{run}?tab=figures&draw=now").text
        assert "could not be drawn" in without_scripts
    assert PLOT in client.get(f"/runs/{run}?tab=figures&draw=now").text


def test_a_scenario_that_is_not_there_has_no_figures(client: TestClient, run: str) -> None:
    assert "the run measured no such scenario" in client.get(f"/runs/{run}/figures?scenario=none").text


def test_on_a_phone_another_figure_is_chosen_from_a_list(site: Site, tab: Callable[..., Tab]) -> None:
    person = site.person("fay", Role.VIEWER)
    with RunStore(site.settings.database_url) as store:
        artifacts = open_artifacts(site.settings, store.database)
        network = artifacts.put_text(load_network(root() / "inventories" / "campus").model_dump_json())
        run = waiting_run(store, "campus", "campus-collaboration", {"network": network})
        with store.stage(run, "measure-after", MeasurementSummary()) as summary:
            summary.measurement = artifacts.put_text(carried("after", 400, 500).model_dump_json())
            summary.verdicts = artifacts.put_json([])
        store.set_status(run, RunStatus.KEPT)
    one = tab(PHONE)
    one.log_in(person, PASSWORD)
    one.page.goto(f"/runs/{run}?tab=figures&draw=now")
    one.page.get_by_label("Shown").select_option("voice, a→b")
    expect(one.page.locator("figcaption")).to_have_text("Calls: voice, a→b")
    assert one.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    one.require_sound()
