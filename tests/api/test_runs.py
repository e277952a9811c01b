"""Runs over HTTP: asked for once, listed in pages, decided on by who may."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from qosforge.access.audit_log import calls_page
from qosforge.access.roles import Role
from qosforge.api.backend import Backend
from qosforge.policy_library.versions import shipped
from qosforge.runs.record.interruption import put_back
from qosforge.runs.record.reason import NOT_MET, RECOVER, Reason, half_way
from qosforge.runs.record.summaries import (
    PlannedWave,
    PredictionSummary,
    PrepareSummary,
    PushSummary,
    RolloutSummary,
)
from qosforge.runs.record.tables import RunStatus, Verdict
from qosforge.settings import Settings
from tests.api.conftest import Headers, People

RUNS = "/api/v1/runs"
BODY: dict[str, Any] = {"network": "campus", "policy": {"name": "campus-collaboration"}}

Place = Callable[..., dict[str, Any]]


@pytest.fixture
def ann(people: People) -> Headers:
    """An operator of one network."""
    return people.headers("ann", Role.OPERATOR, "campus")


@pytest.fixture
def place(client: TestClient, ann: Headers) -> Place:
    def ask(**body: Any) -> dict[str, Any]:
        answer = client.post(RUNS, json=BODY | body, headers=ann)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    return ask


def problem(answer: Any, status: int) -> str:
    """What the problem of an answer says in words; it has the status, and is a problem."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    told: dict[str, Any] = answer.json()
    assert told["status"] == status
    return " ".join([told["detail"], *(f"{each['message']} {each['hint']}" for each in told["errors"])])


def test_a_run_is_recorded_with_who_asked_for_it_and_why(
    client: TestClient, ann: Headers, backend: Backend
) -> None:
    source = {"repository": "campus/qos", "commit": "a" * 40, "path": "policies/campus.yaml"}
    later = datetime.now(UTC) + timedelta(hours=1)
    body = BODY | {
        "ticket": "CHG-12",
        "source": source,
        "not_before": later.isoformat(),
        "timeout_seconds": 600,
        "seed": 7,
        "strict": True,
        "accept_unconfirmed": True,
    }
    answer = client.post(RUNS, json=body, headers=ann)
    assert answer.status_code == 201
    run = answer.json()
    assert answer.headers["location"] == f"{RUNS}/{run['id']}"
    assert (run["status"], run["final"], run["verdict"], run["attempt"]) == ("pending", False, None, 1)
    assert (run["created_by"], run["ticket"], run["source"]) == ("ann", "CHG-12", source)
    assert datetime.fromisoformat(run["not_before"]) == later
    assert datetime.fromisoformat(run["deadline"]) == later + timedelta(minutes=10)
    recorded = backend.run_requests.run(run["id"])
    assert (recorded.params["seed"], recorded.params["strict"], recorded.params["measure"]) == (7, True, True)
    assert recorded.resolved.accept_unconfirmed
    report = client.get(f"{answer.headers['location']}/report?format=json", headers=ann).json()
    assert report["accept_unconfirmed"] is True
    assert client.get(answer.headers["location"], headers=ann).json()["id"] == run["id"]
    (call,) = calls_page(backend.database, None)
    assert (call.actor, call.network, call.resource, call.status) == ("ann", "campus", f"{RUNS}/{run['id']}", 201)
    assert call.detail == {"policy": recorded.resolved.policy_name}


def test_who_may_approve_sets_a_finding_of_batfish_aside(
    client: TestClient, ann: Headers, people: People, backend: Backend
) -> None:
    aside = {"code": "batfish-undefined-reference", "device": "r1", "text": "'web'", "reason": "it is in the image"}
    body = BODY | {"set_aside": aside}
    refused = client.post(RUNS, json=body, headers=ann)
    assert "only an approver of network campus may do this" in problem(refused, 403)
    bob = people.headers("bob", Role.APPROVER, "campus")
    run = client.post(RUNS, json=body, headers=bob)
    assert run.status_code == 201
    recorded = backend.run_requests.run(run.json()["id"]).resolved.set_aside
    assert recorded is not None
    assert recorded.model_dump() == aside | {"by": "bob"}
    told = "batfish-undefined-reference of r1 ('web'), by bob: it is in the image"
    assert client.get(run.headers["location"], headers=ann).json()["set_aside"] == told
    for wrong in ({"code": "dangling-reference"}, {"reason": ""}):
        assert "set_aside" in problem(client.post(RUNS, json=BODY | {"set_aside": aside | wrong}, headers=bob), 422)


