from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from tests.api.conftest import Headers, People

USERS = "/api/v1/users"


@pytest.fixture
def root(people: People) -> Headers:
    return people.admin()


def test_an_admin_makes_a_user_and_gives_roles(client: TestClient, root: Headers) -> None:
    made = client.post(USERS, json={"name": "ann"}, headers=root)
    assert (made.status_code, made.json()["roles"], made.json()["has_password"]) == (201, {}, False)
    client.put(f"{USERS}/ann/grants/campus", json={"role": "operator"}, headers=root)
    client.put(f"{USERS}/ann/grants/*", json={"role": "viewer"}, headers=root)
    assert client.get(f"{USERS}/ann/grants", headers=root).json() == {"*": "viewer", "campus": "operator"}
    client.delete(f"{USERS}/ann/grants/*", headers=root)
    assert client.get(f"{USERS}/ann", headers=root).json()["roles"] == {"campus": "operator"}
    assert [user["name"] for user in client.get(USERS, headers=root).json()] == ["ann", "root"]


def test_the_last_admin_stays(client: TestClient, root: Headers, people: People) -> None:
    attempts: list[tuple[str, str, dict[str, Any] | None]] = [
        ("POST", f"{USERS}/root/disable", None),
        ("DELETE", f"{USERS}/root/grants/*", None),
        ("PUT", f"{USERS}/root/grants/*", {"role": "approver"}),
    ]
    for method, url, body in attempts:
        refused = client.request(method, url, json=body, headers=root)
        assert (refused.status_code, refused.json()["type"]) == (409, "urn:qosforge:problem:wrong-state")
    other = people.headers("second", Role.ADMIN)
    assert client.post(f"{USERS}/root/disable", headers=other).status_code == 200
    assert client.get("/api/v1/me", headers=root).status_code == 401
    assert client.post(f"{USERS}/second/disable", headers=other).status_code == 409


def test_an_admin_of_one_network_gives_roles_on_it_alone(client: TestClient, root: Headers, people: People) -> None:
    local = people.headers("local", Role.ADMIN, "campus")
    client.post(USERS, json={"name": "ann"}, headers=root)
    client.put(f"{USERS}/ann/grants/lab", json={"role": "viewer"}, headers=root)
    granted = client.put(f"{USERS}/ann/grants/campus", json={"role": "admin"}, headers=local)
    assert (granted.status_code, granted.json()["roles"]) == (200, {"campus": "admin"})
    for method, url, body in (
        ("PUT", f"{USERS}/ann/grants/lab", {"role": "viewer"}),
        ("PUT", f"{USERS}/ann/grants/*", {"role": "viewer"}),
        ("PUT", f"{USERS}/local/grants/*", {"role": "admin"}),
        ("DELETE", f"{USERS}/ann/grants/lab", None),
        ("POST", USERS, {"name": "bob"}),
        ("POST", f"{USERS}/ann/disable", None),
        ("POST", f"{USERS}/ann/enable", None),
        ("PUT", f"{USERS}/root/password", {"password": "a long enough password"}),
    ):
        assert client.request(method, url, json=body, headers=local).status_code == 403, url
    assert client.get(f"{USERS}/ann/grants", headers=local).json() == {"campus": "admin"}


@pytest.mark.parametrize("role", [None, Role.VIEWER, Role.OPERATOR, Role.APPROVER])
def test_users_are_for_admins(client: TestClient, people: People, role: Role | None) -> None:
    headers = people.headers("bob", role)
    assert client.get(USERS, headers=headers).status_code == 403
    assert client.put(f"{USERS}/bob/grants/*", json={"role": "admin"}, headers=headers).status_code == 403


@pytest.mark.parametrize(
    ("call", "body", "status"),
    [
        ("GET /nobody", None, 404),
        ("POST /nobody/disable", None, 404),
        ("PUT /nobody/grants/campus", {"role": "viewer"}, 404),
        ("PUT /nobody/password", {"password": None}, 404),
        ("PUT /root/grants/campus", {"role": "king"}, 422),
        ("PUT /root/grants/a b", {"role": "viewer"}, 422),
        ("PUT /root/password", {"password": "short"}, 422),
        ("POST ", {"name": "root"}, 409),
        ("POST ", {"name": "Root"}, 422),
        ("POST ", {"name": "ann", "role": "admin"}, 422),
        ("POST ", {"name": "ann", "identity": {"subject": "1"}}, 422),
    ],
)
def test_what_is_wrong_is_reported(
    client: TestClient, root: Headers, call: str, body: dict[str, Any] | None, status: int
) -> None:
    method, _, path = call.partition(" ")
    answer = client.request(method, USERS + path, json=body, headers=root)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")


def test_a_disabled_user_comes_back_without_tokens(client: TestClient, root: Headers, people: People) -> None:
    ann = people.headers("ann", Role.VIEWER)
    assert client.post(f"{USERS}/ann/disable", headers=root).json()["disabled"] is True
    assert client.get("/api/v1/me", headers=ann).status_code == 401
    assert client.post(f"{USERS}/ann/enable", headers=root).json()["disabled"] is False
    assert client.get("/api/v1/me", headers=ann).status_code == 401
    order = {"role": "viewer", "user": "ann"}
    text = client.post("/api/v1/tokens", json=order, headers=root).json()["token"]
    assert client.get("/api/v1/me", headers={"Authorization": f"Bearer {text}"}).json()["name"] == "ann"


def test_an_admin_sets_a_password(client: TestClient, root: Headers, people: People) -> None:
    people.headers("ann", Role.VIEWER)
    login = {"name": "ann", "password": "a long enough password"}
    body = {"password": login["password"]}
    assert client.put(f"{USERS}/ann/password", json=body, headers=root).status_code == 204
    assert client.post("/api/v1/login", json=login).status_code == 200
    assert client.put(f"{USERS}/ann/password", json={"password": None}, headers=root).status_code == 204
    assert client.post("/api/v1/login", json=login).status_code == 401


def test_a_user_of_a_provider_is_one_alone(client: TestClient, root: Headers) -> None:
    identity = {"issuer": "https://id.example.net", "subject": "24400320"}
    made = client.post(USERS, json={"name": "ann", "identity": identity}, headers=root)
    assert (made.status_code, made.json()["subject"]) == (201, "24400320")
    assert client.post(USERS, json={"name": "bob", "identity": identity}, headers=root).status_code == 409
