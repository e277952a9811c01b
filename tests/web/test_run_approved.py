"""What the page of a run says from its approval until it pushes: its devices are read and checked again first."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend
from qosforge.inventory.loader import load_network
from qosforge.resources import root
from qosforge.runs.record.summaries import PredictionSummary, ReadSummary
from qosforge.runs.record.tables import RunStatus
from tests.web.people import Persons
from tests.web.test_run_standing import measure, text
from tests.web.test_runs import wait_for_approval

NETWORK = "infn-fnal"
BROKEN = "✘ Predicted: 1 objective broken. By the keep rule the change would be rolled back once it is measured."


@pytest.fixture
def approved(client: TestClient, backend: Backend, persons: Persons) -> str:
    """A run that bob approved, although an objective is predicted to be broken."""
    headers = persons.add("bob", Role.APPROVER).log_in(client)
    network = backend.artifacts.put_text(load_network(root() / "inventories" / NETWORK).model_dump_json())
    resolved = {"network": network, "measure": True, "keep": "met"}
    store = backend.run_requests.store
    run = store.create_run(NETWORK, "gold", "f" * 64, resolved).id
    store.set_status(run, RunStatus.RUNNING)
    measure(backend, run, "predict", summary_of=PredictionSummary)
    asked = {"candidate": wait_for_approval(backend, run), "comment": "a test"}
    assert client.post(f"/runs/{run}/approve", data=asked, headers=headers).status_code == 204
    return run


def test_an_approved_run_says_so_while_it_reads_again(client: TestClient, backend: Backend, approved: str) -> None:
    store = backend.run_requests.store
    head = text(client.get(f"/runs/{approved}/progress").text)
    assert "bob approved it. It goes on as soon as a process is free." in head
    store.set_status(approved, RunStatus.RUNNING)
    head = text(client.get(f"/runs/{approved}/progress").text)
    assert "bob approved it. What the devices hold is read and checked again before anything is entered." in head
    with store.stage(approved, "read", ReadSummary(asked=["r1", "r2"])):
        store.events.device(approved, "r1", "read")
        head = text(client.get(f"/runs/{approved}/progress").text)
        assert "bob approved it. Reading again what every device holds: 1 of 2 devices." in head
        assert "● Read again : under way" in head
    store.begin_stage(approved, "measure-before")
    head = text(client.get(f"/runs/{approved}/progress").text)
    assert "approved it" not in head
    assert "Measuring what each class gets before the change" in head


def test_what_was_approved_is_shown_until_the_run_goes_on(
    client: TestClient, backend: Backend, approved: str
) -> None:
    store = backend.run_requests.store
    store.set_status(approved, RunStatus.RUNNING)
    store.begin_stage(approved, "read")
    assert BROKEN in text(client.get(f"/runs/{approved}/progress").text)
    page = client.get(f"/runs/{approved}/standing?tab=changes").text
    assert re.search(r"voice .*✘ predicted: 0 of 1 met", text(page))
    assert "What would change 1 device" in text(page)
    assert "policy-map new" in page
    assert re.search(r'Objectives <span class="count">1<', page)
    assert re.search(r'Changes <span class="count">1<', page)


def test_the_prediction_counts_until_it_is_measured(client: TestClient, backend: Backend, approved: str) -> None:
    store = backend.run_requests.store
    store.set_status(approved, RunStatus.RUNNING)
    measure(backend, approved, "predict", summary_of=PredictionSummary)
    store.begin_stage(approved, "push")
    assert BROKEN in text(client.get(f"/runs/{approved}/progress").text)
    measure(backend, approved, "measure-after")
    assert "Predicted: 1 objective broken" not in text(client.get(f"/runs/{approved}/progress").text)


def test_the_head_of_a_run_brings_the_rest_of_the_page_where_that_changed(
    client: TestClient, backend: Backend, approved: str
) -> None:
    address = f"/runs/{approved}/progress"
    (shown,) = re.findall(r'id="standing-state" data-key="([^"]+)"', client.get(f"/runs/{approved}").text)
    assert 'id="standing"' not in client.get(address, params={"standing": shown}).text
    backend.run_requests.store.set_status(approved, RunStatus.RUNNING)
    brought = client.get(address, params={"standing": shown, "tab": "findings"}).text
    assert '<div id="standing" hx-swap-oob="innerHTML">' in brought
    assert re.search(r'<a href="\?tab=findings#tabs" aria-current="page">', brought)
    assert 'id="standing"' not in client.get(address).text  # it is the page's own script that asks for it
