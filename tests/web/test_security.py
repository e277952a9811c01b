"""What every page must hold against those who mean harm."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend, open_backend
from qosforge.api.docs import needs_of
from qosforge.settings import Settings
from qosforge.web.assets import asset
from qosforge.web.pages import POLICY as CONTENT_POLICY
from qosforge.web.site import create_site
from tests.parts import is_refused
from tests.web.furnished import ADMIN, FRAGMENTS, MARKUP, NOT_THERE_YET, SAMPLES, furnish, page_routes
from tests.web.people import PASSWORD, Person, Persons

pytestmark = pytest.mark.hostile

PUBLIC = {("GET", "/login"), ("POST", "/login"), ("POST", "/logout")}
"""Pages that need no role; of these, the calls that change something are tried in the tests of the login."""


@dataclass(frozen=True)
class Furnished:
    """A site with something on every page, and who manages it."""

    app: FastAPI
    backend: Backend
    client: TestClient
    admin: Person
    places: dict[str, str]

    def sample(self, path: str) -> str:
        """An address of a route."""
        return SAMPLES[path].format(**self.places)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Furnished]:
    settings = Settings(var_dir=tmp_path_factory.mktemp("security") / "var", compute_processes=1)
    with open_backend(settings) as backend:
        app = create_site(backend)
        places = furnish(backend)
        with TestClient(app, follow_redirects=False) as client:
            yield Furnished(app, backend, client, Persons(backend).find(ADMIN), places)


@pytest.fixture
def session(site: Furnished) -> Iterator[dict[str, str]]:
    """What calls carry of a session of an admin, in which the client is meanwhile."""
    yield site.admin.log_in(site.client)
    site.client.cookies.clear()


class Markup(HTMLParser):
    """Collects what a strict policy would not run, what is loaded, and elements that texts of ours never are."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.inline: list[str] = []
        self.loaded: list[str] = []
        self.images: list[str] = []
        self._script = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._script = tag == "script" and given.get("type") not in ("application/json",)
        if tag == "style":
            self.inline.append("<style>")
        if tag == "img":
            self.images.append(str(attrs))
        for name, value in attrs:
            harmful = name.startswith(("on", "hx-on")) or name == "style" or "javascript:" in (value or "").lower()
            if harmful:
                self.inline.append(f"<{tag} {name}={value!r}>")
            if name in ("src", "action", "formaction", "data") or (name == "href" and tag in ("link", "base")):
                self.loaded.append(value or "")

    def handle_data(self, data: str) -> None:
        if self._script and data.strip():
            self.inline.append(f"<script>{data}")

    def handle_endtag(self, tag: str) -> None:
        self._script = False


def test_every_page_route_says_its_role_or_is_public(site: Furnished) -> None:
    needs = needs_of(site.app)
    routes = page_routes(site.app)
    assert len(routes) > 20
    without = {(method, path) for method, path in routes if (path, method.lower()) not in needs}
    assert without == PUBLIC


def test_every_page_has_a_sample_address(site: Furnished) -> None:
    assert {path for method, path in page_routes(site.app) if method == "GET"} == set(SAMPLES)


def test_no_page_opens_to_who_is_not_logged_in(site: Furnished) -> None:
    for path in set(SAMPLES) - {"/login"}:
        answer = site.client.get(site.sample(path))
        assert (answer.status_code, answer.headers["location"][:11]) == (303, "/login?to=%")


def test_calls_that_change_something_carry_the_sessions_own_token(site: Furnished, session: dict[str, str]) -> None:
    eve = Persons(site.backend).add("eve", Role.ADMIN)
    with TestClient(site.app) as elsewhere:
        of_another = eve.log_in(elsewhere)["X-CSRF-Token"]
    tried = 0
    for method, path in page_routes(site.app) - PUBLIC:
        if method in ("GET", "HEAD"):
            continue
        address = re.sub(r"{(\w+)}", lambda part: site.places["run"] if part[1] == "run_id" else "ann", path)
        for headers in ({}, {"X-CSRF-Token": "0" * 64}, {"X-CSRF-Token": of_another}, {"HX-Request": "true"}):
            answer = site.client.request(method, address, headers=headers)
            assert answer.status_code == 403, (method, address, answer.text)
            assert "token" in answer.text
            tried += 1
    assert tried > 20
    assert site.client.get("/account").status_code == 200


