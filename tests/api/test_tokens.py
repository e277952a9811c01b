from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from tests.api.conftest import Headers, People

TOKENS = "/api/v1/tokens"


def bearer(text: str) -> Headers:
    return {"Authorization": f"Bearer {text}"}


def make(client: TestClient, headers: Headers, **order: Any) -> dict[str, Any]:
    made = client.post(TOKENS, json=order, headers=headers)
    assert made.status_code == 201, made.text
    document: dict[str, Any] = made.json()
    return document


def test_an_operator_manages_own_tokens(client: TestClient, people: People) -> None:
    ann = people.headers("ann", Role.OPERATOR, "campus")
    made = make(client, ann, name="ci", role="viewer", networks=["campus"], days=7)
    me = client.get("/api/v1/me", headers=bearer(made["token"])).json()
    assert (me["name"], me["roles"], me["csrf"]) == ("ann", {"campus": "viewer"}, None)
    other = make(client, ann, name="spare", role="viewer")
    assert (made["last_used"], other["last_used"]) == (None, None)
    listed = client.get(TOKENS, headers=ann)
    used = {token["id"]: token["last_used"] for token in listed.json()}
    assert used[made["id"]] >= made["created"]
    assert used[other["id"]] is None
    assert made["token"] not in listed.text
    assert client.delete(f"{TOKENS}/{made['id']}", headers=ann).status_code == 204
    assert client.get("/api/v1/me", headers=bearer(made["token"])).status_code == 401


@pytest.mark.parametrize(
    ("order", "status"),
    [
        ({"role": "approver", "networks": ["campus"]}, 403),
        ({"role": "admin"}, 403),
        ({"role": "viewer", "networks": ["lab"]}, 403),
        ({"role": "viewer", "user": "root"}, 403),
        ({"role": "viewer", "networks": []}, 422),
        ({"role": "viewer", "networks": ["*"]}, 422),
        ({"role": "viewer", "days": 366}, 422),
        ({"role": "viewer", "name": "two\nlines"}, 422),
        ({"role": "king"}, 422),
        ({}, 422),
    ],
)
def test_nobody_gets_more_than_they_have(
    client: TestClient, people: People, order: dict[str, Any], status: int
) -> None:
    people.admin()
    ann = people.headers("ann", Role.OPERATOR, "campus")
    assert client.post(TOKENS, json=order, headers=ann).status_code == status
    assert len(client.get(TOKENS, headers=ann).json()) == 1


def test_a_viewer_makes_no_token(client: TestClient, people: People) -> None:
    bob = people.headers("bob", Role.VIEWER)
    assert client.post(TOKENS, json={"role": "viewer"}, headers=bob).status_code == 403
    (token,) = client.get(TOKENS, headers=bob).json()
    assert client.delete(f"{TOKENS}/{token['id']}", headers=bob).status_code == 204  # one that leaked, say


def test_others_tokens_are_for_admins_of_all(client: TestClient, people: People) -> None:
    root, local = people.admin(), people.headers("local", Role.ADMIN, "campus")
    ann = people.headers("ann", Role.OPERATOR, "campus")
    (token,) = client.get(TOKENS, headers=ann).json()
    for url in (f"{TOKENS}?user=ann", f"{TOKENS}?everybody=true"):
        assert client.get(url, headers=local).status_code == 403
        assert token in client.get(url, headers=root).json()
    assert client.get(f"{TOKENS}?user=nobody", headers=root).status_code == 404
    assert client.delete(f"{TOKENS}/{token['id']}", headers=local).status_code == 404
    assert client.delete(f"{TOKENS}/{token['id']}", headers=root).status_code == 204
    assert client.get(TOKENS, headers=ann).status_code == 401


def test_what_a_stolen_token_made_goes_with_it(client: TestClient, people: People) -> None:
    root = people.admin()
    ann = people.headers("ann", Role.OPERATOR, "campus")
    (stolen,) = client.get(TOKENS, headers=ann).json()
    child = make(client, ann, role="operator", days=365)
    assert child["expires"] == stolen["expires"]
    client.delete(f"{TOKENS}/{stolen['id']}", headers=root)
    assert client.get("/api/v1/me", headers=bearer(child["token"])).status_code == 401
