"""Whatever fails outside the interface is told to people, not to programs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Annotated

import pytest
from fastapi import APIRouter, Form
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend, open_backend
from qosforge.compute import TooBusy, TookTooLong
from qosforge.errors import InputError, Place, StoreError
from qosforge.settings import Settings
from qosforge.web.pages import Page, ThePage, sees
from qosforge.web.site import create_site
from tests.web.people import Person, Persons

HTMX = {"HX-Request": "true"}

router = APIRouter()


@router.post("/trial/{what}", dependencies=sees(Role.VIEWER, recorded=False))
def trial(what: str, days: Annotated[int, Form(le=365, title="Days to live")] = 1) -> str:
    """Fails as it is told."""
    match what:
        case "input":
            raise InputError("no <b>such</b> device", Place(path="device"), "name another one")
        case "store":
            raise StoreError("the store is away", hint="wait")
        case "busy":
            raise TooBusy("too many computations wait")
        case "long":
            raise TookTooLong("it took too long")
        case _:
            raise RuntimeError("a secret")


@router.get("/broken", dependencies=sees(Role.VIEWER))
def broken(page: ThePage) -> str:
    """A page that cannot be made."""
    return str(page.answer("there-is-no-such-template.html.j2"))


@pytest.fixture
def client(backend: Backend) -> Iterator[TestClient]:
    app = create_site(backend)
    app.include_router(router, include_in_schema=False)
    with TestClient(app, raise_server_exceptions=False, follow_redirects=False) as made:
        yield made


@pytest.fixture
def session(client: TestClient, persons: Persons) -> dict[str, str]:
    client.follow_redirects = True
    carried = persons.add("ann", Role.OPERATOR).log_in(client)
    client.follow_redirects = False
    del carried["HX-Request"]
    return carried


@pytest.mark.parametrize(
    ("what", "status", "told"),
    [
        ("input", 422, "no &lt;b&gt;such&lt;/b&gt; device"),
        ("store", 503, "the store is away"),
        ("busy", 503, "Others are at work. Wait 2 s"),
        ("long", 504, "Look whether it was done before you repeat it"),
        ("bug", 500, "It is our fault"),
    ],
)
def test_every_failure_is_a_page_or_a_message(
    client: TestClient, session: dict[str, str], what: str, status: int, told: str
) -> None:
    page = client.post(f"/trial/{what}", headers=session)
    message = client.post(f"/trial/{what}", headers=session | HTMX)
    for answer in (page, message):
        assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
        assert told.lower() in answer.text.lower()
        assert "secret" not in answer.text
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert answer.headers["cache-control"] == "no-store"
    assert page.headers["x-request-id"] in page.text
    assert page.text.startswith("<!doctype html>")
    assert message.text.startswith("<div")
    assert message.headers["hx-retarget"] == "#messages"
    assert (status < 500) == (message.headers["x-request-id"] not in message.text)


def test_an_unknown_address_is_reported_with_the_menu(client: TestClient, session: dict[str, str]) -> None:
    missing = client.get("/nothing/here")
    assert (missing.status_code, "There is no such page" in missing.text) == (404, True)
    assert 'aria-label="Main"' in missing.text, "the menu"
    assert ">ann</a>" in missing.text
    client.cookies.clear()
    stranger = client.get("/nothing/here")
    assert (stranger.status_code, 'aria-label="Main"' in stranger.text) == (404, False)


def test_a_missing_network_is_told_as_one_that_is_not_to_be_seen(client: TestClient, persons: Persons) -> None:
    bea = persons.add("bea", Role.OPERATOR, "campus").log_in(client)
    said = []
    for name in ("infn-fnal", "nix-nix-n"):  # one is there
        for part in ("", "/audit", "/devices/router1"):
            answer = client.get(f"/networks/{name}{part}")
            assert f"There is no network {name}, or you may not see it" in answer.text
            assert "You are operator on campus." in answer.text
            assert '<a class="button primary" href="/networks">Networks</a>' in answer.text
            plain = answer.text.replace(name, "").replace(answer.headers["x-request-id"], "")
            said.append(
                (part, answer.status_code, re.sub(r'content="[0-9a-f]{64}"|value="[0-9a-f]{64}"', "", plain))
            )
    assert said[:3] == said[3:]
    fragment = client.post("/networks/nix/devices/r1/now", headers=bea)
    assert "There is no network nix, or you may not see it" in fragment.text


def test_a_missing_device_is_told_by_its_name_and_leads_to_its_network(
    client: TestClient, persons: Persons
) -> None:
    bea = persons.add("bea", Role.OPERATOR, "campus").log_in(client)
    answer = client.get("/networks/campus/devices/nix")
    assert answer.status_code == 404
    assert "<h1>There is no device nix in campus</h1>" in answer.text
    assert "The network has r1, r2, " in answer.text
    assert '<a class="button primary" href="/networks/campus">campus</a>' in answer.text
    assert "There is no network" not in answer.text
    fragment = client.post("/networks/campus/devices/nix/now", headers=bea)
    assert "There is no device nix in campus" in fragment.text


def test_pages_for_administrators_say_so_and_what_one_is(client: TestClient, persons: Persons) -> None:
    persons.add("cid", Role.OPERATOR, "campus").log_in(client)
    for path, told in (
        ("/users", "Users: for administrators of every network. You are operator on campus."),
        ("/webhooks", "Webhooks: for administrators of every network."),
        ("/calls", "Audit log: for administrators."),
    ):
        answer = client.get(path)
        assert (answer.status_code, told in answer.text) == (403, True), answer.text
        assert '<a class="button primary" href="/">' in answer.text


def shared_beginning(*words: str) -> str:
    """What all of them begin with."""
    return "".join(letters[0] for letters in takewhile(lambda some: len(set(some)) == 1, zip(*words, strict=True)))


def test_a_run_is_found_by_the_beginning_of_its_id(client: TestClient, persons: Persons, backend: Backend) -> None:
    store = backend.run_requests.store
    near = [store.create_run("campus", "gold", "f" * 64, {}).id for _ in range(2)]
    far = store.create_run("infn-fnal", "gold", "f" * 64, {}).id
    common = shared_beginning(*near, far)
    short = near[0][: len(shared_beginning(*near)) + 1]
    persons.add("dan", Role.VIEWER, "campus").log_in(client)
    for path in (f"/runs/{short}?tab=events", f"/runs/{short.upper()}?tab=events"):
        led = client.get(path)
        assert (led.status_code, led.headers["location"]) == (303, f"/runs/{near[0]}?tab=events")
    several = client.get(f"/runs/{common}")
    assert (several.status_code, f"Several runs begin with {common}" in several.text) == (404, True)
    assert near[0] not in several.text
    missing = [
        client.get(f"/runs/{wanted}")
        for wanted in (far, far[:-1], "0" * 13, "00000000-0000-7000-8000-000000000000")
    ]
    for answer in missing:
        assert answer.status_code == 404
        assert re.search(r"There is no run [0-9a-f-]+, or you may not see it", answer.text)
        assert '<a class="button primary" href="/runs">Runs</a>' in answer.text
    persons.add("eli", Role.VIEWER, "infn-fnal").log_in(client)
    assert client.get(f"/runs/{common}").headers["location"] == f"/runs/{far}", "of those that one may see"
    client.cookies.clear()
    assert client.get(f"/runs/{short}").headers["location"] == f"/login?to=%2Fruns%2F{short}"


def test_who_has_to_log_in_is_told_what_for(client: TestClient, persons: Persons) -> None:
    for path, told in (("/runs", "Runs"), ("/networks/campus?tab=links", "Networks"), ("/users", "Users")):
        page = client.get(client.get(path).headers["location"]).text
        assert f"Log in to go on to {told}." in page
    assert "to go on to" not in client.get("/login").text
    assert "to go on to" not in client.get("/login?to=%2Fruns&because=logged-out").text


def test_a_wrong_method_is_reported_plainly(client: TestClient, session: dict[str, str]) -> None:
    wrong = client.put("/login", headers=session)
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET, POST")
    assert "Method" not in wrong.text


def test_a_form_is_reported_by_what_people_call_its_fields(client: TestClient, session: dict[str, str]) -> None:
    for given, told in (("x", "takes a whole number"), ("400", "takes 365 at most")):
        answer = client.post("/trial/input", data={"days": given}, headers=session | HTMX)
        assert answer.status_code == 422
        assert f"Days to live: {told}" in answer.text
        assert 'data-field="days"' in answer.text
    empty = client.post("/login", data={"name": "ann"})
    assert (empty.status_code, "password: is needed" in empty.text) == (422, True)


def test_who_is_not_logged_in_is_asked_to_and_loses_nothing(client: TestClient, persons: Persons) -> None:
    persons.add("ann", Role.VIEWER)
    assert client.get("/broken?a=b%26c").headers["location"] == "/login?to=%2Fbroken%3Fa%3Db%2526c"
    sent = client.post("/trial/input", data={"days": "3"})
    assert (sent.status_code, 'href="/login"' in sent.text) == (401, True)
    in_work = client.post("/trial/input", data={"days": "3"}, headers=HTMX)
    assert in_work.status_code == 401
    assert "Your session has ended." in in_work.text
    assert 'target="_blank"' in in_work.text


def test_without_any_role_one_is_reported_whom_to_ask(client: TestClient, persons: Persons) -> None:
    persons.add("new")
    answer = client.post("/login", data={"name": "new", "password": "correct horse battery"}, follow_redirects=True)
    assert answer.status_code == 403
    assert "ask an administrator for the role" in answer.text
    assert "Log out" in answer.text


def test_a_page_that_cannot_be_made_is_a_problem_and_no_loop(
    client: TestClient, session: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = client.get("/broken")
    assert (broken.status_code, "It is our fault" in broken.text) == (500, True)

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("the base template is broken")

    monkeypatch.setattr(Page, "answer", fails)
    for answer in (client.get("/broken"), client.get("/nothing"), client.post("/trial/bug", headers=session)):
        assert answer.status_code in (404, 500)
        assert answer.headers["content-type"].startswith("text/plain")
        assert answer.headers["x-request-id"] in answer.text
        assert "broken" not in answer.text
        assert answer.headers["x-frame-options"] == "DENY"


def test_head_is_get_without_its_body(client: TestClient, session: dict[str, str]) -> None:
    for path, status in (("/", 200), ("/login", 200), ("/static/site.css", 200), ("/nothing", 404)):
        answer = client.head(path)
        assert (answer.status_code, answer.content) == (status, b"")
        assert answer.headers["content-type"] == client.get(path).headers["content-type"]


def test_too_much_at_once_and_too_large_are_pages(tmp_path: Path) -> None:
    settings = Settings(
        var_dir=tmp_path / "var", compute_processes=1, requests_per_minute=10, request_bytes=100_000
    )
    with open_backend(settings) as backend, TestClient(create_site(backend)) as client:
        large = client.post("/login", data={"name": "a", "password": "b" * 200_000})
        assert (large.status_code, "larger than the service takes" in large.text) == (413, True)
        answers = [client.get("/login") for _ in range(12)]
    assert answers[-1].status_code == 429
    assert f"Wait {answers[-1].headers['retry-after']} s" in answers[-1].text
    assert answers[-1].text.startswith("<!doctype html>")


def test_the_interface_keeps_its_own_problems(client: TestClient, persons: Persons) -> None:
    assert client.get("/api/v1/nothing").headers["content-type"] == "application/problem+json"
    person: Person = persons.add("bob", Role.VIEWER)
    wrong = client.post("/api/v1/login", json={"name": person.name})
    assert wrong.json()["errors"][0]["path"] == "body.password"
