"""The audit log as a page: in words, narrowed by person, kind, result and day."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.testclient import TestClient

from qosforge.access.audit_log import UNKNOWN, Call, CallFilter, LoggedCall, record_call
from qosforge.access.call_kinds import kinds_of
from qosforge.access.roles import Role
from qosforge.access.tokens import tokens
from qosforge.api.backend import Backend
from qosforge.web.site import create_site
from qosforge.web.views.calls import call_view
from tests.web.people import PASSWORD, Persons

_COMMANDS = (
    "backup create",
    "database move",
    "user add",
    "token revoke",
    "tester add",
    "webhook test",
    "drift watch",
)


def test_the_log_is_looked_through(client: TestClient, persons: Persons, backend: Backend) -> None:
    session = persons.add("root", Role.ADMIN).log_in(client)
    backend.access.record(
        Call("POST /api/v1/runs", 202, actor="ann", network="campus", detail={"why": "<i>moved</i>"})
    )
    for _ in range(60):
        backend.access.record(Call("POST /account/tokens", 200, actor="root"))
    client.post("/users/root/disable", headers=session)
    backend.access.record(Call("qosforge user add", 200, actor="op", credential="local", detail={"subject": None}))
    first = client.get("/calls").text
    assert "Add a user" in first
    assert "subject" not in first
    assert first.index("Disable user root") < first.index("Make a token")
    older = re.search(r'href="(/calls\?[^"]*before=[^"]*)"', first)
    assert older is not None
    second = client.get(older[1].replace("&amp;", "&")).text
    assert "Start a run" in second
    assert "POST /api/v1/runs" not in second, "the words say it already"
    assert 'href="/calls">Newest</a>' in second
    assert "why: &lt;i&gt;moved&lt;/i&gt;" in second
    assert "Disable user root" not in second
    refused = client.get("/calls", params={"result": "refused", "who": "root", "network": ""}).text
    assert refused.count("Disable user root") == 1
    assert "root is the last admin of every network" in refused
    assert "Make a token" not in refused
    assert "No entry fits this filter." in client.get("/calls", params={"who": "<script>"}).text
    today = datetime.now(UTC).date()
    of_today = client.get("/calls", params={"since": str(today - timedelta(days=1)), "until": ""}).text
    assert "Disable user root" in of_today
    assert f'name="since" value="{today - timedelta(days=1)}"' in of_today
    assert (
        "No entry fits this filter." in client.get("/calls", params={"until": str(today - timedelta(days=2))}).text
    )
    backwards = client.get("/calls", params={"since": str(today), "until": str(today - timedelta(days=1))}).text
    assert '<p class="wrong" id="days-wrong" role="alert">From is after To.</p>' in backwards
    of_one_day = client.get("/calls", params={"since": str(today), "until": str(today)}).text
    assert "From is after To" not in of_one_day
    assert client.get("/calls", params={"since": "yesterday"}).status_code == 422


def test_the_log_is_narrowed_by_kind_and_result(client: TestClient, persons: Persons, backend: Backend) -> None:
    persons.add("root", Role.ADMIN).log_in(client)
    for action, status in (
        ("POST /api/v1/runs", 202),
        ("POST /measurements", 403),
        ("POST /policies/gold/versions", 201),
        ("PUT /api/v1/networks/campus/drift", 500),
        ("qosforge drift watch", UNKNOWN),
        ("POST /users/ann/enable", 204),
        ("PUT /me/password", 204),
        ("qosforge user add", 409),
        ("POST /webhooks", 204),
        ("qosforge backup create", 200),
        ("POST /login", 401),
        ("GET /api/v1/login/oidc/callback", 303),
        ("POST /intents/gold", 201),
    ):
        backend.access.record(Call(action, status, actor="op"))

    def asked(**sought: str) -> list[str]:
        page = client.get("/calls", params={"who": "op"} | sought).text
        cells = re.findall(r'<td class="lead" data-label="What">(?:<a [^>]*>)?([^<]+)', page)
        return [cell.strip() for cell in cells][::-1]

    assert len(asked()) == 13
    assert asked(kind="runs") == ["Start a run", "Measure a network as it is"]
    assert asked(kind="policies") == ["Store a version of policy gold"]
    drift, watch = "Set how often drift is looked for in campus", "Set how often drift is looked for"
    assert asked(kind="networks") == [drift, watch]
    assert asked(kind="people") == ["Enable user ann", "Change the own password", "Add a user"]
    assert asked(kind="webhooks") == ["Add a webhook"]
    assert asked(kind="service") == ["Back up"]
    sessions = ["Log in", "Log in by the login provider"]
    assert asked(kind="sessions") == sessions
    assert asked(kind="changes") == [action for action in asked() if action not in sessions], (
        "everything else, also what an older release was asked for"
    )
    assert asked(kind="changes", result="failed") == [drift]
    refused, failed, unknown = asked(result="refused"), asked(result="failed"), asked(result="unknown")
    assert refused == ["Measure a network as it is", "Add a user", "Log in"]
    assert failed == [drift]
    assert unknown == [watch]
    assert sorted(asked(result="not_done")) == sorted([*refused, *failed, *unknown])
    assert sorted([*asked(result="done"), *asked(result="not_done")]) == sorted(asked())
    assert asked(result="refused", kind="people") == ["Add a user"]
    page = client.get("/calls", params={"result": "refused", "kind": "people"}).text
    assert '<option value="refused" selected>' in page
    assert '<option value="people" selected>' in page
    assert client.get("/calls", params={"kind": "anything"}).status_code == 422
    older = client.get("/calls", params={"refused": "true"})
    assert older.status_code == 422, "an older release's address does not show the whole log as if it were narrow"
    assert "there is no parameter &#39;refused&#39;" in older.text
    assert "result" in older.text.partition("known here:")[2]


def test_every_call_is_of_one_kind(backend: Backend) -> None:
    actions = [*_recorded_actions(backend), *(f"qosforge {one}" for one in _COMMANDS)]
    assert {action: kinds for action in actions if len(kinds := kinds_of(action)) != 1} == {}


def test_a_call_whose_path_was_cut_has_words(backend: Backend) -> None:
    path = "/api/v1/runs/01a22270-a580-71aa-a7b8-a108273de928/measurements/after"
    backend.access.record(Call(f"PUT {path}", 200, actor="op", resource=path))
    (call,) = backend.access.latest_calls(None, CallFilter(actor="op"), 9)
    assert call.action != f"PUT {path}"
    assert call_view(lambda text: text, call).words == "Hand in a measurement of a run"


def test_who_was_added_is_told(client: TestClient, persons: Persons) -> None:
    session = persons.add("root", Role.ADMIN).log_in(client)
    assert client.post("/users", data={"name": "nora"}, headers=session).status_code == 204
    assert client.post("/users", data={"name": "a/b"}, headers=session).status_code == 422
    page = client.get("/calls", params={"who": "root", "kind": "people"}).text
    assert '<a href="/users/nora">Add user nora</a>' in page
    assert page.count("Name: has a character that cannot stand here") == 1
    assert "Add a user" in page, "a name that cannot be one is not in the log"


def test_whom_a_refused_call_was_about_is_told(client: TestClient, persons: Persons, backend: Backend) -> None:
    """Its body alone names it, which the route of a refused call never sees."""
    session = persons.add("ann", Role.OPERATOR, "campus").log_in(client)
    assert client.post("/users", data={"name": "u114"}, headers=session).status_code == 403
    assert client.post("/webhooks", data={"name": "chat", "url": "x"}, headers=session).status_code == 403
    assert client.post("/users", data={"name": "no/name"}, headers=session).status_code == 403
    assert client.post("/api/v1/users", json={"name": "u115"}, headers=session).status_code == 403
    assert client.post("/api/v1/testers", json={"name": "north"}, headers=session).status_code == 403
    for body in (b"{", b"[1]", b'{"name": 1}', b'{"name": "two words"}', b""):
        answer = client.post("/api/v1/users", content=body, headers=session | {"content-type": "application/json"})
        assert answer.status_code in (400, 403)
    anybody = TestClient(client.app)
    assert anybody.post("/api/v1/users", json={"name": "planted"}).status_code == 401
    found = backend.access.latest_calls(None, CallFilter(kind="people"), 20)
    assert "planted" not in str([call.document() for call in found])
    client.cookies.clear()
    persons.add("root", Role.ADMIN).log_in(client)
    page = client.get("/calls", params={"who": "ann", "result": "refused"}).text
    for words in (
        "Add user u114",
        "Add user u115",
        "Add webhook chat",
        "Register external tester north",
        "Add a user",
    ):
        assert words in page, words
    assert "/users/u114" not in page, "there is no such page"
    assert "Only an administrator of every network may do this" in page
    assert "As it was sent" not in page


def test_a_refusal_is_told_in_the_sentence_of_its_caller(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    session = persons.add("root", Role.ADMIN).log_in(client)
    wrong = {"current": "not my own password", "new": "PLANTED in a long one", "repeated": "PLANTED in a long one"}
    answer = client.post("/account/password", data=wrong, headers=session)
    assert answer.status_code == 403
    client.post("/login", data={"name": "root", "password": "PLANTED, too"})
    client.post("/users", data={"name": "root"}, headers=session)
    page = client.get("/calls", params={"result": "refused"}).text
    for told in ("The current password is wrong", "Name or password is wrong", "There is a user root"):
        assert told in page, told
    found = backend.access.latest_calls(None, CallFilter(results=("refused",)), 9)
    assert "PLANTED" not in str([call.document() for call in found])


def test_with_which_token_is_told_beside_its_user(client: TestClient, persons: Persons, backend: Backend) -> None:
    persons.add("root", Role.ADMIN).log_in(client)
    backend.access.record(Call("POST /api/v1/runs", 202, actor="ann", credential="token:3a57c0effa218cf2"))
    page = client.get("/calls", params={"who": "ann"}).text
    assert "with token <code>3a57c0effa218cf2</code>" in page
    assert "As it was sent" not in page


def test_a_token_is_told_by_its_name_where_one_may_know_it(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    session = persons.add("ann", Role.ADMIN, "campus").log_in(client)
    form = {"name": "<b>pipeline</b>", "role": "operator", "networks": "campus", "days": "3"}
    assert client.post("/account/tokens", data=form, headers=session).status_code == 200
    token = tokens(backend.database, "ann")[0].id
    backend.access.record(
        Call("POST /api/v1/runs", 202, actor="ann", network="campus", credential=f"token:{token}")
    )
    of_some = client.get("/calls", params={"who": "ann"}).text
    assert f"with token <code>{token}</code>" in of_some
    assert "pipeline" not in of_some, "an administrator of every network alone sees tokens of others"
    client.cookies.clear()
    persons.add("root", Role.ADMIN).log_in(client)
    of_all = client.get("/calls", params={"who": "ann"}).text
    assert f"with token “&lt;b&gt;pipeline&lt;/b&gt;” <code>{token}</code>" in of_all


def test_as_whom_somebody_tried_to_log_in_is_told_and_never_a_password(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    persons.add("root", Role.ADMIN)
    away = TestClient(client.app, client=("192.0.2.7", 40000))
    for name in ("root", "my own secret password"):
        assert away.post("/login", data={"name": name, "password": "PLANTED"}).status_code == 401
    earlier = Call("POST /login", 401, resource="users/kept by an earlier release")
    backend.access.record(earlier)
    found = backend.access.latest_calls(None, CallFilter(kind="sessions"), 9)
    assert [call.resource for call in found] == [earlier.resource, "", "users/root"]
    persons.find("root").log_in(client)
    page = client.get("/calls", params={"kind": "sessions"}).text
    who = re.findall(r'<td data-label="Who">(.*?)</td>', page)
    assert len(who) == 3
    assert '<a href="/users/root">root</a> <span class="hint">tried</span>' in who[2]
    assert [call.address for call in found][1:] == ["192.0.2.7"] * 2
    assert "from <code>192.0.2.7</code>" in who[2]
    assert (
        away.post("/login", data={"name": "root", "password": PASSWORD}, follow_redirects=False).status_code == 303
    )
    assert backend.access.latest_calls(None, CallFilter(actor="root"), 1)[0].address == "", "it is the session's"
    assert all("nobody known" in one for one in who[:2])
    assert "earlier release" not in page


def test_how_a_call_was_sent_is_shown_where_it_tells_more_than_its_words() -> None:
    def shown(action: str, status: int, credential: str = "session") -> bool:
        call = LoggedCall(action, status, credential=credential, seq=1, at=datetime.now(UTC))
        return call_view(lambda text: text, call).as_sent

    assert not shown("POST /login", 303)
    assert not shown("POST /login", 401)
    assert not shown("POST /users/ann/enable", 204)
    assert not shown("qosforge user add", 200, "local")
    assert shown("POST /login", 500)
    assert not shown("POST /users/ann/enable", 403), "why it was refused stands beside it"
    assert shown("POST /users/ann/enable", UNKNOWN)
    assert not shown("POST /api/v1/runs", 202, "token:3a57c0effa218cf2"), "the token stands beside its user"
    assert shown("POST /intents/gold", 201), "no words of this release say it"


@pytest.mark.parametrize(
    ("action", "resource", "words"),
    [
        ("POST /api/v1/webhooks", "webhooks/chat", "Add webhook chat"),
        ("POST /testers", "testers/north", "Register external tester north"),
        ("qosforge user grant", "users/ann", "Give ann a role"),
        ("qosforge webhook test", "webhooks/chat", "Send a test to webhook chat"),
    ],
)
def test_whom_an_entry_is_about_is_told(action: str, resource: str, words: str) -> None:
    call = LoggedCall(action, 201, resource=resource, seq=1, at=datetime.now(UTC))
    assert call_view(lambda text: text, call).words == words


def test_a_long_log_is_read_to_its_end_with_its_filter(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    persons.add("root", Role.ADMIN).log_in(client)

    def append(connection: sa.Connection) -> None:
        for number in range(1_000):
            call = Call("POST /api/v1/runs", 202, actor="ann" if number % 2 else "ben", resource=f"runs/{number}")
            record_call(connection, call, backend.access.now())

    backend.database.transact(append)
    address, pages, entries = "/calls?who=ann", 0, 0
    while address:
        page = client.get(address).text
        first, entries = entries + 1, entries + page.count('<td class="lead"')
        assert f"{first}–{entries} of 500 entries" in page
        pages += 1
        assert 'name="who" value="ann"' in page
        assert ('href="/calls?who=ann">Newest</a>' in page) is (pages > 1)
        older = re.search(r'rel="next" href="([^"]+)"', page)
        address = older[1].replace("&amp;", "&") if older else ""
    assert (pages, entries) == (10, 500)


def test_a_refused_call_of_an_earlier_release_says_what_its_status_does() -> None:
    def why(status: int) -> str:
        call = LoggedCall("POST /runs", status, seq=1, at=datetime.now(UTC))
        return call_view(lambda text: text, call).why

    refused = [why(status) for status in (401, 403, 404, 409, 422)]
    assert all(refused)
    assert len(set(refused)) == len(refused)
    assert [why(status) for status in (UNKNOWN, 200, 303, 500)] == [""] * 4


def test_details_of_a_call_are_told_in_words() -> None:
    detail = {"writable": False, "networks": ["*"], "hostname": "192.0.2.7", "lacking": 0, "why": "moved"}
    call = LoggedCall("PUT /networks/campus/writable", 200, detail=detail, seq=1, at=datetime.now(UTC))
    assert dict(call_view(lambda text: text, call).facts) == {
        "changes are pushed": "no",
        "networks": "every network",
        "address": "192.0.2.7",
        "files that lack": "0",
        "why": "moved",
    }


def test_who_logs_in_by_a_provider_is_told_in_words_that_differ() -> None:
    def facts(**detail: object) -> tuple[tuple[str, str], ...]:
        call = LoggedCall("POST /api/v1/users", 201, detail=detail, seq=1, at=datetime.now(UTC))
        return call_view(lambda text: text, call).facts

    known = {"issuer": "https://login.example.net", "subject": "24400320"}
    assert facts(**known) == (
        ("login provider", "https://login.example.net"),
        ("known at the login provider as", "24400320"),
    )
    assert facts(identity=known) == (
        ("logs in by", "login provider https://login.example.net, known at the login provider as 24400320"),
    )


def test_every_recorded_call_has_words(backend: Backend) -> None:
    asked = _recorded_actions(backend)
    assert len(asked) > 50
    for action in (*asked, "POST /login", "POST /logout", "GET /api/v1/login/oidc/callback", "qosforge user add"):
        call = LoggedCall(action, 200, seq=1, at=datetime.now(UTC))
        assert call_view(lambda text: text, call).words != action, action


def _recorded_actions(backend: Backend) -> list[str]:
    """What is asked by every route whose calls are recorded, but for logging in and out."""
    return [
        f"{method} {re.sub('{[^}]*}', 'x', str(one.path_format))}"
        for one in iter_route_contexts(create_site(backend).routes)
        if isinstance(one.original_route, APIRoute) and one.original_route.name not in ("log_in", "log_out")
        for method in (one.methods or set()) - {"GET", "HEAD"}
        if all(getattr(each.dependency, "recorded", True) for each in one.original_route.dependencies)
    ]


def test_an_entry_leads_to_what_it_was_about() -> None:
    def page(action: str, resource: str = "", status: int = 200) -> str:
        call = LoggedCall(action, status, resource=resource, seq=1, at=datetime.now(UTC))
        return call_view(lambda text: text, call, people=["ann"]).page

    run = "01a22270-a580-71aa-a7b8-a108273de928"
    assert page("POST /runs", f"/api/v1/runs/{run}") == f"/runs/{run}"
    assert page(f"POST /api/v1/runs/{run}/approve", f"/api/v1/runs/{run}/approve") == f"/runs/{run}"
    assert page("PUT /api/v1/users/ann/grants/campus") == "/users/ann"
    assert page("POST /users", "users/ann", 409) == "/users/ann"
    assert page("POST /users", "users/u114", 403) == "", "there is none"
    assert page("POST /webhooks", "webhooks/chat") == "/webhooks/chat"
    assert page("POST /webhooks", "webhooks/chat", 403) == ""
    assert page("POST /policies/gold/versions") == "/policies/gold"
    assert page("POST /login", "session") == ""


def test_an_admin_of_one_network_sees_its_calls_only(client: TestClient, persons: Persons) -> None:
    persons.add("root", Role.ADMIN).log_in(client)
    client.cookies.clear()
    persons.add("ann", Role.ADMIN, "campus").log_in(client)
    assert "There is no entry yet." in client.get("/calls").text
    client.cookies.clear()
    persons.add("eve", Role.APPROVER).log_in(client)
    assert client.get("/calls").status_code == 403