def test_a_policy_may_be_named_or_brought(place: Place, backend: Backend) -> None:
    text = shipped("campus-collaboration").text
    named, brought = place(), place(policy={"text": text, "file": "policies/mine.yaml"})
    assert named["policy_version"] == brought["policy_version"]
    assert backend.run_requests.run(brought["id"]).params["intent_file"] == "policies/mine.yaml"
    assert place(policy={"name": "campus-collaboration", "version": 0})["policy"] == "campus-collaboration"


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"network": "campsu"}, 403, "campsu"),
        ({"policy": {"name": "nothing"}}, 404, "policy"),
        ({"policy": {"name": "campus-collaboration", "version": 9}}, 404, "version 9"),
        ({"policy": {"name": "../../etc/passwd"}}, 404, "policy"),
        ({"policy": {"text": "version: 1\nintent: [\n"}}, 422, "policy.yaml|YAML|expected"),
        ({"policy": {"text": "version: 1\nintent: x\nclasses: []\n"}}, 422, "1 class at least"),
        ({"policy": {"text": "a", "file": "/etc/passwd"}}, 422, "name of a file"),
        ({"policy": {}}, 422, "policy"),
        ({"policy": {"name": "itesm-paper"}}, 422, "judge"),
        ({"measure": False, "tester": "external"}, 422, "measure"),
        ({"seed": -1}, 422, "seed"),
        ({"timeout_seconds": 1}, 422, "timeout_seconds"),
        ({"not_before": "2026-01-01T00:00:00"}, 422, "not_before"),
        ({"ticket": "a\nb"}, 422, "ticket"),
        ({"source": {"repository": "r", "commit": "main", "path": "p"}}, 422, "commit"),
        ({"inventory": "/etc"}, 422, "inventory"),
    ],
)
def test_what_is_wrong_with_an_order_is_reported(
    client: TestClient, ann: Headers, *, body: dict[str, Any], status: int, said: str
) -> None:
    told = problem(client.post(RUNS, json=BODY | body, headers=ann), status)
    assert any(part in told for part in said.split("|"))
    assert client.get(RUNS, headers=ann).json()["runs"] == []


def test_an_operator_of_every_network_is_reported_of_an_unknown_one(client: TestClient, people: People) -> None:
    answer = client.post(RUNS, json=BODY | {"network": "campsu"}, headers=people.headers("all", Role.OPERATOR))
    assert "there is no network 'campsu'" in problem(answer, 404)


def test_one_key_makes_one_run_also_at_once(client: TestClient, ann: Headers, backend: Backend) -> None:
    key = {"Idempotency-Key": f'"{uuid.uuid4()}"'}
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: client.post(RUNS, json=BODY, headers=ann | key), range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    (made,) = {answer.json()["id"] for answer in answers}
    assert [run.id for run in backend.run_requests.store.list_runs()] == [made]
    assert {answer.headers["location"] for answer in answers} == {f"{RUNS}/{made}"}
    other = client.post(RUNS, json=BODY | {"seed": 2}, headers=ann | key)
    assert "another request" in problem(other, 422)


def test_a_key_is_its_owners(client: TestClient, ann: Headers, people: People) -> None:
    key = {"Idempotency-Key": "one"}
    bob = people.headers("bob", Role.OPERATOR)
    first, second = (client.post(RUNS, json=BODY, headers=who | key) for who in (ann, bob))
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json()["id"] != second.json()["id"]


@pytest.mark.parametrize("key", ["", '""', '"open', "two words", '"' + "x" * 256 + '"', '"a" ; b', "ä".encode()])
def test_a_key_that_cannot_be_read_is_refused(client: TestClient, ann: Headers, key: str | bytes) -> None:
    headers: Any = ann | {"Idempotency-Key": key}
    assert "idempotency" in problem(client.post(RUNS, json=BODY, headers=headers), 422).lower()


