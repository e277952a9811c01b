from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

import httpx2
import pytest
from joserfc.jwk import RSAKey
from starlette.testclient import TestClient

from qosforge.access.audit_log import calls_page
from qosforge.access.passwords import hash_password, set_password
from qosforge.access.roles import Role
from qosforge.access.users import add_user, disable, find_user, grant
from qosforge.api.application import create_app
from qosforge.api.backend import Backend, open_backend
from qosforge.settings import Settings
from tests.access.provider import CLIENT, SECRET, IdentityProvider, serving
from tests.api.conftest import People

LOGIN = "/api/v1/login"
PASSWORD = "a long enough password"


@pytest.fixture(scope="module")
def password_hash() -> str:
    return hash_password(PASSWORD)


@pytest.fixture
def ann(backend: Backend, password_hash: str) -> dict[str, str]:
    """An operator of campus who logs in by password."""
    with backend.database.write() as connection:
        add_user(connection, "ann", datetime.now(UTC))
        grant(connection, "ann", "campus", Role.OPERATOR)
        set_password(connection, find_user(connection, "ann"), password_hash, datetime.now(UTC))
    return {"name": "ann", "password": PASSWORD}


def test_a_session_may_read_and_with_its_token_change(client: TestClient, ann: dict[str, str]) -> None:
    logged_in = client.post(LOGIN, json=ann)
    assert logged_in.status_code == 200
    me = client.get("/api/v1/me").json()
    assert me == logged_in.json()
    assert (me["name"], me["credential"], me["roles"]) == ("ann", "session", {"campus": "operator"})
    order = {"role": "viewer", "networks": ["campus"]}
    refused = client.post("/api/v1/tokens", json=order)
    assert (refused.status_code, refused.json()["type"]) == (403, "urn:qosforge:problem:not-allowed")
    assert client.post("/api/v1/tokens", json=order, headers={"X-CSRF-Token": "0" * 64}).status_code == 403
    made = client.post("/api/v1/tokens", json=order, headers={"X-CSRF-Token": me["csrf"]})
    assert made.status_code == 201


def test_the_cookie_is_kept_from_scripts_and_other_sites(client: TestClient, ann: dict[str, str]) -> None:
    cookies = client.post(LOGIN, json=ann).headers.get_list("set-cookie")
    assert [cookie.partition("=")[0] for cookie in cookies] == ["qosforge", "qosforge-browser"]
    for cookie in cookies:
        assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))


def test_behind_tls_the_cookie_is_bound_to_the_host(tmp_path: Path, password_hash: str) -> None:
    settings = Settings(var_dir=tmp_path / "tls", public_url="https://qos.example.net")
    with open_backend(settings) as backend, TestClient(create_app(backend)) as client:
        with backend.database.write() as connection:
            add_user(connection, "ann", datetime.now(UTC))
            set_password(connection, find_user(connection, "ann"), password_hash, datetime.now(UTC))
        answer = client.post(LOGIN, json={"name": "ann", "password": PASSWORD})
    cookies = answer.headers.get_list("set-cookie")
    assert [cookie.partition("=")[0] for cookie in cookies] == ["__Host-qosforge", "__Host-qosforge-browser"]
    for cookie in cookies:
        assert "Secure" in cookie.split("; ")
        assert "Domain" not in cookie


def test_every_login_makes_a_new_session_and_ends_the_old_one(client: TestClient, ann: dict[str, str]) -> None:
    client.post(LOGIN, json=ann, headers={"Cookie": f"qosforge={'f' * 64}"})  # as somebody else might have set it
    first = client.cookies["qosforge"]
    assert first != "f" * 64
    client.post(LOGIN, json=ann)
    second = client.cookies["qosforge"]
    assert second != first
    client.cookies.clear()
    assert client.get("/api/v1/me", headers={"Cookie": f"qosforge={first}"}).status_code == 401
    assert client.get("/api/v1/me", headers={"Cookie": f"qosforge={second}"}).status_code == 200


