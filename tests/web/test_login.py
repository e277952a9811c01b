"""Login and logout by the pages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest
from joserfc.jwk import RSAKey
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.access.users import add_user, grant
from qosforge.api.backend import Backend, open_backend
from qosforge.settings import Settings
from qosforge.web.site import create_site
from tests.access.provider import CLIENT, SECRET, IdentityProvider, serving
from tests.web.people import PASSWORD, Person, Persons

FORM = {"name": "ann", "password": PASSWORD}


@pytest.fixture
def ann(persons: Persons) -> Person:
    return persons.add("ann", Role.OPERATOR)


@pytest.mark.parametrize(
    ("to", "then"),
    [
        ("/runs?status=kept", "/runs?status=kept"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("/\t/evil.example", "/"),
    ],
)
def test_a_login_leads_to_a_page_of_this_site_only(client: TestClient, ann: Person, to: str, then: str) -> None:
    asked = client.get("/login", params={"to": to})
    assert f'name="to" value="{then}"' in asked.text
    answer = client.post("/login", data={**FORM, "to": to}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, then)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "same-origin", "Origin": "null"}, 303),
        ({"Sec-Fetch-Site": "none"}, 303),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "http://testserver"}, 403),
        ({"Origin": "http://testserver"}, 303),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://testserver.evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({}, 303),  # no browser
    ],
)
def test_another_site_logs_nobody_in(client: TestClient, ann: Person, headers: dict[str, str], status: int) -> None:
    answer = client.post("/login", data=FORM, headers=headers, follow_redirects=False)
    assert answer.status_code == status
    assert ("set-cookie" in answer.headers) == (status == 303)


def test_a_session_that_was_given_beforehand_is_none(client: TestClient, ann: Person) -> None:
    planted = "f" * 64
    client.cookies.set("qosforge", planted)
    client.post("/login", data=FORM, follow_redirects=False)
    first = client.cookies.get("qosforge", domain="testserver.local")
    assert first not in (None, planted)
    client.cookies.clear()
    for cookie, status in ((planted, 303), (first, 200)):
        answer = client.get("/", headers={"Cookie": f"qosforge={cookie}"}, follow_redirects=False)
        assert answer.status_code == status
    again = client.post("/login", data=FORM, headers={"Cookie": f"qosforge={first}"}, follow_redirects=False)
    second = again.cookies["qosforge"]
    assert second != first
    client.cookies.clear()
    old = client.get("/", headers={"Cookie": f"qosforge={first}"}, follow_redirects=False)
    assert old.headers["location"] == "/login?to=%2F&because=ended"


def test_failed_logins_say_how_long_to_wait(client: TestClient, ann: Person) -> None:
    wrong = {**FORM, "password": "not the right password"}
    answers = [client.post("/login", data=wrong) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [401] * 5 + [429]
    assert "Name or password is wrong." in answers[0].text
    assert 'value="ann"' in answers[0].text
    assert "not the right password" not in "".join(answer.text for answer in answers)
    seconds = answers[-1].headers["retry-after"]
    assert f"Try again in {seconds} seconds." in answers[-1].text


def test_who_is_sent_to_log_in_is_reported_why(client: TestClient, ann: Person) -> None:
    assert client.get("/", follow_redirects=False).headers["location"] == "/login?to=%2F"
    session = ann.log_in(client)
    out = client.post("/logout", headers=session)
    assert (out.status_code, out.headers["hx-redirect"]) == (204, "/login?because=logged-out")
    assert "You are logged out." in client.get("/login?because=logged-out").text
    assert "Your session ended." in client.get("/login?because=ended").text
    assert client.get("/login?because=nothing").status_code == 200
    assert client.post("/logout", headers=session).headers["hx-redirect"]  # once more is all the same


def test_a_page_of_another_site_logs_nobody_out(client: TestClient, ann: Person) -> None:
    ann.log_in(client)
    assert client.post("/logout").status_code == 403
    assert client.get("/", follow_redirects=False).status_code == 200


@pytest.fixture(scope="module")
def identity() -> Iterator[IdentityProvider]:
    with serving(RSAKey.generate_key(2048, auto_kid=True)) as provider:
        yield provider


@pytest.fixture
def at_provider(
    identity: IdentityProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Backend, TestClient]]:
    """A site whose users log in by a provider."""
    monkeypatch.setenv("QOSFORGE_OIDC_CLIENT_SECRET", SECRET)
    url = "https://qos.example.net"
    settings = Settings(
        var_dir=tmp_path / "oidc", oidc_issuer=identity.issuer, oidc_client_id=CLIENT, public_url=url
    )
    with (
        open_backend(settings) as backend,
        TestClient(create_site(backend), base_url=url, follow_redirects=False) as client,
    ):
        yield backend, client


def test_a_login_by_a_provider_is_offered_and_leads_back(
    at_provider: tuple[Backend, TestClient], identity: IdentityProvider
) -> None:
    backend, client = at_provider
    assert 'href="/api/v1/login/oidc?to=/runs%3Fstatus%3Dkept"' in client.get("/login?to=/runs?status=kept").text
    away = client.get("/api/v1/login/oidc?to=/runs%3Fstatus%3Dkept").headers["location"]
    back = httpx2.get(away).headers["location"]
    for accept, kind in (("text/html,*/*", "text/html; charset=utf-8"), ("*/*", "application/problem+json")):
        unknown = client.get(back, headers={"Accept": accept})
        assert (unknown.status_code, unknown.headers["content-type"]) == (401, kind)
        assert identity.subject in unknown.text
        back = httpx2.get(client.get("/api/v1/login/oidc?to=/runs%3Fstatus%3Dkept").headers["location"]).headers[
            "location"
        ]
    with backend.database.write() as connection:
        add_user(connection, "ann", datetime.now(UTC), issuer=identity.issuer, subject=identity.subject)
        grant(connection, "ann", "campus", Role.VIEWER)
    assert client.get(back).headers["location"] == "/runs?status=kept"
    assert client.get("/").status_code == 200