def test_quotes_around_a_key_are_no_part_of_it(client: TestClient, ann: Headers) -> None:
    bare, quoted = (
        client.post(RUNS, json=BODY, headers=ann | {"Idempotency-Key": key}) for key in ("k-1", '"k-1"')
    )
    assert (bare.status_code, quoted.status_code) == (201, 200)


@pytest.fixture
def many(backend: Backend) -> list[str]:
    """Runs of two networks, some of them over; the newest first."""
    store = backend.run_requests.store
    made = []
    for number in range(25):
        network = "campus" if number % 2 else "itesm"
        run = store.create_run(network, f"policy-{number % 3}", "0" * 64, {})
        if number % 5 == 0:
            store.set_status(run.id, RunStatus.KEPT, Verdict.MET)
        made.append(run.id)
    return made[::-1]


def pages(client: TestClient, headers: Headers, first: str) -> Iterator[list[str]]:
    """The ids of each page."""
    path: str | None = first
    while path is not None:
        answer = client.get(path, headers=headers)
        assert answer.status_code == 200, answer.text
        yield [run["id"] for run in answer.json()["runs"]]
        path = answer.json()["next"]


def test_pages_lead_through_all_runs_while_others_are_added(
    client: TestClient, people: People, backend: Backend, many: list[str]
) -> None:
    admin = people.admin()
    found: list[list[str]] = []
    for page in pages(client, admin, f"{RUNS}?limit=10"):
        found.append(page)
        backend.run_requests.store.create_run("campus", "late", "0" * 64, {})
    assert [len(page) for page in found] == [10, 10, 5]
    assert [run for page in found for run in page] == many


def test_filters_are_kept_from_page_to_page(client: TestClient, people: People, many: list[str]) -> None:
    admin = people.admin()
    found = list(pages(client, admin, f"{RUNS}?network=itesm&policy=policy-0&limit=2"))
    assert [run for page in found for run in page] == [many[24 - n] for n in (24, 18, 12, 6, 0)]
    kept = client.get(f"{RUNS}?status=kept&verdict=met", headers=admin).json()
    assert [run["id"] for run in kept["runs"]] == [many[24 - n] for n in (20, 15, 10, 5, 0)]
    assert kept["next"] is None
    assert {run["status"] for run in kept["runs"]} == {"kept"}


def test_runs_are_found_by_who_asked_and_when(
    client: TestClient, place: Place, ann: Headers, many: list[str]
) -> None:
    mine = place()
    found = client.get(RUNS, params={"created_by": "ann"}, headers=ann).json()["runs"]
    assert [run["id"] for run in found] == [mine["id"]]
    since = client.get(RUNS, params={"since": mine["created"]}, headers=ann).json()["runs"]
    assert [run["id"] for run in since] == [mine["id"]]
    until = client.get(RUNS, params={"until": mine["created"]}, headers=ann).json()["runs"]
    assert [run["id"] for run in until] == [many[24 - n] for n in range(23, 0, -2)]


def test_runs_of_unseen_networks_are_not_listed(client: TestClient, people: People, many: list[str]) -> None:
    eve = people.headers("eve", Role.VIEWER, "itesm")
    seen = client.get(f"{RUNS}?limit=200", headers=eve).json()["runs"]
    assert [run["id"] for run in seen] == many[::2]
    assert client.get(f"{RUNS}?network=campus", headers=eve).json() == {"runs": [], "next": None}


@pytest.mark.parametrize("query", ["cursor=!", "cursor=AAAA", "limit=0", "limit=201", "status=odd", "since=2026"])
def test_a_query_that_cannot_be_read_is_refused(client: TestClient, people: People, query: str) -> None:
    assert query.partition("=")[0] in problem(client.get(f"{RUNS}?{query}", headers=people.admin()), 422)


def test_a_run_that_is_not_there_is_not_found(client: TestClient, ann: Headers, place: Place) -> None:
    run = place()["id"]
    for unknown in (str(uuid.uuid4()), run[:20], "%00", "x" * 200):
        for path in ("", "/events", "/artifacts", f"/artifacts/{'0' * 64}", "/report"):
            problem(client.get(f"{RUNS}/{unknown}{path}", headers=ann), 404)
        problem(client.post(f"{RUNS}/{unknown}/cancel", headers=ann), 404)


