"""Policies over HTTP: stored in versions, given back as they were, compared."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.access.users import revoke
from qosforge.api.backend import Backend
from qosforge.intent.policy_source import PolicySource
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
    first = client.post(versions, headers=operator, json={"text": GOLD, "comment": "first", "network": "campus"})
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
    first = {"text": GOLD, "base": 0, "network": "campus"}
    assert client.post(versions, headers=operator, json=first).status_code == 201
    mine = GOLD.replace("wan", "[wan, trunk]")
    refused = client.post(versions, headers=operator, json={"text": mine, "base": 0})
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:qosforge:problem:wrong-state")
    assert "ana stored version 1" in refused.json()["detail"]
    assert client.post(versions, headers=operator, json={"text": mine, "base": 7}).status_code == 409
    # What is stored already was not overtaken: the answer to it may have been lost.
    assert client.post(versions, headers=operator, json={"text": GOLD, "base": 0}).status_code == 200
    assert client.post(versions, headers=operator, json={"text": mine, "base": 1}).json()["number"] == 2


def test_a_wrong_policy_is_reported_line_by_line(client: TestClient, operator: Headers) -> None:
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


RUN = {"network": "infn-fnal", "policy": {"name": "remote"}, "measure": False}
REMOTE = """version: 1
intent: remote
include: [classes/rfc4594-4.yaml]
apply: [{interfaces: wan, direction: output}]
"""


def test_a_policy_of_another_network_is_not_there_and_not_run(client: TestClient, people: People) -> None:
    ann = people.headers("ann", Role.OPERATOR, "campus")
    ben = people.headers("ben", Role.OPERATOR, "infn-fnal")
    versions = f"{V1}/policies/remote/versions"
    stored = client.post(versions, headers=ann, json={"text": REMOTE, "network": "campus"})
    assert (stored.status_code, stored.json()["network"]) == (201, "campus")
    assert stored.json()["trusted_on"] == ["campus"]
    assert "remote" not in [one["name"] for one in client.get(f"{V1}/policies", headers=ben).json()["policies"]]
    assert client.get(f"{V1}/policies/remote", headers=ben).status_code == 404
    preview = {"network": "infn-fnal", "policy": {"name": "remote"}}
    assert client.post(f"{V1}/compile", headers=ben, json=preview).status_code == 404
    assert client.post(f"{V1}/runs", headers=ben, json=RUN).status_code == 404
    refused = client.post(f"{V1}/runs", headers=people.admin(), json=RUN)
    assert refused.status_code == 422
    assert "belongs to network campus" in refused.json()["detail"]


@pytest.mark.parametrize("network", ["infn-fnal", "*"])
def test_an_operator_of_one_network_stores_for_no_other(client: TestClient, people: People, network: str) -> None:
    ann = people.headers("ann", Role.OPERATOR, "campus")
    answer = client.post(f"{V1}/policies/remote/versions", headers=ann, json={"text": REMOTE, "network": network})
    assert answer.status_code == 403
    admin = people.admin()
    for unknown in ("campsu", "no-such"):
        body = {"text": REMOTE, "network": unknown}
        assert client.post(f"{V1}/policies/remote/versions", headers=admin, json=body).status_code == 404


def test_a_version_of_who_is_no_operator_there_is_run_once_taken_over(
    client: TestClient, people: People, backend: Backend
) -> None:
    admin = people.admin()
    written = client.post(f"{V1}/policies/remote/versions", headers=admin, json={"text": REMOTE, "network": "*"})
    assert written.json()["trusted_on"] == ["*"]
    people.headers("sam", Role.ADMIN)  # somebody stays
    backend.database.transact(lambda connection: revoke(connection, "root", "*"))
    ben = people.headers("ben", Role.OPERATOR, "infn-fnal")
    refused = client.post(f"{V1}/runs", headers=ben, json=RUN)
    assert refused.status_code == 403
    (error,) = refused.json()["errors"]
    assert "root, who is no operator of infn-fnal" in error["message"]
    assert "qosforge take-over remote@1 --network infn-fnal" in error["hint"]

    over = f"{V1}/policies/remote/versions/1/take-over"
    ann = people.headers("ann", Role.OPERATOR, "campus")
    vic = people.headers("vic", Role.VIEWER, "infn-fnal")
    for other in (ann, vic):
        assert client.post(over, headers=other, json={"network": "infn-fnal"}).status_code == 403
    for _ in range(2):
        taken = client.post(over, headers=ben, json={"network": "infn-fnal"})
        assert (taken.status_code, taken.json()["trusted_on"]) == (200, ["infn-fnal"])
    assert client.get(f"{V1}/policies/remote", headers=ann).json()["about"]["trusted_on"] == []
    assert client.post(f"{V1}/runs", headers=ben, json=RUN).status_code == 201
    again = {"network": "campus", "policy": {"name": "remote", "version": 1}, "measure": False}
    assert client.post(f"{V1}/runs", headers=ann, json=again).status_code == 403
    # The next version is another text: nobody stands for it.
    other = backend.policies.seen_by(
        backend.access.authenticate(people.headers("max", Role.ADMIN)["Authorization"][7:])
    )
    other.store("remote", PolicySource(REMOTE + "# more\n"))
    backend.database.transact(lambda connection: revoke(connection, "max", "*"))
    assert client.post(f"{V1}/runs", headers=ben, json=RUN).status_code == 403
    pinned = RUN | {"policy": {"name": "remote", "version": 1}}
    run = client.post(f"{V1}/runs", headers=ben, json=pinned).json()
    assert backend.run_requests.run(run["id"]).params["policy_number"] == 1


@pytest.mark.parametrize(("number", "status"), [(0, 422), (7, 404)])
def test_only_what_was_stored_is_taken_over(client: TestClient, people: People, number: int, status: int) -> None:
    ben = people.headers("ben", Role.OPERATOR, "campus")
    path = f"{V1}/policies/rfc4594-4/versions/{number}/take-over"
    assert client.post(path, headers=ben, json={"network": "campus"}).status_code == status