def test_logout_ends_the_session_on_the_server(client: TestClient, ann: dict[str, str]) -> None:
    csrf = client.post(LOGIN, json=ann).json()["csrf"]
    cookie = client.cookies["qosforge"]
    assert client.post("/api/v1/logout").status_code == 403
    assert client.post("/api/v1/logout", headers={"X-CSRF-Token": csrf}).status_code == 204
    assert "qosforge" not in client.cookies
    assert client.get("/api/v1/me", headers={"Cookie": f"qosforge={cookie}"}).status_code == 401
    assert client.post("/api/v1/logout").status_code == 401


def test_a_wrong_login_does_not_say_what_is_wrong(client: TestClient, ann: dict[str, str]) -> None:
    answers = [
        client.post(LOGIN, json={"name": name, "password": password})
        for name, password in (("ann", "another long password"), ("nobody", PASSWORD), ("ann", ""))
    ]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.json()["detail"] for answer in answers}) == 1
    assert not any("set-cookie" in answer.headers for answer in answers)


def test_logins_that_fail_are_slowed_down(client: TestClient, ann: dict[str, str]) -> None:
    wrong = {"name": "ann", "password": "another long password"}
    assert [client.post(LOGIN, json=wrong).status_code for _ in range(6)] == [401] * 5 + [429]
    refused = client.post(LOGIN, json=ann)
    assert refused.status_code == 429
    assert 800 < int(refused.headers["Retry-After"]) <= 900


def test_logins_are_logged_without_passwords(client: TestClient, backend: Backend, ann: dict[str, str]) -> None:
    client.post(LOGIN, json={"name": "ann", "password": "another long password"})
    client.post(LOGIN, json=ann)
    calls = calls_page(backend.database, None)
    assert [(call.action, call.resource, call.status, call.actor) for call in calls] == [
        ("POST /api/v1/login", "users/ann", 401, ""),
        ("POST /api/v1/login", "users/ann", 200, "ann"),
    ]
    client.post(LOGIN, json={"name": "a-password-in-the-wrong-field", "password": PASSWORD})
    calls = calls_page(backend.database, None)
    assert (calls[-1].resource, calls[-1].status) == ("", 401)
    assert "wrong-field" not in str(calls)
    assert not any(password in str(calls) for password in ("another long password", ann["password"]))


def test_a_password_is_changed_by_who_knows_it(client: TestClient, ann: dict[str, str]) -> None:
    headers = {"X-CSRF-Token": client.post(LOGIN, json=ann).json()["csrf"]}
    new = "another good password"
    for current, wanted, status in ((new, new, 403), (PASSWORD, "short", 422), (PASSWORD, new, 204)):
        body = {"current": current, "new": wanted}
        assert client.put("/api/v1/me/password", json=body, headers=headers).status_code == status
    assert client.get("/api/v1/me").status_code == 401  # sessions end
    assert client.post(LOGIN, json=ann).status_code == 401
    assert client.post(LOGIN, json={"name": "ann", "password": new}).status_code == 200


