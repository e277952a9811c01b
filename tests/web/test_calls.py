"""The audit log as a page: in words, narrowed by person, kind, result and day."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from fastapi.routing import APIRoute, iter_route_contexts
from starlette.testclient import TestClient

from qosforge.access.audit_log import UNKNOWN, Call, CallFilter, LoggedCall
from qosforge.access.call_kinds import kinds_of
from qosforge.access.roles import Role
from qosforge.api.backend import Backend
from qosforge.web.site import create_site
from qosforge.web.views.calls import call_view
from tests.web.people import Persons

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
    assert first.index("POST /users/root/disable") < first.index("POST /account/tokens")
    older = re.search(r'href="(/calls\?[^"]*before=[^"]*)"', first)
    assert older is not None
    second = client.get(older[1].replace("&amp;", "&")).text
    assert "Start a run" in second
    assert "POST /api/v1/runs" in second
    assert "why: &lt;i&gt;moved&lt;/i&gt;" in second
    assert "/users/root/disable" not in second
    refused = client.get("/calls", params={"result": "refused", "who": "root", "network": ""}).text
    assert refused.count("Disable user root") == 1
    assert "status 409" in refused
    assert "POST /account/tokens" not in refused
    assert "No entry fits this filter." in client.get("/calls", params={"who": "<script>"}).text
    today = datetime.now(UTC).date()
    of_today = client.get("/calls", params={"since": str(today - timedelta(days=1)), "until": ""}).text
    assert "Disable user root" in of_today
    assert f'name="since" value="{today - timedelta(days=1)}"' in of_today
    assert (
        "No entry fits this filter." in client.get("/calls", params={"until": str(today - timedelta(days=2))}).text
    )
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
        return re.findall(r"</summary><code>([^<]+)</code>", page)[::-1]

    assert len(asked()) == 13
    assert asked(kind="runs") == ["POST /api/v1/runs", "POST /measurements"]
    assert asked(kind="policies") == ["POST /policies/gold/versions"]
    assert asked(kind="networks") == ["PUT /api/v1/networks/campus/drift", "qosforge drift watch"]
    assert asked(kind="people") == ["POST /users/ann/enable", "PUT /me/password", "qosforge user add"]
    assert asked(kind="webhooks") == ["POST /webhooks"]
    assert asked(kind="service") == ["qosforge backup create"]
    sessions = ["POST /login", "GET /api/v1/login/oidc/callback"]
    assert asked(kind="sessions") == sessions
    assert asked(kind="changes") == [action for action in asked() if action not in sessions], (
        "everything else, also what an older release was asked for"
    )
    assert asked(kind="changes", result="failed") == ["PUT /api/v1/networks/campus/drift"]
    refused, failed, unknown = asked(result="refused"), asked(result="failed"), asked(result="unknown")
    assert refused == ["POST /measurements", "qosforge user add", "POST /login"]
    assert failed == ["PUT /api/v1/networks/campus/drift"]
    assert unknown == ["qosforge drift watch"]
    assert sorted(asked(result="not_done")) == sorted([*refused, *failed, *unknown])
    assert sorted([*asked(result="done"), *asked(result="not_done")]) == sorted(asked())
    assert asked(result="refused", kind="people") == ["qosforge user add"]
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
    def page(action: str, resource: str = "") -> str:
        return call_view(
            lambda text: text, LoggedCall(action, 200, resource=resource, seq=1, at=datetime.now(UTC))
        ).page

    run = "01a22270-a580-71aa-a7b8-a108273de928"
    assert page("POST /runs", f"/api/v1/runs/{run}") == f"/runs/{run}"
    assert page(f"POST /api/v1/runs/{run}/approve", f"/api/v1/runs/{run}/approve") == f"/runs/{run}"
    assert page("PUT /api/v1/users/ann/grants/campus") == "/users/ann"
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
