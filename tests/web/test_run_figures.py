"""Figures on the page of a run: drawn once, kept with the run, and tried again where that failed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend, open_backend
from qosforge.compute import Compute, TookTooLong
from qosforge.inventory.loader import load_network
from qosforge.operations.references import expired, references
from qosforge.resources import root
from qosforge.runs.record.events import EventKind
from qosforge.runs.record.summaries import MeasurementSummary
from qosforge.runs.record.tables import RunStatus
from qosforge.settings import Settings
from tests.reports.origins import measured
from tests.web.people import Persons

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