def test_no_page_runs_or_loads_what_is_not_the_sites_own(site: Furnished, session: dict[str, str]) -> None:
    for path in SAMPLES:
        for headers in ({}, {"HX-Request": "true"}):
            answer = site.client.get(site.sample(path), headers=headers)
            if headers and "hx-redirect" in answer.headers:  # a script that asks is sent to the page itself
                assert answer.headers["hx-redirect"].startswith(path)
                answer = site.client.get(answer.headers["hx-redirect"])
            if headers and "hx-refresh" in answer.headers:  # or told that the whole page is another one by now
                answer = site.client.get(site.sample(path))
            expected = 404 if path in NOT_THERE_YET else 200
            assert answer.status_code == expected or (path.endswith(".pdf") and is_refused(answer)), path
            if not answer.headers["content-type"].startswith("text/html"):
                continue
            assert answer.headers["content-security-policy"] == CONTENT_POLICY
            assert answer.headers["x-frame-options"] == "DENY"
            assert answer.headers["cache-control"] == "no-store"
            assert answer.headers["x-content-type-options"] == "nosniff"
            if not headers and path not in NOT_THERE_YET:
                assert answer.text.startswith("<!doctype html>") == (path not in FRAGMENTS), path
            found = Markup(answer.text)
            assert found.inline == [], path
            assert all(address.startswith("/") and not address.startswith("//") for address in found.loaded), path


def test_the_policy_of_pages_allows_nothing_inline_and_no_frame() -> None:
    rules = dict(rule.strip().split(" ", 1) for rule in CONTENT_POLICY.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["frame-ancestors"] == rules["base-uri"] == "'none'"
    assert {rules[name] for name in ("script-src", "style-src", "connect-src", "form-action")} == {"'self'"}
    assert "unsafe" not in CONTENT_POLICY


def test_texts_of_people_and_devices_are_never_markup(site: Furnished, session: dict[str, str]) -> None:
    shown = set()
    for path in SAMPLES:
        text = site.client.get(site.sample(path)).text
        assert MARKUP not in text, path
        assert Markup(text).images == [], path
        if "onerror=alert(1)" in text:
            shown.add(path)
        if path in ("/runs/{run_id}", "/networks/{network}/devices/{device}"):
            assert "match &lt;img" in text, path  # a device's line
    assert {
        "/account",
        "/users/{name}",
        "/calls",
        "/policies",
        "/policies/{name}",
        "/policies/{name}/edit",
    } <= shown


@pytest.mark.parametrize("name", [MARKUP, "a" * 65, "ann<b>", "Ann", "../ann", "ann\n", "-ann", "", "ann\u202e"])
def test_a_users_name_holds_no_markup(site: Furnished, session: dict[str, str], name: str) -> None:
    answer = site.client.post("/users", data={"name": name}, headers=session)
    assert answer.status_code == (400 if "\u202e" in name else 422)
    assert Markup(answer.text).images == []


@pytest.mark.parametrize(
    "query",
    [
        "/login?to=%22%3E{}",
        "/login?because={}",
        "/{}",
        "/calls?who=%22%3E{}",
        "/calls?{}=1",
        "/users/{}",
        "/policies/{}",
        "/policies/new?name={}",
        "/runs/{}",
        "/runs?status={}",
    ],
)
def test_an_address_is_never_markup(site: Furnished, session: dict[str, str], query: str) -> None:
    for headers in ({}, {"HX-Request": "true"}):
        answer = site.client.get(query.format("%3Cimg%20src=x%20onerror=alert(1)%3E"), headers=headers)
        assert answer.headers["content-type"].startswith("text/html")
        assert Markup(answer.text).images == []
        assert "<img" not in answer.text


def test_every_redirect_stays_on_this_site(site: Furnished) -> None:
    for path in ("//evil.example/", "/%2F%2Fevil.example", "/\\evil.example", "/users?next=//evil.example"):
        answer = site.client.get(path)
        assert answer.headers.get("location", "/login").startswith("/login")


def test_the_cookie_is_for_this_site_and_no_script(site: Furnished) -> None:
    answer = site.client.post("/login", data={"name": ADMIN, "password": PASSWORD})
    flags = set(answer.headers["set-cookie"].split("; "))
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= flags
    assert not any(flag.startswith("Domain") for flag in flags)
    site.client.cookies.clear()


def test_assets_are_served_by_name_alone(site: Furnished) -> None:
    client = site.client
    for path in (
        "/static/../site.py",
        "/static/%2e%2e/site.py",
        "/static/..%2fsite.py",
        "/static/a/site.css",
        "/static//etc/passwd",
        "/static/",
        "/static/site.css/",
        "/static/site.css%00",
    ):
        answer = client.get(path)
        assert (answer.status_code, "root:" in answer.text, "ROUTERS" in answer.text) == (404, False, False), path
    kinds = {
        "site.css": "text/css",
        "site.js": "text/javascript",
        "htmx.js": "text/javascript",
        "idiomorph.js": "text/javascript",
        "icon.svg": "image/svg",
    }
    for name, kind in kinds.items():
        answer = client.get(asset(name))
        assert answer.headers["content-type"].startswith(kind)
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert client.get(f"/static/{name}?v=0").headers["cache-control"] == "no-cache"
    assert client.post("/static/site.css").status_code == 405


def test_a_trace_or_an_unknown_method_is_refused(site: Furnished, session: dict[str, str]) -> None:
    for method in ("TRACE", "OPTIONS", "PATCH", "PROPFIND"):
        assert site.client.request(method, "/account", headers=session).status_code == 405