def test_everybody_sees_and_ends_the_own_sessions(client: TestClient, people: People, ann: dict[str, str]) -> None:
    client.post(LOGIN, json=ann)
    elsewhere = client.cookies["qosforge"]
    client.cookies.clear()
    csrf = {"X-CSRF-Token": client.post(LOGIN, json=ann).json()["csrf"]}
    here, other = client.get("/api/v1/me/sessions").json()
    if not here["current"]:
        here, other = other, here
    assert (here["current"], other["current"]) == (True, False)
    assert elsewhere not in str(other)
    assert client.delete(f"/api/v1/me/sessions/{other['id']}", headers=people.admin()).status_code == 403  # a token
    assert client.delete(f"/api/v1/me/sessions/{other['id']}").status_code == 403  # without its token
    assert client.delete(f"/api/v1/me/sessions/{other['id']}", headers=csrf).status_code == 204
    assert [one["id"] for one in client.get("/api/v1/me/sessions").json()] == [here["id"]]
    assert client.delete(f"/api/v1/me/sessions/{other['id']}", headers=csrf).status_code == 404
    with TestClient(client.app, client=("192.0.2.7", 4711)) as another:
        agent = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"}
        another.post(LOGIN, json=ann, headers=agent)
        assert len(client.get("/api/v1/me/sessions").json()) == 2
        (there,) = [one for one in another.get("/api/v1/me/sessions").json() if one["current"]]
        assert (there["address"], there["browser"], there["system"]) == ("192.0.2.7", "Firefox", "Linux")
        assert client.delete("/api/v1/me/sessions?others=true", headers=csrf).status_code == 204
        assert another.get("/api/v1/me").status_code == 401
    assert [one["id"] for one in client.get("/api/v1/me/sessions").json()] == [here["id"]]
    assert client.delete("/api/v1/me/sessions", headers=csrf).status_code == 204
    assert client.get("/api/v1/me").status_code == 401


def test_a_token_changes_no_password(client: TestClient, people: People) -> None:
    body = {"current": PASSWORD, "new": "another good password"}
    answer = client.put("/api/v1/me/password", json=body, headers=people.admin())
    assert answer.status_code == 403


def test_without_a_provider_there_is_no_login_by_one(client: TestClient) -> None:
    assert client.get(f"{LOGIN}/oidc").status_code == 404
    assert client.get(f"{LOGIN}/oidc/callback", params={"code": "x"}).status_code == 404


@pytest.fixture(scope="module")
def identity() -> Iterator[IdentityProvider]:
    with serving(RSAKey.generate_key(2048, auto_kid=True)) as provider:
        yield provider


