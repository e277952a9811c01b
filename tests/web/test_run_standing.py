"""What the page of a run says of where it stands: its steps, how it ended and why, and what can be done."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend
from qosforge.deltaq.objective import Objective
from qosforge.deltaq.sample import Sample
from qosforge.deltaq.verdict import judge
from qosforge.inventory.loader import load_network
from qosforge.reports.model import ClassVerdict
from qosforge.resources import root
from qosforge.runs.record.reason import RECOVER, Reason, retry
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.summaries import MeasurementSummary, ReadSummary, StageSummary
from qosforge.runs.record.tables import RunStatus, Verdict
from tests.web.people import Persons
from tests.web.test_runs import wait_for_approval

NETWORK = "campus"


@pytest.fixture
def run(backend: Backend) -> str:
    """A run that has only begun."""
    network = backend.artifacts.put_text(load_network(root() / "inventories" / NETWORK).model_dump_json())
    return backend.run_requests.store.create_run(NETWORK, "gold", "f" * 64, {"network": network}).id


@pytest.fixture
def headers(client: TestClient, persons: Persons) -> dict[str, str]:
    return persons.add("bob", Role.APPROVER).log_in(client)


def text(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def steps(client: TestClient, run: str) -> dict[str, str]:
    """The state of each step, by its name."""
    page = client.get(f"/runs/{run}/progress").text
    return {name: state for state, name in re.findall(r'class="step (\w+)".*?class="name">([^<]+)<', page, re.S)}


def roll_back(backend: Backend, run: str) -> None:
    """Let it be rolled back for a delay of 177 ms where 30 ms are asked for."""
    store, put = backend.run_requests.store, backend.artifacts.put_json
    objective = Objective(delay={"p95": 0.03})
    generator = np.random.default_rng(1)
    seen = Sample.of_delays(*(177e9 * generator.uniform(0.9, 1.1, 2_000) for _ in range(8)), independent=True)
    verdict = judge(objective, seen, evidence="emulated")
    of = {"scenario": "one", "traffic_class": "voice", "path": "a→b"}
    with store.stage(run, "measure-after", MeasurementSummary()) as summary:
        told = ClassVerdict(**of, objective=objective, verdict=verdict)
        summary.verdicts = put([told.model_dump(mode="json")])
    with store.stage(run, "rollback", StageSummary()):
        pass
    why = Reason("after the push the objectives are not met", "measure-after", "change the policy")
    store.set_status(run, RunStatus.ROLLED_BACK, Verdict.BROKEN, reason=why)


def test_an_approval_is_not_forgotten_while_the_devices_are_read_again(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    store = backend.run_requests.store
    store.set_status(run, RunStatus.RUNNING)
    candidate = wait_for_approval(backend, run)
    assert steps(client, run)["Approve"] == "waiting"
    assert client.post(f"/runs/{run}/approve", data={"candidate": candidate}, headers=headers).status_code == 204
    store.begin_stage(run, "read")
    assert steps(client, run)["Approve"] == "done"
    page = text(client.get(f"/runs/{run}?tab=events").text)
    assert "attempt" not in page
    assert "2 steps before the approval" in page


def test_a_run_that_was_tried_again_says_so(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    backend.run_requests.store.set_status(run, RunStatus.RUNNING)
    candidate = wait_for_approval(backend, run)
    client.post(f"/runs/{run}/approve", data={"candidate": candidate}, headers=headers)
    client.post(f"/runs/{run}/cancel", headers=headers)
    assert client.post(f"/runs/{run}/retry", data={"start": "read"}, headers=headers).status_code == 204
    backend.run_requests.store.begin_stage(run, "read")
    page = text(client.get(f"/runs/{run}?tab=events").text)
    assert page.count("attempt 3") == 2  # in the head, and at the steps
    assert "2 steps of earlier attempts" in page


def test_broken_objectives_are_seen_at_the_step_that_showed_them(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    roll_back(backend, run)
    assert steps(client, run)["Measure after"] == "failed"
    assert steps(client, run)["Roll back"] == "done"
    page = client.get(f"/runs/{run}").text
    assert re.search(r'aria-current="page"[^>]*>\s*Objectives', page)
    progress = text(client.get(f"/runs/{run}/progress").text)
    assert "Evidence: emulated (simulated)" in progress
    assert "Step Measure after the change" in progress
    assert progress.count("voice a→b: delay p95 is ") == 1


def test_a_rollback_that_was_done_in_the_end_did_not_fail(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    store = backend.run_requests.store
    refused = StepError(device="e300", message="the table is full")
    with store.stage(run, "rollback", StageSummary(errors=[refused])):
        pass
    assert steps(client, run)["Roll back"] == "failed"
    with store.stage(run, "rollback", StageSummary()):
        pass
    assert steps(client, run)["Roll back"] == "done"


def test_a_device_between_two_states_is_named_with_what_comes_next(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    why = Reason("the table is full", "rollback", RECOVER, "e300")
    backend.run_requests.store.set_status(run, RunStatus.NEEDS_RECOVERY, reason=why)
    said = text(client.get(f"/runs/{run}/progress").text)
    assert "e300 stands between two states" in said
    assert "The service brings it back by itself" in said
    assert "1 reason the table is full" in said
    assert "qosforge recover" not in said


def test_the_way_on_names_a_button_of_the_page_not_a_command(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    refused = StepError(device="r1", message="cannot be reached")
    with backend.run_requests.store.stage(run, "read", ReadSummary(running={}, errors=[refused])):
        pass
    why = Reason("r1 cannot be reached", "read", retry(run), "r1")
    backend.run_requests.store.set_status(run, RunStatus.FAILED, reason=why)
    said = text(client.get(f"/runs/{run}").text)
    assert "“Try again” begins it again" in said
    assert "qosforge retry" not in said
