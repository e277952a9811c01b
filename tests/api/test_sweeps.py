"""Sweeps and experiments over HTTP."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend
from qosforge.api.sweep_models import PointResult
from qosforge.sweeps.sweeps import PointOutcome, Sweeps
from tests.api.conftest import Headers, People

V1 = "/api/v1"
WISH = {"network": "campus", "policy": {"name": "campus-collaboration"}, "seeds": [7, 8]}


@pytest.fixture
def operator(people: People) -> Headers:
    return people.headers("ana", Role.OPERATOR, "campus")


def test_a_sweep_is_placed_and_looked_at(client: TestClient, backend: Backend, operator: Headers) -> None:
    placed = client.post(f"{V1}/sweeps", headers=operator, json=WISH)
    assert placed.status_code == 201
    where = placed.headers["location"]
    detail = client.get(where, headers=operator).json()
    assert [(point["seed"], point["outcome"]) for point in detail["results"]] == [(7, None), (8, None)]
    assert client.get(f"{where}/points/1", headers=operator).status_code == 404
    assert client.get(f"{where}/points/{2**70}", headers=operator).status_code == 404
    listed = client.get(f"{V1}/sweeps", headers=operator).json()["sweeps"]
    assert [sweep["id"] for sweep in listed] == [detail["id"]]
    sweeps = Sweeps(backend.database, backend.artifacts)
    result = backend.artifacts.put_json(
        {"outcome": "met", "evidence": "predicted", "verdicts": [], "measurement": {}}
    )
    sweeps.end(detail["id"], 1, PointOutcome.MET, "here", result=result)
    first = client.get(where, headers=operator).json()["results"][0]
    assert PointResult.model_validate(client.get(first["result"], headers=operator).json()).outcome == "met"


def test_sweeps_of_other_networks_are_not_there(client: TestClient, people: People, operator: Headers) -> None:
    where = client.post(f"{V1}/sweeps", headers=operator, json=WISH).headers["location"]
    other = people.headers("ben", Role.OPERATOR, "itesm")
    assert client.get(where, headers=other).status_code == 404
    assert client.get(f"{V1}/sweeps", headers=other).json() == {"sweeps": []}
    assert client.post(f"{V1}/sweeps", headers=other, json=WISH).status_code == 403


def test_experiments_are_listed_told_and_run(client: TestClient, operator: Headers) -> None:
    listed = client.get(f"{V1}/experiments", headers=operator).json()["experiments"]
    assert len(listed) > 10
    detail = client.get(f"{V1}/experiments/torino-table1", headers=operator).json()
    assert len(detail["claims"]) == next(e["claims"] for e in listed if e["name"] == "torino-table1")
    assert client.get(f"{V1}/experiments/none", headers=operator).status_code == 404
    outcome = client.post(f"{V1}/experiments/torino-table1/compare", headers=operator, params={"seed": 2})
    assert outcome.status_code == 200
    assert outcome.json()["seed"] == 2
    assert outcome.json()["comparisons"]


def test_a_policy_that_judges_nothing_is_not_measured(client: TestClient, operator: Headers) -> None:
    wish = {"network": "campus", "policy": {"name": "rfc4594-4"}}
    answer = client.post(f"{V1}/measurements", headers=operator, json=wish)
    assert answer.status_code == 422
    assert "nothing to measure" in answer.json()["detail"]
    unread = client.post(f"{V1}/measurements", headers=operator, json={**wish, "policy": WISH["policy"]})
    assert unread.status_code == 502
    assert len(unread.json()["errors"]) == 9