@pytest.fixture
def browser(identity: IdentityProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A browser at a service whose users log in by the provider; it is behind TLS."""
    monkeypatch.setenv("QOSFORGE_OIDC_CLIENT_SECRET", SECRET)
    url = "https://qos.example.net"
    settings = Settings(
        var_dir=tmp_path / "oidc", oidc_issuer=identity.issuer, oidc_client_id=CLIENT, public_url=url
    )
    with (
        open_backend(settings) as backend,
        TestClient(create_app(backend), base_url=url, follow_redirects=False) as client,
    ):
        yield client


def log_in_by_provider(browser: TestClient, to: str = "") -> httpx2.Response:
    """The browser's way to the provider and back."""
    away = browser.get(f"{LOGIN}/oidc", params={"to": to} if to else {})
    assert away.status_code == 303
    return browser.get(httpx2.get(away.headers["Location"]).headers["Location"])


def backend_of(browser: TestClient) -> Backend:
    backend: Backend = browser.app.state.backend  # type: ignore[attr-defined]
    return backend


def test_a_user_logs_in_by_a_provider(browser: TestClient, identity: IdentityProvider) -> None:
    backend = backend_of(browser)
    with backend.database.write() as connection:
        add_user(connection, "ann", datetime.now(UTC), issuer=identity.issuer, subject=identity.subject)
        grant(connection, "ann", "campus", Role.VIEWER)
    back = log_in_by_provider(browser)
    assert (back.status_code, back.headers["Location"]) == (303, "/")
    assert set(browser.cookies) == {"__Host-qosforge"}
    assert browser.get("/api/v1/me").json()["roles"] == {"campus": "viewer"}
    (call,) = calls_page(backend.database, None)
    assert (call.action, call.status, call.actor) == ("GET /api/v1/login/oidc/callback", 303, "ann")
    assert call.detail["subject"] == identity.subject


@pytest.mark.parametrize(
    ("to", "then"),
    [
        ("/runs?status=kept", "/runs?status=kept"),
        ("//evil.example", "/"),
        ("https://evil.example/", "/"),
        ("/é", "/é"),
    ],
)
def test_a_login_by_a_provider_leads_to_the_page_that_was_asked_for(
    browser: TestClient, identity: IdentityProvider, to: str, then: str
) -> None:
    with backend_of(browser).database.write() as connection:
        add_user(connection, "ann", datetime.now(UTC), issuer=identity.issuer, subject=identity.subject)
    back = log_in_by_provider(browser, to)
    assert unquote(back.headers["Location"]) == then


def test_a_changed_cookie_of_a_login_leads_nowhere_else(browser: TestClient, identity: IdentityProvider) -> None:
    with backend_of(browser).database.write() as connection:
        add_user(connection, "ann", datetime.now(UTC), issuer=identity.issuer, subject=identity.subject)
    away = browser.get(f"{LOGIN}/oidc")
    name, value = next(iter(browser.cookies.items()))
    browser.cookies.clear()
    cookie = f"{name}={value}.not-base64%"
    back = browser.get(httpx2.get(away.headers["Location"]).headers["Location"], headers={"Cookie": cookie})
    assert back.headers["Location"] == "/"


def test_another_site_cannot_log_anybody_in(client: TestClient, ann: dict[str, str]) -> None:
    body = json.dumps(ann)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        answer = client.post(LOGIN, content=body, headers={"Content-Type": kind})
        assert answer.status_code == 422
        assert "set-cookie" not in answer.headers


def test_an_unknown_subject_is_refused_and_named(browser: TestClient, identity: IdentityProvider) -> None:
    back = log_in_by_provider(browser)
    assert back.status_code == 401
    assert identity.subject in back.json()["detail"]
    assert "__Host-qosforge" not in browser.cookies
    (call,) = calls_page(backend_of(browser).database, None)
    assert (call.status, call.actor, call.detail["subject"]) == (401, "", identity.subject)


def test_a_login_that_the_browser_did_not_begin_is_refused(browser: TestClient) -> None:
    away = browser.get(f"{LOGIN}/oidc")
    back = httpx2.get(away.headers["Location"]).headers["Location"]
    browser.cookies.clear()
    assert browser.get(back).status_code == 401


def test_a_disabled_user_does_not_log_in_by_a_provider(browser: TestClient, identity: IdentityProvider) -> None:
    with backend_of(browser).database.write() as connection:
        add_user(connection, "ann", datetime.now(UTC), issuer=identity.issuer, subject=identity.subject)
        disable(connection, "ann", datetime.now(UTC))
    assert log_in_by_provider(browser).status_code == 401


def test_the_owner_comes_in_by_a_known_browser_while_others_guess(
    client: TestClient, backend: Backend, ann: dict[str, str]
) -> None:
    answer = client.post(LOGIN, json=ann)
    (cookie,) = [one for one in answer.headers.get_list("set-cookie") if one.startswith("qosforge-browser=")]
    assert {"httponly", "samesite=lax"} <= {part.strip().lower() for part in cookie.split(";")}
    known = client.cookies["qosforge-browser"]
    client.cookies.clear()
    guess = {**ann, "password": "not the right one at all"}
    statuses = [client.post(LOGIN, json=guess).status_code for _ in range(7)]
    assert statuses[-1] == 429
    assert client.post(LOGIN, json=ann).status_code == 429, "a browser that is not known"
    client.cookies.set("qosforge-browser", "made-up")
    assert client.post(LOGIN, json=ann).status_code == 429
    client.cookies.clear()
    client.cookies.set("qosforge-browser", known)
    again = client.post(LOGIN, json=ann)
    assert again.status_code == 200
    assert "qosforge-browser=" not in str(again.headers.get_list("set-cookie")), "it is known already"
    assert client.get("/api/v1/runs").status_code == 200
    client.cookies.clear()
    client.cookies.set("qosforge-browser", known)
    assert client.get("/api/v1/runs").status_code == 401, "it opens nothing"
