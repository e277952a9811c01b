"""What everybody sees and changes of the own account, and admins of that of others."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from qosforge.access.audit_log import Call, calls_page, record_call
from qosforge.access.clients import Client
from qosforge.access.roles import Role
from qosforge.access.sessions import open_session
from qosforge.access.users import add_user
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
    assert "never used" in made.text
    assert "Last used" in again
    assert "never used" not in again
    assert token[1] not in again  # shown once
    for wrong, told in (
        ({"days": "400"}, "Days: takes 365 at most"),
        ({"name": ""}, "What it is for: is needed"),
        ({"name": "  "}, "What it is for: is needed"),
        ({"role": "admin"}, "only an administrator of network campus may do this"),
    ):
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


def test_the_login_before_is_told(client: TestClient, persons: Persons, backend: Backend) -> None:
    ann = persons.add("ann", Role.VIEWER)
    persons.add("bob", Role.VIEWER).log_in(client)
    ann.log_in(client)
    assert "Logged in before this" not in client.get("/account").text, (
        "it is the first one, and bob's is none of ann's"
    )

    def log_in_days_ago(connection: sa.Connection) -> None:
        at = datetime.now(UTC) - timedelta(days=3)
        for action, status, days in (("POST /login", 303, 0), ("POST /logout", 204, 1), ("POST /login", 401, 1)):
            call = Call(action, status, actor="ann", credential="session")
            record_call(connection, call, at + timedelta(days=days))

    backend.database.transact(log_in_days_ago)
    told = _previous_login(client.get("/account").text)
    assert f"{datetime.now(UTC) - timedelta(days=3):%Y-%m-%d}" in told, "the log has it, however long ago"
    assert "<code>" not in told, "and not from where"
    with backend.database.write() as connection:
        earlier = datetime.now(UTC) - timedelta(hours=5)
        open_session(connection, ann.id, earlier, Client("192.0.2.7", "Safari", "iPhone"))
    told = _previous_login(client.get("/account").text)
    assert f"{earlier:%H:%M}" in told
    assert "Safari on iPhone, <code>192.0.2.7</code>" in told


def _previous_login(page: str) -> str:
    return page.partition('id="previous-login"')[2].partition("</p>")[0]


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
    assert "approves and declines runs of others" in given.text
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


def test_a_role_is_given_where_somebody_chose(client: TestClient, persons: Persons) -> None:
    """Nobody gets a role on every network because the form began there."""
    session = persons.add("root", Role.ADMIN).log_in(client)
    persons.add("ann", Role.OPERATOR, "campus")
    page = client.get("/users/ann").text
    choice = re.search(r'<select name="network"[^>]*>\s*<option value="([^"]*)"[^>]*>([^<]*)</option>', page)
    assert choice is not None
    assert choice.groups() == ("", "choose …")
    assert re.search(r'<select name="network"[^>]* required', page)
    refused = client.post("/users/ann/grants", data={"network": "", "role": "admin"}, headers=session)
    assert (refused.status_code, "Where: " in refused.text) == (422, True)
    assert '<option value="*"' in page


def test_the_page_of_a_user_says_the_last_login_and_leads_to_what_was_done(
    client: TestClient, persons: Persons
) -> None:
    persons.add("ann", Role.OPERATOR, "campus")
    persons.add("bob", Role.OPERATOR, "campus")
    client.post("/login", data={"name": "ann", "password": PASSWORD})
    client.cookies.clear()
    persons.add("root", Role.ADMIN).log_in(client)
    assert re.search(r"Logs in by\s+password;\s+last login <time", client.get("/users/ann").text)
    assert re.search(r"Logs in by\s+password;\s+never logged in", client.get("/users/bob").text)
    assert '<a href="/calls?who=ann">What ann did</a>' in client.get("/users/ann").text


def test_users_are_found_among_many(client: TestClient, persons: Persons, backend: Backend) -> None:
    persons.add("root", Role.ADMIN).log_in(client)
    for number in range(2, 20):
        persons.add(f"user{number}", Role.OPERATOR, f"site{number}")
    page = client.get("/users").text
    assert 'type="search"' not in page, "19 are seen at once"
    assert page.index(">user2<") < page.index(">user10<"), "as people count"
    assert page.index("Add a user") < page.index("<table")
    persons.add("user20")
    assert 'type="search"' in client.get("/users").text
    for sought, found in (("USER1", 10), ("user7", 1), ("site12", 1), ("user site3", 1), ("nobody", 0)):
        page = client.get("/users", params={"q": sought}).text
        assert page.count('<td class="lead"') == found, sought
        assert ("No user fits." in page) is (found == 0)
    assert "10 of 20" in client.get("/users", params={"q": "user1"}).text
    assert "no role · never logged in" in client.get("/users", params={"q": "user20"}).text


def test_many_users_are_shown_fifty_a_page(client: TestClient, persons: Persons, backend: Backend) -> None:
    persons.add("root", Role.ADMIN).log_in(client)

    def add(connection: sa.Connection) -> None:
        for number in range(1, 108):
            add_user(connection, f"{'site' if number > 60 else 'lab'}{number}", backend.access.now())

    backend.database.transact(add)
    address, names = "/users", []
    while address:
        page = client.get(address).text
        found = re.findall(r'<td class="lead"[^>]*><a href="/users/(\w+)"', page)
        assert len(found) <= 50
        names += found
        following = re.search(r'rel="next" href="([^"]+)"', page)
        address = following[1].replace("&amp;", "&") if following else ""
    assert names == [
        *(f"lab{number}" for number in range(1, 61)),
        "root",
        *(f"site{number}" for number in range(61, 108)),
    ]
    assert "101–108 of 108 users" in page
    assert 'rel="prev" href="/users?page=2#found"' in page
    sought = client.get("/users", params={"q": "lab", "page": 2}).text
    assert "51–60 of 60 users" in sought
    assert 'href="/users?q=lab&amp;page=1#found"' in sought


def test_the_last_login_of_each_user_is_told(client: TestClient, persons: Persons, backend: Backend) -> None:
    persons.add("ann", Role.VIEWER)
    persons.add("root", Role.ADMIN).log_in(client)

    def last_login(name: str) -> str:
        row = client.get("/users", params={"q": name}).text.partition(f">{name}</a>")[2]
        return row.partition('data-label="Last login">')[2].partition("</td>")[0]

    assert "never" in last_login("ann")
    logged = Call("POST /api/v1/login", 200, actor="ann", credential="session")
    first, last = datetime(2026, 3, 2, 8, tzinfo=UTC), datetime(2026, 4, 2, 8, tzinfo=UTC)
    for call, at in (
        (logged, last),
        (logged, first),
        (Call("POST /logout", 204, actor="ann"), last + timedelta(days=1)),
        (Call("POST /login", 401, actor="ann"), last + timedelta(days=2)),
        (Call("POST /login", 303, actor="bob"), last + timedelta(days=3)),
    ):
        backend.database.transact(lambda connection, call=call, at=at: record_call(connection, call, at))  # type: ignore[misc]
    assert 'datetime="2026-04-02T08:00' in last_login("ann")
    assert "never" in last_login("root")


@pytest.mark.parametrize("network", ["campus", "*"])
def test_only_admins_of_every_network_manage_people(client: TestClient, persons: Persons, network: str) -> None:
    role = Role.ADMIN if network == "campus" else Role.APPROVER
    session = persons.add("ann", role, network).log_in(client)
    assert client.get("/users").status_code == 403
    assert client.post("/users", data={"name": "eve"}, headers=session).status_code == 403
    assert ('href="/users"' in client.get("/").text) is False