def test_a_waiting_run_is_cancelled_at_once_and_only_once(client: TestClient, ann: Headers, place: Place) -> None:
    run = place()["id"]
    answer = client.post(f"{RUNS}/{run}/cancel", headers=ann)
    assert (answer.status_code, answer.json()["status"], answer.json()["cancelled_by"]) == (202, "cancelled", "ann")
    assert "over" in problem(client.post(f"{RUNS}/{run}/cancel", headers=ann), 409)


def test_a_running_run_is_asked_to_stop(client: TestClient, ann: Headers, place: Place, backend: Backend) -> None:
    run = place()["id"]
    backend.run_requests.store.begin_attempt(run, 1)
    answer = client.post(f"{RUNS}/{run}/cancel", headers=ann)
    assert (answer.status_code, answer.json()["status"], answer.json()["cancelled_by"]) == (202, "running", "ann")


def test_an_operator_lets_a_half_way_run_be_tried_now(
    client: TestClient, ann: Headers, place: Place, backend: Backend
) -> None:
    run, store = place()["id"], backend.run_requests.store
    assert "no device to put back" in problem(client.post(f"{RUNS}/{run}/try-now", headers=ann), 409)
    store.begin_attempt(run, 1)
    store.set_status(run, RunStatus.NEEDS_RECOVERY, reason=Reason("it was cut short", "push", RECOVER))
    answer = client.post(f"{RUNS}/{run}/try-now", headers=ann)
    assert (answer.status_code, answer.json()["status"]) == (202, "needs_recovery")
    assert store.any_to_begin()
    last = backend.run_requests.events(run)[-1]
    assert (last.kind, last.data) == ("try", {"by": "ann"})


def test_a_rollout_is_paused_and_resumed_once_each(
    client: TestClient, ann: Headers, place: Place, backend: Backend
) -> None:
    run = place()["id"]
    assert "not paused" in problem(client.post(f"{RUNS}/{run}/resume", headers=ann), 409)
    assert client.post(f"{RUNS}/{run}/pause", headers=ann).status_code == 202
    assert "paused by ann already" in problem(client.post(f"{RUNS}/{run}/pause", headers=ann), 409)
    assert client.post(f"{RUNS}/{run}/resume", headers=ann).status_code == 202
    assert client.post(f"{RUNS}/{run}/pause", headers=ann).status_code == 202
    told = [event.data for event in backend.run_requests.events(run) if event.kind == "pause"]
    assert [each["paused"] for each in told] == [True, False, True]
    client.post(f"{RUNS}/{run}/cancel", headers=ann)
    assert "over" in problem(client.post(f"{RUNS}/{run}/pause", headers=ann), 409)
    assert "not paused" in problem(client.post(f"{RUNS}/{run}/resume", headers=ann), 409)


def test_a_run_whose_last_wave_has_begun_is_not_paused(
    client: TestClient, ann: Headers, place: Place, backend: Backend
) -> None:
    run, store = place()["id"], backend.run_requests.store
    store.begin_attempt(run, 1)
    wave = PlannedWave(name="all devices", devices=["r1"], steps=[["r1"]], revert_seconds=900)
    with store.stage(run, "rollout", RolloutSummary(waves=[wave, wave])):
        pass
    with store.stage(run, "push", PushSummary(wave=1)):
        pass
    assert client.post(f"{RUNS}/{run}/pause", headers=ann).status_code == 202
    assert client.post(f"{RUNS}/{run}/resume", headers=ann).status_code == 202
    store.begin_stage(run, "push")
    assert "no wave left" in problem(client.post(f"{RUNS}/{run}/pause", headers=ann), 409)
    with store.stage(run, "rollout", RolloutSummary(waves=[wave])):
        pass
    assert "no wave left" in problem(client.post(f"{RUNS}/{run}/pause", headers=ann), 409)
    (shown,) = client.get(f"{RUNS}/{run}", headers=ann).json()["rollout"]
    assert (shown["name"], shown["revert_minutes"], shown["state"]) == ("all devices", 15, "now")


