"""What everybody sees and changes of the own account, and admins of that of others."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from starlette.testclient import TestClient

from qosforge.access.audit_log import calls_page
from qosforge.access.clients import Client
from qosforge.access.roles import Role
from qosforge.access.sessions import open_session
from qosforge.api.backend import Backend
from tests.web.people import PASSWORD, Persons

NEW = "another good password"


def test_the_account_says_what_one_may_and_makes_tokens(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    session = persons.add("ann", Role.OPERATOR, "campus").log_in(client)
    page = client.get("/account").text
    assert "operator" in page
    assert "sees everything; writes policies" in page
    assert '<option value="approver"' not in page  # more than I may
    assert 'value="itesm"' not in page  # a network that I do not see
    form = {"name": "<b>pipeline</b>", "role": "operator", "networks": "campus", "days": "3"}
    made = client.post("/account/tokens", data=form, headers=session)
    assert made.status_code == 200
    token = re.search(r'value="(qf_[0-9a-f_]+)"', made.text)
    assert token is not None
    assert "&lt;b&gt;pipeline&lt;/b&gt;" in made.text
    bearer = {"Authorization": f"Bearer {token[1]}"}
    client_roles = client.get("/api/v1/me", headers=bearer).json()["roles"]
    assert client_roles == {"campus": "operator"}
    again = client.get("/account").text
    assert token[1] not in again  # shown once
    for wrong, told in (({"days": "400"}, "Days: takes 365 at most"), ({"role": "admin"}, "is no admin of")):
        refused = client.post("/account/tokens", data=form | wrong, headers=session)
        assert told in refused.text, refused.text
        assert refused.headers["hx-retarget"] == "#messages"
    revoke = re.search(r'hx-delete="(/account/tokens/[0-9a-f]+)"', again)
    assert revoke is not None
    assert client.delete(revoke[1]).status_code == 403  # without the session's token
    assert "The token is revoked." in client.delete(revoke[1], headers=session).text
    assert client.get("/api/v1/me", headers=bearer).status_code == 401
    assert token[1] not in str([call.document() for call in calls_page(backend.database, None)])


def test_a_viewer_makes_no_token(client: TestClient, persons: Persons) -> None:
    session = persons.add("eve", Role.VIEWER).log_in(client)
    assert "Create a token" not in client.get("/account").text
    assert client.post("/account/tokens", data={"role": "viewer"}, headers=session).status_code == 403


def test_a_password_is_changed_and_every_session_ends(client: TestClient, persons: Persons) -> None:
    session = persons.add("ann", Role.VIEWER).log_in(client)
    for current, new, told in (
        ("not the right password", NEW, "the current password is wrong"),
        (PASSWORD, "short", "New password: takes 15 characters at least"),
    ):
        refused = client.post("/account/password", data={"current": current, "new": new}, headers=session)
        assert told in refused.text
        assert current not in refused.text
    done = client.post("/account/password", data={"current": PASSWORD, "new": NEW}, headers=session)
    assert (done.status_code, done.headers["hx-redirect"]) == (204, "/login?to=%2Faccount&because=password")
    assert client.get("/account", follow_redirects=False).status_code == 303
    answer = client.post("/login", data={"name": "ann", "password": NEW, "to": "/account"})
    assert "Your account" in answer.text


def test_sessions_are_listed_and_ended(client: TestClient, persons: Persons, backend: Backend) -> None:
    ann = persons.add("ann", Role.VIEWER)
    ann.log_in(client)
    elsewhere = client.cookies["qosforge"]
    client.cookies.clear()
    session = ann.log_in(client)
    page = client.get("/account").text
    assert page.count("this session") == 1
    assert "unknown browser" in page
    (other,) = re.findall(r'hx-delete="(/account/sessions/[0-9a-f]{16})"', page)
    assert "That session is over." in client.delete(other, headers=session).text
    there = client.get("/", headers={"Cookie": f"qosforge={elsewhere}"}, follow_redirects=False)
    assert there.status_code == 303
    assert "End all other sessions" not in client.get("/account").text
    with backend.database.write() as connection:
        open_session(connection, ann.id, datetime.now(UTC), Client("192.0.2.7", "Safari", "iPhone"))
    page = client.get("/account").text
    assert ">Safari on iPhone<" in page
    assert "<code>192.0.2.7</code>" in page
    rest = client.delete("/account/sessions/others", headers=session).text
    assert "You are logged out everywhere but in this browser." in rest
    assert "192.0.2.7" not in rest
    out = client.delete("/account/sessions", headers=session)
    assert out.headers["hx-redirect"] == "/login?because=everywhere"
    assert client.get("/account", follow_redirects=False).status_code == 303


def test_an_admin_manages_people(client: TestClient, persons: Persons) -> None:
    persons.add("bob", Role.OPERATOR, "campus")
    session = persons.add("root", Role.ADMIN).log_in(client)
    assert "bob" in client.get("/users").text
    made = client.post("/users", data={"name": "ann"}, headers=session)
    assert made.headers["hx-redirect"] == "/users/ann"
    for name, told in (("ann", "there is a user ann already"), ("Ann B", "Name: has a character")):
        assert told in client.post("/users", data={"name": name}, headers=session).text
    page = client.get("/users/ann").text
    assert "No role: this person can log in, but see nothing." in page
    given = client.post("/users/ann/grants", data={"network": "campus", "role": "approver"}, headers=session)
    assert "approves and rejects runs of others" in given.text
    assert (
        "The password is set." in client.post("/users/ann/password", data={"password": NEW}, headers=session).text
    )
    assert "deactivated" in client.post("/users/bob/disable", headers=session).text
    assert "Let in again" in client.get("/users/bob").text
    assert "may come in again" in client.post("/users/bob/enable", headers=session).text
    last = client.post("/users/root/disable", headers=session)
    assert (last.status_code, "root is the last admin of every network" in last.text) == (409, True)
    for path in ("/users/root/grants/*",):
        assert "the last admin" in client.delete(path, headers=session).text
    assert "The role is taken" in client.delete("/users/ann/grants/campus", headers=session).text
    assert "no password any more" in client.delete("/users/ann/password", headers=session).text
    assert client.get("/users/nobody").status_code == 404


@pytest.mark.parametrize("network", ["campus", "*"])
def test_only_admins_of_every_network_manage_people(client: TestClient, persons: Persons, network: str) -> None:
    role = Role.ADMIN if network == "campus" else Role.APPROVER
    session = persons.add("ann", role, network).log_in(client)
    assert client.get("/users").status_code == 403
    assert client.post("/users", data={"name": "eve"}, headers=session).status_code == 403
    assert ('href="/users"' in client.get("/").text) is False
