"""Policies over HTTP: stored in versions, given back as they were, compared."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from app.access.roles import Role
from tests.api.conftest import Headers, People

V1 = "/api/v1"
GOLD = """version: 1
intent: gold   # with its comment
include: [classes/rfc4594-4.yaml]
apply: [{interfaces: wan, direction: output}]
"""


@pytest.fixture
def operator(people: People) -> Headers:
    return people.headers("ana", Role.OPERATOR, "campus")


def test_shipped_policies_are_listed_and_read(client: TestClient, operator: Headers) -> None:
    listed = client.get(f"{V1}/policies", headers=operator).json()["policies"]
    assert {"rfc4594-12", "campus-collaboration"} <= {policy["name"] for policy in listed}
    shipped = client.get(f"{V1}/policies/rfc4594-12", headers=operator).json()
    assert shipped["about"]["number"] == 0
    assert shipped["text"].startswith("# RFC 4594 in 12 classes")


def test_a_policy_is_kept_in_versions(client: TestClient, operator: Headers) -> None:
    versions = f"{V1}/policies/gold/versions"
    first = client.post(versions, headers=operator, json={"text": GOLD, "comment": "first"})
    assert (first.status_code, first.headers["location"]) == (201, f"{versions}/1")
    assert client.post(versions, headers=operator, json={"text": GOLD}).status_code == 200
    changed = GOLD.replace("wan", "[wan, trunk]")
    assert client.post(versions, headers=operator, json={"text": changed}).json()["number"] == 2
    kept = client.get(f"{versions}/1", headers=operator).json()
    assert kept["text"] == GOLD
    assert kept["about"]["author"] == "ana"
    numbers = [v["number"] for v in client.get(versions, headers=operator).json()["versions"]]
    assert numbers == [2, 1]
    diff = client.get(f"{V1}/policies/gold/diff", headers=operator, params={"before": 1}).json()
    assert "-apply: [{interfaces: wan, direction: output}]" in diff["text"]
    assert [change["path"] for change in diff["changes"]] == ["apply"]


def test_a_text_that_began_from_an_older_version_is_not_stored(client: TestClient, operator: Headers) -> None:
    versions = f"{V1}/policies/gold/versions"
    assert client.post(versions, headers=operator, json={"text": GOLD, "base": 0}).status_code == 201
    mine = GOLD.replace("wan", "[wan, trunk]")
    refused = client.post(versions, headers=operator, json={"text": mine, "base": 0})
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:qosforge:problem:wrong-state")
    assert "ana stored version 1" in refused.json()["detail"]
    assert client.post(versions, headers=operator, json={"text": mine, "base": 7}).status_code == 409
    # What is stored already was not overtaken: the answer to it may have been lost.
    assert client.post(versions, headers=operator, json={"text": GOLD, "base": 0}).status_code == 200
    assert client.post(versions, headers=operator, json={"text": mine, "base": 1}).json()["number"] == 2


def test_a_wrong_policy_is_told_line_by_line(client: TestClient, operator: Headers) -> None:
    text = GOLD.replace("direction: output", "direction: outwards").replace("intent: gold", "intent: silver")
    answer = client.post(
        f"{V1}/policies/gold/versions", headers=operator, json={"text": text, "file": "ci/gold.yaml"}
    )
    assert answer.status_code == 422
    problem = answer.json()
    assert [(error["file"], error["line"]) for error in problem["errors"]] == [("ci/gold.yaml", 4)]
    named = client.post(f"{V1}/policies/silver/versions", headers=operator, json={"text": GOLD})
    assert "not called 'silver'" in named.json()["detail"]


def test_who_only_looks_stores_nothing(client: TestClient, people: People) -> None:
    viewer = people.headers("ben", Role.VIEWER)
    answer = client.post(f"{V1}/policies/gold/versions", headers=viewer, json={"text": GOLD})
    assert answer.status_code == 403
    assert client.get(f"{V1}/policies/gold", headers=viewer).status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "none",
        "rfc4594-4/versions/1",
        f"rfc4594-4/versions/{2**70}",
        "rfc4594-4/versions/-1",
        "..%2Frfc4594-4",
    ],
)
def test_what_is_not_there_is_not_found(client: TestClient, operator: Headers, path: str) -> None:
    assert client.get(f"{V1}/policies/{path}", headers=operator).status_code == 404