def test_an_ended_run_may_be_tried_again(client: TestClient, ann: Headers, place: Place) -> None:
    run = place()["id"]
    assert "cannot be tried again" in problem(client.post(f"{RUNS}/{run}/retry", json={}, headers=ann), 409)
    client.post(f"{RUNS}/{run}/cancel", headers=ann)
    assert "push" in problem(client.post(f"{RUNS}/{run}/retry", json={"start": "push"}, headers=ann), 409)
    assert "begin" in problem(client.post(f"{RUNS}/{run}/retry", json={"start": "keep"}, headers=ann), 422)
    answer = client.post(f"{RUNS}/{run}/retry", json={}, headers=ann)
    assert (answer.status_code, answer.json()["status"], answer.json()["attempt"]) == (202, "pending", 2)


def test_a_kept_run_is_rolled_back_by_a_run_of_its_own(
    client: TestClient, ann: Headers, place: Place, backend: Backend
) -> None:
    run = place()["id"]
    assert "nothing to roll back" in problem(client.post(f"{RUNS}/{run}/rollback", headers=ann), 409)
    backend.run_requests.store.set_status(run, RunStatus.KEPT, Verdict.MET)
    key = {"Idempotency-Key": '"back"'}
    body = {"reason": "calls broke up"}
    first, second = (client.post(f"{RUNS}/{run}/rollback", json=body, headers=ann | key) for _ in range(2))
    assert first.status_code == 201
    assert first.json()["rollback_of"] == run
    assert first.json()["rollback_reason"] == "calls broke up"
    assert first.headers["location"] == f"{RUNS}/{first.json()['id']}"
    assert second.json()["id"] == first.json()["id"]
    assert client.get(f"{RUNS}/{run}", headers=ann).json()["status"] == "kept"
    assert _kinds(client, ann, run, second.json()["id"]) == ["kept", None]
    backend.run_requests.store.set_status(second.json()["id"], RunStatus.KEPT)
    assert _kinds(client, ann, run, second.json()["id"]) == ["rolled_back_by_hand", "restored"]
    kept = client.get(f"{RUNS}/{run}", headers=ann).json()
    assert kept["outcome"]["rolled_back_by"] == kept["rolled_back_by"] == second.json()["id"]


def _kinds(client: TestClient, who: Headers, *runs: str) -> list[str | None]:
    """What runs came to, by their details."""
    outcomes = [client.get(f"{RUNS}/{run}", headers=who).json()["outcome"] for run in runs]
    return [outcome and outcome["kind"] for outcome in outcomes]


def test_what_a_run_came_to_is_told_with_its_reasons_in_their_order(
    client: TestClient, ann: Headers, place: Place, backend: Backend
) -> None:
    run, store = place()["id"], backend.run_requests.store
    left = Reason("the table is full", "rollback", RECOVER, "e300")
    why = Reason("the objectives are not met. Others gained", "measure-after", NOT_MET, short="not met")
    store.set_status(run, RunStatus.NEEDS_RECOVERY, Verdict.BROKEN, reason=half_way(left, why))
    stopped = client.get(f"{RUNS}/{run}", headers=ann).json()["outcome"]
    assert (stopped["kind"], stopped["advice"]) == ("half_way", "recover")
    assert [reason["device"] for reason in stopped["reasons"]] == ["e300", ""]
    store.set_status(run, RunStatus.ROLLED_BACK, reason=put_back(store.get_run(run)))
    (listed,) = client.get(RUNS, headers=ann).json()["runs"]
    assert (listed["outcome"]["kind"], listed["outcome"]["advice"]) == ("recovered", "change_policy")
    assert [reason["short"] for reason in listed["outcome"]["reasons"]] == ["not met", "the table is full"]
    assert listed["reason_step"] == "measure-after"


