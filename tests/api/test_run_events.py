"""Watching a run: nothing is lost or told twice, whoever comes when."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.application import create_app
from qosforge.api.backend import Backend
from qosforge.api.routes import run_events
from qosforge.api.routes.run_events import Streams, watch
from qosforge.runs.record.summaries import StageSummary
from qosforge.runs.record.tables import RunStatus, Verdict
from tests.api.conftest import Headers, People, served

STREAM = {"Accept": "text/event-stream"}


@dataclass(frozen=True)
class Told:
    """One event of a stream."""

    event: str
    id: int | None
    data: Any


def parsed(text: str) -> Iterator[Told]:
    """The events of a stream; comments and what has no data are left out, as by browsers."""
    for block in text.split("\n\n"):
        fields = [line.partition(": ") for line in block.splitlines() if not line.startswith(":")]
        found = {name: value for name, _, value in fields}
        if "data" in found:
            number = found.get("id")
            yield Told(found["event"], int(number) if number else None, json.loads(found["data"]))


@pytest.fixture
def viewer(people: People) -> Headers:
    return people.headers("eve", Role.VIEWER, "campus")


@pytest.fixture
def run_id(backend: Backend) -> str:
    return backend.run_requests.store.create_run("campus", "rfc4594-4", "0" * 64, {}).id


def carry_out(backend: Backend, run_id: str, steps: int = 3, pause: float = 0.0) -> None:
    """Let a run come to its end, with some events on the way."""
    store = backend.run_requests.store
    store.begin_attempt(run_id, 1)
    for number in range(steps):
        with store.stage(run_id, f"stage-{number}", StageSummary()):
            store.events.progress(run_id, f"stage-{number}", "at work\non it")
            time.sleep(pause)
    store.set_status(run_id, RunStatus.KEPT, Verdict.MET)


def test_a_stream_of_an_ended_run_tells_all_and_ends(
    client: TestClient, viewer: Headers, backend: Backend, run_id: str
) -> None:
    carry_out(backend, run_id)
    answer = client.get(f"/api/v1/runs/{run_id}/events", headers=viewer | STREAM)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    *events, end = parsed(answer.text)
    assert [(e.event, e.id) for e in events] == [(e.kind, e.seq) for e in backend.run_requests.events(run_id)]
    assert [e.data["stage"] for e in events if e.event == "progress"] == ["stage-0", "stage-1", "stage-2"]
    assert all(e.data["at"] for e in events)
    assert (end.event, end.id, end.data) == ("end", None, {"status": "kept", "verdict": "met"})


def test_a_watcher_that_comes_again_goes_on_where_it_was(
    client: TestClient, viewer: Headers, backend: Backend, run_id: str
) -> None:
    carry_out(backend, run_id)
    numbers = [event.seq for event in backend.run_requests.events(run_id)]
    path = f"/api/v1/runs/{run_id}/events"
    for seen, number in enumerate(numbers, 1):
        again = viewer | STREAM | {"Last-Event-ID": str(number)}
        told = [event.id for event in parsed(client.get(path, headers=again).text)]
        assert told == [*numbers[seen:], None]
    # Who follows a link with ?after= comes again with both.
    both = viewer | STREAM | {"Last-Event-ID": str(numbers[4])}
    told = [event.id for event in parsed(client.get(f"{path}?after={numbers[1]}", headers=both).text)]
    assert told == [*numbers[5:], None]


def test_pages_tell_the_same(client: TestClient, viewer: Headers, backend: Backend, run_id: str) -> None:
    carry_out(backend, run_id)
    numbers, after, final = [], 0, False
    while not final:
        page = client.get(f"/api/v1/runs/{run_id}/events?after={after}&limit=3", headers=viewer).json()
        numbers += [event["seq"] for event in page["events"]]
        after, final = page["after"], page["final"]
    assert numbers == [event.seq for event in backend.run_requests.events(run_id)]


def test_a_page_of_a_run_at_work_is_not_the_last(client: TestClient, viewer: Headers, run_id: str) -> None:
    page = client.get(f"/api/v1/runs/{run_id}/events", headers=viewer).json()
    assert [event["kind"] for event in page["events"]] == ["status"]
    assert not page["final"]


@pytest.mark.parametrize("number", ["-1", "one", str(2**63)])
def test_a_number_that_cannot_be_is_refused(client: TestClient, viewer: Headers, run_id: str, number: str) -> None:
    path = f"/api/v1/runs/{run_id}/events"
    assert client.get(path, headers=viewer | STREAM | {"Last-Event-ID": number}).status_code == 422
    assert client.get(f"{path}?after={number}", headers=viewer).status_code == 422


async def _watched(backend: Backend, run_id: str, **bounds: Any) -> list[tuple[float, bytes]]:
    """What a stream sends, and when: seconds since 1970."""
    bounds.setdefault("stopping", backend.stopping.is_set)
    stream = watch(backend.run_requests, Streams(), run_id, 0, **bounds)
    return [(time.time(), part) async for part in stream]


def test_events_are_reported_as_they_happen(backend: Backend, run_id: str) -> None:
    work = threading.Thread(target=carry_out, args=(backend, run_id, 2, 0.8))
    work.start()
    try:
        parts = asyncio.run(_watched(backend, run_id))
    finally:
        work.join()
    told = [(at, event) for at, part in parts for event in parsed(part.decode())]
    assert [event.id for _, event in told] == [*(e.seq for e in backend.run_requests.events(run_id)), None]
    # The second stage was written when the first had long been told.
    last = max(event.at.timestamp() for event in backend.run_requests.events(run_id))
    assert 0 < sum(at < last - 0.1 for at, _ in told) < len(told)


def test_silence_is_broken_by_comments(backend: Backend, run_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_events, "POLL_SECONDS", 0.05)
    parts = asyncio.run(_watched(backend, run_id, heartbeat_seconds=0.1, longest_seconds=1.0))
    comments = [part for _, part in parts if part.startswith(b":")]
    assert 2 <= len(comments) <= 10
    assert all(part.endswith(b"\n\n") for part in comments)


def test_an_old_stream_ends_without_an_end(backend: Backend, run_id: str) -> None:
    parts = asyncio.run(_watched(backend, run_id, longest_seconds=0.2))
    assert b"event: end" not in b"".join(part for _, part in parts)


def test_streams_end_with_the_service(client: TestClient, viewer: Headers, backend: Backend, run_id: str) -> None:
    streams: Streams = client.app.state.streams  # type: ignore[attr-defined]

    def stop() -> None:
        _until(lambda: streams.open == 1)
        backend.stopping.set()

    thread = threading.Thread(target=stop)
    thread.start()
    text = client.get(f"/api/v1/runs/{run_id}/events", headers=viewer | STREAM).text
    thread.join()
    assert text.startswith("retry: ")
    assert "event: end" not in text
    assert streams.open == 0


def test_streams_are_bounded_and_give_their_places_back(backend: Backend, viewer: Headers, run_id: str) -> None:
    carry_out(backend, run_id)
    app = create_app(backend)
    app.state.streams = streams = Streams(most=1)
    path = f"/api/v1/runs/{run_id}/events"
    with TestClient(app) as client:
        for _ in range(3):
            assert client.get(path, headers=viewer | STREAM).status_code == 200
        streams.take("somebody")
        refused = client.get(path, headers=viewer | STREAM)
        assert refused.status_code == 503
        assert "event streams" in refused.json()["detail"]
        assert int(refused.headers["retry-after"]) > 0
        assert client.get(path, headers=viewer).status_code == 200


def test_nobody_takes_all_streams(backend: Backend, viewer: Headers, people: People, run_id: str) -> None:
    carry_out(backend, run_id)
    app = create_app(backend)
    app.state.streams = streams = Streams(most=3, most_of_a_caller=1)
    path = f"/api/v1/runs/{run_id}/events"
    with TestClient(app) as client:
        user = backend.access.authenticate(viewer["Authorization"].removeprefix("Bearer ")).user_id
        streams.take(user)
        assert "of yours" in client.get(path, headers=viewer | STREAM).json()["detail"]
        assert client.get(path, headers=people.headers("bob", Role.VIEWER) | STREAM).status_code == 200
        streams.give_back(user)
        assert client.get(path, headers=viewer | STREAM).status_code == 200


def test_a_watcher_that_leaves_gives_its_place_back(backend: Backend, viewer: Headers, run_id: str) -> None:
    app = create_app(backend)
    app.state.streams = streams = Streams(most=1)
    path = f"/api/v1/runs/{run_id}/events"
    with served(app) as http:
        for _ in range(2):
            with http.stream("GET", path, headers=viewer | STREAM) as answer:
                assert answer.status_code == 200
                lines = answer.iter_lines()  # kept: the connection ends with it
                assert next(line for line in lines if line.startswith("event")) == "event: status"
                assert http.get(path, headers=viewer | STREAM).status_code == 503
            _until(lambda: streams.open == 0)


def _until(true: Callable[[], bool], seconds: float = 5.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)
