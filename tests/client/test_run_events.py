"""Following a run: every event once and in order, however often the stream breaks."""

from __future__ import annotations

import pytest

from qosforge.client import run_events
from qosforge.client.connection import Connection
from qosforge.client.run_events import StillRunning, StreamedEvent, follow
from qosforge.client.sse import ServerSentEvent, sent_events
from qosforge.errors import InputError, ServiceError

from .support import document, scripted, stream


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_events, "PAUSE_SECONDS", (0.01,))


def event(number: int) -> str:
    return f'id: {number}\nevent: progress\ndata: {{"text": "{number}"}}\n\n'


END = 'event: end\ndata: {"status": "kept"}\n\n'
AWAY = document({"title": "Starting", "detail": "not ready", "status": 503}, 503)


def followed(url: str, seconds: float = 20) -> list[str]:
    told: list[StreamedEvent] = []
    with Connection(url, "qf_t") as connection:
        follow(connection, "r1", told.append, seconds=seconds)
    assert {t.kind for t in told} <= {"progress"}
    return [t.data["text"] for t in told]


def test_a_stream_that_breaks_goes_on_where_it_was() -> None:
    answers = (
        stream(event(1), event(2), "id: 3\nevent: progress\nda", breaks=True),
        AWAY,
        stream(": here\n\n", event(2), event(3)),
        stream(event(7), END),
    )
    with scripted(*answers) as (url, asked):
        assert followed(url) == ["1", "2", "3", "7"]
    assert [a.headers["last-event-id"] for a in asked] == ["0", "2", "2", "3"]


def test_a_service_that_stays_away_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_events, "OUTAGE_SECONDS", 0.2)
    with scripted(AWAY) as (url, asked), pytest.raises(ServiceError, match="has been away") as caught:
        followed(url)
    assert len(asked) > 2
    assert "qosforge wait r1" in caught.value.hint


def test_a_wait_is_bounded_though_the_service_gives_signs_of_life() -> None:
    with scripted(stream(": here\n\n")) as (url, _), pytest.raises(StillRunning, match="not over yet"):
        followed(url, 0.2)


def test_a_run_that_is_unknown_is_reported_at_once() -> None:
    missing = document({"title": "Not found", "detail": "there is no such run", "status": 404}, 404)
    with scripted(missing) as (url, asked), pytest.raises(InputError, match="no such run"):
        followed(url)
    assert len(asked) == 1


def test_events_are_read_as_the_standard_says() -> None:
    lines = [
        "retry: 10",
        "",
        ":c",
        "data: a",
        "data:b",
        "id:5",
        "",
        "event: x",
        "",
        "event: y",
        "data",
        "",
        "data: cut",
    ]
    assert list(sent_events(lines)) == [
        None,
        ServerSentEvent("message", "a\nb", "5"),
        ServerSentEvent("y", "", "5"),
    ]
