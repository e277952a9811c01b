"""The connection to a service: what it sends, and what it tells of every way to fail."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest

from qosforge.access.roles import NotAllowed, NotAuthenticated
from qosforge.client import connection as module
from qosforge.client.connection import Connection, Unreachable
from qosforge.client.problems import RejectedByService
from qosforge.errors import DeviceErrors, InputError, InputErrors, QosforgeError, ServiceError

from .support import Answer, Asked, document, scripted

TOKEN = "qf_secret"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.02)


def problem(status: int, detail: str, **more: Any) -> Answer:
    return document({"type": "urn:x", "title": "T", "status": status, "detail": detail, **more}, status)


def test_a_call_carries_the_token_the_query_and_the_key() -> None:
    with scripted(document({"id": "r"})) as (url, asked), Connection(url + "/", TOKEN) as connection:
        assert connection.get("/runs", {"limit": 3, "status": None}) == {"id": "r"}
        connection.post("/runs", {"network": "campus"}, key="k1")
    first, second = asked
    assert (first.method, first.path) == ("GET", "/api/v1/runs?limit=3")
    assert first.headers["authorization"] == f"Bearer {TOKEN}"
    assert "idempotency-key" not in first.headers
    assert (second.headers["idempotency-key"], second.body) == ('"k1"', b'{"network":"campus"}')


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("qos.example.org", "no address"),
        ("ftp://qos.example.org", "no address"),
        ("https://", "no address"),
        ("https://qos.example.org:port", "no address"),
        ("https://qos.example.org/?x=1", "no address"),
        ("https://user:pw@qos.example.org", "credentials do not belong"),
        ("http://qos.example.org", "unencrypted"),
    ],
)
def test_a_wrong_address_is_reported_before_anything_is_sent(url: str, why: str) -> None:
    with pytest.raises(InputError, match=why) as caught:
        Connection(url, TOKEN)
    assert caught.value.hint
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize("token", ["", "two words", "line\nbreak", "ü"])
def test_a_token_that_is_none_is_reported(token: str) -> None:
    with pytest.raises(InputError, match="is no token"):
        Connection("https://qos.example.org", token)


def test_who_allows_it_may_go_unencrypted() -> None:
    assert Connection("http://api:8080", TOKEN, plain=True).url == "http://api:8080"


@pytest.mark.parametrize("path", ["", "/qos"])
def test_an_address_of_the_service_leads_on(path: str) -> None:
    with Connection(f"https://h.example{path}/", TOKEN) as connection:
        assert connection.below(f"{path}/api/v1/runs?cursor=x") == "/runs?cursor=x"


def test_a_refused_connection_is_reported_with_its_address() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with Connection(url, TOKEN) as connection, pytest.raises(Unreachable, match="cannot be reached") as caught:
            connection.get("/runs")
    assert url in str(caught.value)
    assert "qosforge serve" in caught.value.hint


FINDING = {"code": "scope-empty", "severity": "error", "message": "none", "class": "voice", "line": 4}


@pytest.mark.parametrize(
    ("answer", "kind", "said", "exit_code"),
    [
        (problem(401, "token expired"), NotAuthenticated, "QOSFORGE_TOKEN", 3),
        (
            problem(403, "no operator", errors=[{"message": "no", "hint": "ask an admin"}]),
            NotAllowed,
            "ask an admin",
            3,
        ),
        (problem(404, "there is no such run"), InputError, "no such run", 2),
        (problem(409, "the run is over"), InputError, "is over", 2),
        (
            problem(422, "two", errors=[{"message": "a", "file": "p", "line": 2}, {"message": "b"}]),
            InputErrors,
            "p:2: a\nb",
            2,
        ),
        (problem(422, "refused", findings=[FINDING]), RejectedByService, "refused", 1),
        (problem(502, "failed", errors=[{"message": "away", "device": "r1"}]), DeviceErrors, "r1: away", 3),
        (problem(500, "internal"), ServiceError, "internal", 3),
        (Answer(500, b"<html>oops"), ServiceError, "status 500", 3),
        (Answer(302, b"", {"Location": "http://elsewhere"}), ServiceError, "status 302", 3),
        (Answer(404, b"nginx"), InputError, "status 404", 2),
        (Answer(200, b"<html>hello"), ServiceError, "no qosforge service", 3),
        (problem(400, "bad \x1b[31m\n" + "x" * 5000), InputError, "bad", 2),
        (document([1, 2], 400), ServiceError, "status 400", 3),
    ],
)
def test_every_problem_is_an_error_of_the_tree(
    answer: Answer, kind: type[QosforgeError], said: str, exit_code: int
) -> None:
    with (
        scripted(answer) as (url, asked),
        Connection(url, TOKEN) as connection,
        pytest.raises(kind) as caught,
    ):
        connection.get("/runs/x")
    assert said in str(caught.value)
    assert caught.value.exit_code == exit_code
    assert TOKEN not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 1000
    assert len(asked) == 1


def test_findings_come_back_whole() -> None:
    with (
        scripted(problem(422, "refused", findings=[FINDING, {"code": 1}, "junk"])) as (url, _),
        Connection(url, TOKEN) as connection,
        pytest.raises(RejectedByService) as caught,
    ):
        connection.post("/compile", {})
    (finding,) = caught.value.findings
    assert (finding.code, finding.traffic_class, finding.line) == ("scope-empty", "voice", 4)


def test_a_busy_service_is_asked_again_when_it_says() -> None:
    busy = document({"title": "Busy", "detail": "busy", "status": 429}, 429, **{"Retry-After": "0"})
    with scripted(busy, busy, document({"ok": True})) as (url, asked), Connection(url, TOKEN) as connection:
        assert connection.post("/compile", {}) == {"ok": True}
    assert len(asked) == 3


@pytest.mark.parametrize(
    ("status", "kind", "key", "times"),
    [
        (503, "urn:qosforge:problem:busy", None, 2),
        (503, "about:blank", None, 1),
        (503, "about:blank", "k", 2),
        (500, "about:blank", "k", 1),
    ],
)
def test_what_may_have_been_done_is_not_asked_for_again_without_a_key(
    status: int, kind: str, key: str | None, times: int
) -> None:
    first = document({"title": "x", "detail": "x", "type": kind}, status, **{"Retry-After": "0"})
    with scripted(first, document({"ok": True})) as (url, asked), Connection(url, TOKEN) as connection:
        if times == 1:
            with pytest.raises(ServiceError):
                connection.post("/runs/r/cancel", {}, key=key)
        else:
            assert connection.post("/runs/r/cancel", {}, key=key) == {"ok": True}
    assert len(asked) == times


def test_what_is_for_this_machine_goes_to_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted(document({"by": "proxy"})) as (proxy, stolen), scripted(document({"by": "us"})) as (url, _):
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        with Connection(url, TOKEN) as connection:
            assert connection.get("/runs") == {"by": "us"}
    assert stolen == []


def test_a_service_that_stays_busy_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.3)
    busy = document({"title": "Busy", "detail": "too many requests", "status": 429}, 429, **{"Retry-After": "0"})
    with (
        scripted(busy) as (url, asked),
        Connection(url, TOKEN) as connection,
        pytest.raises(ServiceError, match="too many requests"),
    ):
        connection.get("/runs")
    assert len(asked) > 1


@pytest.mark.parametrize(
    ("call", "times"),
    [
        (lambda c: c.get("/x"), 2),
        (lambda c: c.post("/x", {}, key="k"), 2),
        (lambda c: c.post("/x", {}), 1),
    ],
)
def test_only_what_may_be_repeated_is_sent_again(call: Callable[[Connection], Any], times: int) -> None:
    broken = Answer(200, b'{"half', {"Content-Type": "application/json"}, breaks=True)
    with scripted(broken, document({"ok": True})) as (url, asked), Connection(url, TOKEN) as connection:
        if times == 1:
            with pytest.raises(Unreachable):
                call(connection)
        else:
            assert call(connection) == {"ok": True}
    assert len(asked) == times
    assert len({a.headers.get("idempotency-key") for a in asked}) == 1


def test_the_token_does_not_follow_a_redirect() -> None:
    def never(_: Asked) -> Answer:
        raise AssertionError("followed")

    with scripted(never) as (other, elsewhere):
        moved = Answer(307, b"", {"Location": other + "/steal"})
        with (
            scripted(moved) as (url, _),
            Connection(url, TOKEN) as connection,
            pytest.raises(ServiceError),
        ):
            connection.get("/runs")
    assert elsewhere == []


@pytest.mark.parametrize("path", ["http://elsewhere.example/x", "//elsewhere.example/x", "x"])
def test_a_path_that_leads_elsewhere_is_not_followed(path: str) -> None:
    with (
        scripted(document({})) as (url, asked),
        Connection(url, TOKEN) as connection,
        pytest.raises(ServiceError, match="another one"),
    ):
        connection.get(path)
    assert asked == []