@pytest.fixture
def waits(place: Place, backend: Backend) -> dict[str, str]:
    """A run that waits for an approval, and the candidate that it is about."""
    run = place()["id"]
    store = backend.run_requests.store
    candidate = backend.artifacts.put_json({"version": 1, "devices": {"r1": "policy-map new\n"}})
    with store.stage(run, "prepare", PrepareSummary(candidate=candidate, devices={})):
        pass
    store.set_status(run, RunStatus.NEEDS_APPROVAL, waits_for="the approval of an approver")
    return {"run": run, "candidate": candidate}


def test_an_approval_is_of_what_was_looked_at(
    client: TestClient, people: People, waits: dict[str, str], backend: Backend
) -> None:
    bob = people.headers("bob", Role.APPROVER, "campus")
    path = f"{RUNS}/{waits['run']}"
    run = client.get(path, headers=bob).json()
    assert (run["candidate"], run["waits_for"]) == (waits["candidate"], "the approval of an approver")
    stale = client.post(f"{path}/approve", json={"candidate": "0" * 64}, headers=bob)
    assert "not what the run would do" in problem(stale, 409)
    good = {"candidate": run["candidate"], "comment": "looked at r1"}
    answer = client.post(f"{path}/approve", json=good, headers=bob)
    call = max(calls_page(backend.database, None), key=lambda one: one.seq)
    assert call.detail == {"policy": backend.run_requests.run(waits["run"]).policy, "comment": "looked at r1"}
    assert (answer.status_code, answer.json()["status"], answer.json()["attempt"]) == (200, "pending", 2)
    assert "waits for no approval" in problem(client.post(f"{path}/approve", json=good, headers=bob), 409)
    (decision,) = client.get(path, headers=bob).json()["approvals"]
    assert (decision["approved"], decision["by"], decision["comment"]) == (True, "bob", "looked at r1")


def test_what_is_predicted_to_break_is_approved_with_a_reason(
    client: TestClient, people: People, waits: dict[str, str], backend: Backend
) -> None:
    bob = people.headers("bob", Role.APPROVER, "campus")
    path, body = f"{RUNS}/{waits['run']}/approve", {"candidate": waits["candidate"]}
    with backend.run_requests.store.stage(waits["run"], "predict", PredictionSummary(outcome="broken")):
        pass
    refused = client.post(path, json=body, headers=bob)
    assert "predicted to break objectives" in problem(refused, 422)
    assert "say in a comment why" in refused.text
    answer = client.post(path, json=body | {"comment": "the figures of site B are old"}, headers=bob)
    assert (answer.status_code, answer.json()["status"]) == (200, "pending")


def test_a_refusal_ends_the_run(client: TestClient, people: People, waits: dict[str, str]) -> None:
    bob = people.headers("bob", Role.APPROVER, "campus")
    path = f"{RUNS}/{waits['run']}"
    answer = client.post(f"{path}/reject", json={"comment": "not in the exam week"}, headers=bob)
    assert (answer.status_code, answer.json()["status"]) == (200, "cancelled")
    assert "not in the exam week" in answer.json()["reason"]
    assert "waits for no approval" in problem(client.post(f"{path}/reject", json={}, headers=bob), 409)


def test_an_approval_takes_an_approver(client: TestClient, ann: Headers, waits: dict[str, str]) -> None:
    for what in ("approve", "reject"):
        answer = client.post(f"{RUNS}/{waits['run']}/{what}", json={"candidate": waits["candidate"]}, headers=ann)
        assert "approver" in problem(answer, 403)


class TestFourEyes:
    """Where who asked for a run may not approve it."""

    @pytest.fixture
    def settings(self, tmp_path: Path) -> Settings:
        return Settings(var_dir=tmp_path / "var", compute_processes=1, four_eyes=True)

    @pytest.fixture
    def ann(self, people: People) -> Headers:
        return people.headers("ann", Role.APPROVER, "campus")

    def test_who_asked_is_reported_why_not(
        self, client: TestClient, ann: Headers, people: People, waits: dict[str, str]
    ) -> None:
        path, body = f"{RUNS}/{waits['run']}/approve", {"candidate": waits["candidate"]}
        told = problem(client.post(path, json=body, headers=ann), 403)
        assert "ann created the run" in told
        assert "another approver" in told
        bob = people.headers("bob", Role.APPROVER, "campus")
        assert client.post(path, json=body, headers=bob).status_code == 200
