"""Roles before routes, on a small application of every kind of route."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from fastapi import APIRouter, Depends, FastAPI
from starlette.testclient import TestClient

from qosforge.access.audit_log import LoggedCall, calls_page
from qosforge.access.roles import Role
from qosforge.api.application import create_app
from qosforge.api.backend import Backend
from qosforge.api.dependencies import Caller, TheAuditEntry
from qosforge.api.middleware.authorization import Needs
from qosforge.runs.record.store import RunStore
from tests.api.conftest import People

router = APIRouter()


@router.get("/of/{network}", dependencies=[Depends(Needs(Role.OPERATOR))])
def of_network(network: str, caller: Caller) -> str:
    return f"{caller.name} {network}"


@router.post("/of-run/{run_id}", dependencies=[Depends(Needs(Role.OPERATOR))])
def of_run(run_id: str, note: TheAuditEntry) -> str:
    note.detail["why"] = "tried"
    return run_id


@router.post("/anywhere", dependencies=[Depends(Needs(Role.APPROVER))])
def anywhere(caller: Caller) -> str:
    caller.require(Role.APPROVER, "itesm")
    return "done"


@router.post("/preview", dependencies=[Depends(Needs(Role.VIEWER, recorded=False))])
def preview() -> str:
    raise RuntimeError("secret")


@pytest.fixture
def client(backend: Backend) -> Iterator[TestClient]:
    app: FastAPI = create_app(backend)
    app.include_router(router)
    with TestClient(app) as made:
        yield made


def logged(backend: Backend) -> list[LoggedCall]:
    return calls_page(backend.database, None)


def test_without_a_good_credential_nobody_gets_in(client: TestClient, people: People) -> None:
    expired = people.headers("late", Role.ADMIN, lasts=timedelta(seconds=-1))
    for headers in ({}, {"Authorization": "Basic cm9vdDpyb290"}, {"Authorization": "Bearer qf_x"}, expired):
        answer = client.get("/of/campus", headers=headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert answer.json()["errors"][0]["hint"]


def test_a_role_counts_on_its_network_only(client: TestClient, people: People) -> None:
    ann = people.headers("ann", Role.OPERATOR, "campus")
    eve = people.headers("eve", Role.VIEWER, "campus")
    assert client.get("/of/campus", headers=ann).json() == "ann campus"
    assert client.get("/of/itesm", headers=ann).status_code == 403
    assert client.get("/of/campus", headers=eve).status_code == 403


def test_a_run_of_an_unseen_network_does_not_exist(client: TestClient, people: People, backend: Backend) -> None:
    with RunStore(backend.settings.database_url) as store:
        run_id = store.create_run("campus", "rfc4594-4", "0" * 64, {}).id
    near, reader, far = (
        people.headers("near", Role.OPERATOR, "campus"),
        people.headers("reader", Role.VIEWER, "campus"),
        people.headers("far", Role.ADMIN, "itesm"),
    )
    assert client.post(f"/of-run/{run_id}", headers=near).status_code == 200
    assert client.post(f"/of-run/{run_id}", headers=reader).status_code == 403
    unseen, unknown = (
        client.post(f"/of-run/{run_id}", headers=far),
        client.post("/of-run/none", headers=near),
    )
    assert unseen.status_code == unknown.status_code == 404
    assert unseen.json()["detail"] == unknown.json()["detail"]
    assert [(call.actor, call.network, call.status) for call in logged(backend)] == [
        ("near", "campus", 200),
        ("reader", "campus", 403),
        ("far", "", 404),
        ("near", "", 404),
    ]
    assert logged(backend)[0].detail == {"policy": "rfc4594-4", "why": "tried"}


def test_a_role_on_any_network_opens_what_names_none(client: TestClient, people: People, backend: Backend) -> None:
    assert client.post("/anywhere", headers=people.headers("ann", Role.APPROVER, "itesm")).json() == "done"
    assert client.post("/anywhere", headers=people.headers("bob", Role.ADMIN, "campus")).status_code == 403
    assert client.post("/anywhere", headers=people.headers("eve", Role.VIEWER)).status_code == 403
    assert client.post("/anywhere", headers=people.headers("nil", None)).status_code == 403
    assert client.post("/anywhere").status_code == 401
    calls = logged(backend)
    assert [(call.actor, call.status) for call in calls] == [
        ("ann", 200),
        ("bob", 403),
        ("eve", 403),
        ("nil", 403),
        ("", 401),
    ]
    assert {call.action for call in calls} == {"POST /anywhere"}


def test_what_nobody_expected_tells_nothing_but_its_id(
    client: TestClient,
    people: People,
    backend: Backend,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    answer = client.post("/preview", headers=people.admin())
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert "secret" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    # Where a test before has set up the log of a service, it goes there.
    assert "RuntimeError: secret" in capsys.readouterr().out + caplog.text
    assert logged(backend) == []
