"""What the first page says needs somebody, and what every network holds: why, in numbers, and where it leads."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend
from qosforge.errors import Place
from qosforge.note import note
from qosforge.prediction.record import SimulatedTime
from qosforge.runs.record.readings import write_readings
from qosforge.runs.record.reason import RECOVER, Reason, settle_first
from qosforge.runs.record.resolved_run import ROLLBACK_OF
from qosforge.runs.record.summaries import MeasurementSummary, PredictionSummary, ValidateSummary
from qosforge.runs.record.tables import RUNS, JournalAction, RunStatus, Verdict
from qosforge.tester.measurement.document import FlowResult, Measurement, ScenarioResult
from qosforge.web import documentation as site_documentation
from tests.web.people import Persons
from tests.web.recorded import record
from tests.web.test_home import _card, _run, _watch
from tests.web.test_run_standing import measure, roll_back, text
from tests.web.test_runs import wait_for_approval


def _page(client: TestClient) -> str:
    answer = client.get("/")
    assert answer.status_code == 200, answer.text
    return answer.text


def _rows(client: TestClient) -> list[str]:
    """The rows of what needs attention, with their markup."""
    listed = _page(client).partition('class="waits"')[2].partition("</ul>")[0]
    return re.findall(r"<li class.*?</li>", listed, re.DOTALL)


def _blue(client: TestClient) -> list[str]:
    return re.findall(r'class="button primary"[^>]*href="([^"]*)"', _page(client))


def _half_way(backend: Backend, device: str, network: str = "campus") -> str:
    store = backend.run_requests.store
    run = store.create_run(network, "impossible", "0" * 64, {}).id
    store.journal.append(run, device, JournalAction.TOUCHING)
    store.set_status(run, RunStatus.NEEDS_RECOVERY, reason=Reason("the line is down", "rollback", RECOVER, device))
    return run


def test_drift_of_a_device_between_two_states_is_told_with_its_run(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)
    _run(backend, "campus", RunStatus.KEPT, Verdict.MET)
    run = _half_way(backend, "e300")
    _watch(backend, "campus", drifted={"e300": {"count": 2, "digest": "d"}})
    (row,) = _rows(client)
    assert "e300 stands between two states; the service brings it back by itself" in text(row)
    assert _blue(client) == [f"/runs/{run}"], "a new run cannot start"
    card = _page(client).partition('aria-labelledby="net-campus"')[2].partition("</article>")[0]
    assert "Open the run" in card
    assert "New run" not in card
    backend.run_requests.store.journal.append(run, "s2950", JournalAction.TOUCHING)
    assert "e300, s2950 stand between two states; the service brings them back" in text(_rows(client)[0])
    _watch(backend, "itesm", drifted={"r1": {"count": 1, "digest": "d"}})
    assert len(_rows(client)) == 2, "what is no part of it is told apart"
    assert _blue(client) == [f"/runs/{run}"]


def test_a_run_that_broke_objectives_says_how_many_and_how_far(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)
    store = backend.run_requests.store
    run = store.create_run("campus", "impossible", "0" * 64, {}).id
    roll_back(backend, run)
    (row,) = _rows(client)
    told = text(row)
    assert re.search(
        r"the objective is not met: delay p95 19[\d.]+ ms, at most 30 ms; the devices are as they were", told
    )
    assert "It goes from this list with the next run on campus that ends well." in told
    assert f'href="/runs/{run}"' in row.partition('class="when"')[2], "there is a button"
    stands = store.create_run("campus", "impossible", "0" * 64, {}).id
    for delay_ms, stage in (
        (10, "measure-before-look-2"),
        (177, "measure-before-look-3"),
        (60, "measure-before-look-4"),
    ):
        measure(backend, stands, stage, delay_ms)
    verdicts = [
        each
        for stage in store.stages(stands)
        if isinstance(stage.summary, MeasurementSummary)
        for each in backend.artifacts.get_json(stage.summary.verdicts)
    ]
    with store.stage(stands, "measure-before-look-5", MeasurementSummary()) as summary:
        summary.verdicts = backend.artifacts.put_json(verdicts)
    store.set_status(stands, RunStatus.NO_CHANGES, verdict=Verdict.BROKEN)
    (row,) = _rows(client)
    assert re.search(
        r"2 of 3 objectives are not met; worst: delay p95 19[\d.]+ ms, at most 30 ms;"
        r" the devices hold it all the same\.",
        text(row),
    )
    assert "✘ broken 1 of 3 met, 2 broken" in _card(_page(client), "campus")


def test_a_run_that_waits_for_another_names_it_by_its_policy(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)
    store = backend.run_requests.store
    left = _half_way(backend, "e300")
    failed = store.create_run("campus", "gold", "0" * 64, {}).id
    why = Reason(f"run {left} left e300 between two states", "lock", settle_first(left), "e300")
    store.set_status(failed, RunStatus.FAILED, reason=why)
    row = next(row for row in _rows(client) if f'id="to-{failed}"' in row)
    assert f"run impossible, {left[:13]} left e300 between two states." in text(row)
    assert f'<a href="/runs/{left}">impossible, {left[:13]}</a>' in row
    assert left not in text(row), "the whole id helps nobody"
    elsewhere = _run(backend, "itesm", RunStatus.KEPT)
    why = Reason(f"run {elsewhere} holds r1", "lock", "wait for it")
    store.set_status(store.create_run("campus", "gold", "0" * 64, {}).id, RunStatus.FAILED, reason=why)
    assert f'href="/runs/{elsewhere}"' not in "".join(_rows(client)), "a run of another network is no link"


def test_a_network_says_which_policy_is_in_force_or_why_none_is(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)
    store = backend.run_requests.store

    def in_force() -> str:
        return _card(_page(client), "campus").partition("In force ")[2].partition(" Last run")[0]

    _run(backend, "campus", RunStatus.FAILED)
    assert in_force() == "none: no run was kept yet"
    kept = _run(backend, "campus", RunStatus.KEPT)
    at = f"{store.get_run(kept).updated:%Y-%m-%d %H:%M}"
    assert in_force().startswith(f"gold since {at}")
    _run(backend, "campus", RunStatus.ROLLED_BACK, policy="impossible")
    assert in_force().startswith("gold since")
    back = store.create_run("campus", "gold", "0" * 64, {ROLLBACK_OF: kept}).id
    by_ann = sa.update(RUNS).where(RUNS.c.id == back).values(requested_by="ann")
    backend.database.transact(lambda connection: connection.execute(by_ann))
    assert in_force().startswith("gold since"), "a rollback that only begins takes nothing away"
    store.set_status(back, RunStatus.KEPT)
    assert in_force().startswith("none: gold was rolled back by ann ,")
    assert f'id="net-policy-campus" href="/runs/{back}"' in _page(client)


def test_what_is_in_force_is_found_behind_any_number_of_runs_that_changed_nothing(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)
    store = backend.run_requests.store
    first = store.get_run(_run(backend, "campus", RunStatus.KEPT)).updated
    for _ in range(30):
        _run(backend, "campus", RunStatus.NO_CHANGES)
    for _ in range(30):
        _run(backend, "campus", RunStatus.CANCELLED)
    page = _page(client)
    told = re.search(r'id="net-policy-campus"[^>]*>gold</a> since\s+<time datetime="([^"]+)"', page)
    assert told is not None
    assert abs(datetime.fromisoformat(told[1]) - first) < timedelta(seconds=1), "since it was entered"


def test_a_network_stays_healthy_while_its_devices_are_compared(
    client: TestClient, persons: Persons, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    persons.add("ann", Role.VIEWER).log_in(client)

    def nothing(*_of: object) -> None:
        """The comparison never comes to its end."""

    monkeypatch.setattr(type(backend.summaries), "_make_later", nothing)
    store = backend.run_requests.store
    record(store, backend.artifacts, "campus", {"s2950": "hostname s2950\n"}, RunStatus.KEPT)
    card = _card(_page(client), "campus")
    assert "✔ healthy" in card
    assert "being compared" in card
    other = {"s2950": backend.artifacts.put_text("hostname s2950\n!\n")}
    backend.database.transact(lambda connection: write_readings(connection, "campus", other, datetime.now(UTC)))
    assert "? being compared" in _card(_page(client), "campus"), "it was read since, and differs: nobody knows how"


def test_the_next_step_is_the_only_blue_one(client: TestClient, persons: Persons, backend: Backend) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)
    assert _blue(client) == ["/networks"], "to read the devices"
    assert _page(client).count('aria-current="step"') == 1
    at = datetime.now(UTC)
    read = {"s2950": backend.artifacts.put_text("hostname s2950\n")}
    backend.database.transact(lambda connection: write_readings(connection, "campus", read, at))
    assert _blue(client) == ["/policies"]
    run = _run(backend, "campus", RunStatus.NEEDS_APPROVAL)
    assert _blue(client) == ["/runs/new"]
    persons.add("bob", Role.APPROVER).log_in(client)
    assert _blue(client) == [f"/runs/{run}"]
    persons.add("vic", Role.VIEWER).log_in(client)
    assert _blue(client) == []


def test_a_run_that_waits_says_what_is_predicted_of_it(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)
    run = backend.run_requests.store.create_run("campus", "gold", "0" * 64, {}).id
    measure(backend, run, "predict", 30 / 1.09, PredictionSummary)  # its 95th percentile is the bound
    wait_for_approval(backend, run)
    (row,) = _rows(client)
    assert "Predicted: 0 of 1 met, 1 inconclusive. It waits for an approver." in text(row)
    assert 'class="is-warn"' in row


def test_a_rejected_run_says_how_many_errors_there_are_and_where(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)
    store = backend.run_requests.store
    run = store.create_run("campus", "gold", "0" * 64, {}).id
    found = [
        note("interface-missing", Place(device=name, interface="Gi0/9"), name="Gi0/9")
        for name in ("s2950", "s2970")
    ]
    found.append(note("voice-vlan-missing", Place(device="ers5510")))
    kept = backend.artifacts.put_json([finding.model_dump(mode="json") for finding in found])
    with store.stage(run, "validate", ValidateSummary(findings=kept, refused=True)):
        pass
    store.set_status(run, RunStatus.REJECTED, reason=Reason("errors stand against it", "validate", RECOVER))
    (row,) = _rows(client)
    assert "2 errors on s2950, s2970, ers5510; the first: s2950" in text(row)


def test_a_run_that_waits_says_what_is_left_to_it_and_which_class_would_lose_much(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)
    put = backend.artifacts.put_text
    classes = (
        "  - {name: voice, match: {any: [{dscp: ef}]}, objective: {delay: {p95: 30 ms}}}\n  - {name: default}\n"
    )
    policy = f"version: 1\nintent: gold\napply: [{{interfaces: lan, direction: output}}]\nclasses:\n{classes}"
    of = {"intent_text": put(policy), "intent_file": "gold.yaml"}
    run = backend.run_requests.store.create_run("campus", "gold", "0" * 64, of).id
    flow = FlowResult(name="a", traffic_class="default", path="a→b", sent=500, delivered=90, lost=410)
    measured = Measurement(
        when="predicted",
        evidence="predicted",
        tester="twin",
        seed=1,
        delay_reference="x",
        scenarios=(ScenarioResult(name="one", title="one", flows=(flow,)),),
    )
    simulated = partial(PredictionSummary, simulated=(SimulatedTime("one", 60, 180),), findings=())
    near = 30 / 1.09  # its 95th percentile is the bound
    measure(backend, run, "predict", near, simulated, measurement=put(measured.model_dump_json()))
    wait_for_approval(backend, run)
    (row,) = _rows(client)
    assert "Predicted: 0 of 1 met, 1 left to the run. ▲ default would lose 82 % It waits" in text(row)


def test_the_first_steps_lead_to_the_documentation_where_there_is_one(
    client: TestClient, persons: Persons, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    persons.add("ann", Role.OPERATOR).log_in(client)
    for page in ("", "first-hour"):
        (tmp_path / page).mkdir(exist_ok=True)
        (tmp_path / page / "index.html").write_text("<p>how</p>")
    monkeypatch.setattr(site_documentation, "FOLDER", tmp_path)
    page = _page(client)
    assert '<a href="/docs/first-hour/">The first hour, step by step</a>' in page
    assert '<a href="/docs/">Documentation</a>' in page
