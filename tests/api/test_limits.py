"""Sizes, time, rate and number of requests."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from fastapi import APIRouter, Depends
from fastapi.responses import StreamingResponse
from httpx2 import Client, Response
from pydantic import BaseModel

from qosforge.access.audit_log import calls_page
from qosforge.access.roles import Role
from qosforge.api.application import create_app
from qosforge.api.backend import Backend
from qosforge.api.middleware.authorization import Needs
from qosforge.api.middleware.limits import RateLimit
from qosforge.settings import Settings
from tests.api.conftest import People, served

BYTES = 2048
SECONDS = 0.4


class Body(BaseModel):
    text: str


@pytest.fixture
def seconds() -> float:
    """How long a request may take; the tests of time have a short one."""
    return 30


@pytest.fixture
def settings(tmp_path: Path, seconds: float) -> Settings:
    return Settings(
        var_dir=tmp_path / "var",
        compute_processes=1,
        request_bytes=BYTES,
        request_seconds=seconds,
        requests_at_once=2,
        requests_per_minute=120,
    )


@pytest.fixture
def go() -> Event:
    return Event()


@pytest.fixture
def client(backend: Backend, go: Event, seconds: float) -> Iterator[Client]:
    router = APIRouter()

    @router.post("/echo")
    def echo(body: Body) -> int:
        return len(body.text)

    @router.get("/slow")
    def slow() -> str:
        go.wait(60)
        return "late"

    @router.post("/change", dependencies=[Depends(Needs(Role.VIEWER))])
    def change() -> str:
        go.wait(60)
        return "late"

    @router.get("/stream")
    def stream() -> StreamingResponse:
        def events() -> Iterator[str]:
            for number in range(3):
                yield f"data: {number}\n\n"
                time.sleep(seconds * 0.4)

        return StreamingResponse(events(), media_type="text/event-stream")

    app = create_app(backend)
    app.include_router(router)
    with served(app) as made:
        yield made
        go.set()


def kind(answer: Response) -> str:
    return str(answer.json()["type"]).removeprefix("urn:qosforge:problem:")


def test_a_body_is_bounded_whether_it_says_its_length_or_not(client: Client) -> None:
    assert client.post("/echo", json={"text": "x" * 1000}).json() == 1000
    said = client.post("/echo", json={"text": "x" * BYTES})
    pieces = iter([b'{"text": "', *[b"x" * 500] * 8, b'"}'])
    streamed = client.post("/echo", content=pieces, headers={"Content-Type": "application/json"})
    assert (said.status_code, kind(said)) == (413, "too-large")
    assert (streamed.status_code, kind(streamed)) == (413, "too-large")


@pytest.mark.parametrize(
    "body",
    [b"[" * 2000, b'{"text": ' + b"9" * 2000, b"\xff\xfe", b'{"text": NaN}', b'{"text": "\\ud800"}', b"nothing"],
)
def test_a_body_that_cannot_be_read_is_wrong_input(client: Client, body: bytes) -> None:
    answer = client.post("/echo", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in {400, 422}
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "text",
    [
        b"\\ud800",
        b"\\udc00\\ud800",
        b"a\\u0000",
        b"\\\\\\ud800",
        b"a\\u202Eb",
        "a\u202eb".encode(),
        "a\u2066b".encode(),
    ],
)
def test_text_that_no_store_can_hold_is_refused(client: Client, text: bytes) -> None:
    json = {"Content-Type": "application/json"}
    assert client.post("/echo", content=b'{"text": "%s"}' % text, headers=json).status_code == 400
    assert client.post("/echo", content=b'{"%s": "", "text": ""}' % text, headers=json).status_code == 400


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1"])
@pytest.mark.parametrize("text", ["a\u202eb", "a\u00e9b"])
def test_json_is_in_utf_8(client: Client, text: str, encoding: str) -> None:
    """RFC 8259, section 8.1: nothing hides in another encoding, which the check of texts would not see."""
    body = json.dumps({"text": text}, ensure_ascii=False).encode(encoding, "replace")
    answer = client.post("/echo", content=body, headers={"Content-Type": "application/json"})
    hidden = encoding != "latin-1" or "\u00e9" in text  # there is no such mark in Latin-1
    assert answer.status_code == (400 if hidden else 200)


def test_text_that_only_looks_like_it_is_taken(client: Client) -> None:
    for text in ("\\ud800", "\\\\u0000", "\U0001f600", "\uff00", "\\u202e", "a\u200fb"):
        assert client.post("/echo", json={"text": text}).json() == len(text)


def test_a_form_and_an_address_change_no_direction_of_writing(client: Client) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for body in (b"text=a%e2%80%AEb", b"text=a%E2\x80\xaeb", b"text=a\xe2\x80\xaeb", b"text=a%00b", b"text=a\0b"):
        assert client.post("/echo", content=body, headers=form).status_code == 400
    parts = b'--x\r\nContent-Disposition: form-data; name="text"\r\n\r\na\xe2\x80\xaeb\r\n--x--\r\n'
    several = {"Content-Type": "multipart/form-data; boundary=x"}
    assert client.post("/echo", content=parts, headers=several).status_code == 400
    named = parts.replace(b'name="text"', b'name="text"; filename="a\xe2\x80\xaeb"')
    assert client.post("/echo", content=named, headers=several).status_code == 400
    archive = parts.replace(b'name="text"', b'name="text"; filename="a.zip"')  # no text: such bytes mean nothing
    assert client.post("/echo", content=archive, headers=several).status_code != 400
    unclear = archive.replace(b"--x--", b"")
    assert client.post("/echo", content=unclear, headers={"Content-Type": "multipart/form-data"}).status_code == 400
    assert client.get("/api/v1/runs?network=a%E2%81%A6b").status_code == 422


def test_an_address_holds_no_nul(client: Client) -> None:
    assert client.get("/api/v1/networks/%00").status_code == 404
    assert client.get("/api/v1/runs?network=%00").status_code == 422


def test_address_and_headers_are_bounded(client: Client) -> None:
    assert client.get("/api/v1/health", params={"q": "x" * 5000}).status_code == 414
    assert client.get("/" + "x" * 2000).status_code == 414
    assert client.get("/api/v1/health", headers={"X-Long": "x" * 20_000}).status_code == 431
    assert client.get("/api/v1/health", headers={f"X-{n}": "1" for n in range(80)}).status_code == 431


@pytest.mark.parametrize("seconds", [SECONDS])
def test_a_late_answer_is_a_timeout_and_keeps_its_slot_until_it_ended(client: Client, go: Event) -> None:
    with ThreadPoolExecutor(2) as threads:
        late = [threads.submit(client.get, "/slow") for _ in range(2)]
        assert {one.result().status_code for one in late} == {504}
        busy = client.get("/slow")
        assert (busy.status_code, kind(busy), busy.headers["retry-after"]) == (503, "busy", "2")
        assert client.get("/api/v1/health").status_code == 200  # whoever watches is let in
        go.set()
        wait_until(lambda: client.get("/slow").status_code == 200)


@pytest.mark.parametrize("seconds", [SECONDS])
def test_a_change_that_took_too_long_is_in_the_log_of_calls(
    client: Client, people: People, backend: Backend, go: Event
) -> None:
    assert client.post("/change", headers=people.admin()).status_code == 504
    go.set()
    wait_until(lambda: calls_page(backend.database, None) != [])
    (call,) = calls_page(backend.database, None)
    assert (call.actor, call.status) == ("root", 504)


@pytest.mark.parametrize("seconds", [3])  # in which a busy machine, too, begins to answer
def test_an_event_stream_may_last(client: Client) -> None:
    assert client.get("/stream").text == "data: 0\n\ndata: 1\n\ndata: 2\n\n"


def test_a_caller_has_a_rate_and_is_reported_when_to_come_again(client: Client, people: People, go: Event) -> None:
    go.set()
    ann, bob = people.headers("ann", Role.VIEWER), people.headers("bob", Role.VIEWER)
    client.post("/change", headers=ann)  # known from here on
    client.post("/change", headers=bob)
    answers = [client.get("/nowhere", headers=ann) for _ in range(60)]
    last = next(answer for answer in answers if answer.status_code != 404)
    assert (last.status_code, kind(last)) == (429, "too-many-requests")
    assert int(last.headers["retry-after"]) >= 1
    assert last.headers["ratelimit-policy"] == '"caller";q=20;w=10'
    assert answers[0].status_code == 404
    assert client.get("/nowhere", headers=bob).status_code == 404  # the same address, another caller


def test_made_up_credentials_count_for_their_address(client: Client) -> None:
    statuses = [client.get("/nowhere", headers={"Authorization": f"Bearer {n}"}).status_code for n in range(60)]
    assert statuses[0] == 404
    assert 429 in statuses


def test_a_rate_recovers_with_time() -> None:
    now = 0.0
    bucket = RateLimit(lambda *_: None, 60, frozenset(), clock=lambda: now)._bucket  # type: ignore[arg-type,return-value]
    bucket("ann").tokens = 0
    now = 4.0
    assert bucket("ann").tokens == 4
    now = 1000.0
    assert bucket("ann").tokens == 10


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)
