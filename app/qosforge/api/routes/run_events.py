"""The events of a run: server-sent events, or pages of JSON."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

from anyio import CapacityLimiter, move_on_after, to_thread
from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.sse import EventSourceResponse, format_sse_event
from starlette.types import Receive, Scope, Send

from qosforge.access.roles import Role
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.api.media import TEXT
from qosforge.api.middleware.authorization import Needs
from qosforge.api.run_models import EventPage, RunEvent
from qosforge.errors import EngineBusy
from qosforge.runs.record.events import Event
from qosforge.runs.requests.requests import RunRequests

router = APIRouter(tags=["runs"])

POLL_SECONDS = 0.4
"""How often the store is asked: events reach a watcher that much later at most."""
HEARTBEAT_SECONDS = 15.0
"""Silence after which a comment is sent: proxies close what says nothing, and a watcher that left is found out."""
LONGEST_SECONDS = 600.0
"""Age at which a stream ends: who comes again is asked again who it is, and whether it still may."""
MOST_STREAMS = 128
"""Streams of one process at once."""
MOST_OF_A_CALLER = 32
"""Streams of one user among them: nobody takes all places."""
_EXAMPLE = 'event: stage\ndata: {"stage": "read", "attempt": 1, "outcome": null}\nid: 17\n\n'
_BATCH = 500
_RECONNECT_MS = 1000
_LARGEST_SEQ = 2**63 - 1


class Streams:
    """The event streams of one process, counted, with a few threads of their own that read the store."""

    def __init__(self, most: int = MOST_STREAMS, most_of_a_caller: int = MOST_OF_A_CALLER) -> None:
        self._most = most
        self._most_of_a_caller = most_of_a_caller
        self._open: Counter[str] = Counter()
        self._readers = CapacityLimiter(2)

    @property
    def open(self) -> int:
        """The number of open streams."""
        return self._open.total()

    def take(self, user_id: str) -> None:
        """Count a new stream of a user.

        Raises:
            EngineBusy: there are too many.
        """
        hint = "ask for pages with ?after= meanwhile"
        if self.open >= self._most:
            raise EngineBusy(f"{self._most} event streams are open", hint=hint)
        if self._open[user_id] >= self._most_of_a_caller:
            raise EngineBusy(f"{self._most_of_a_caller} event streams of yours are open", hint=hint)
        self._open[user_id] += 1

    def give_back(self, user_id: str) -> None:
        """Count an ended stream."""
        self._open[user_id] -= 1
        if not self._open[user_id]:
            del self._open[user_id]

    async def read(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function of the store in one of the streams' own threads."""
        return await to_thread.run_sync(function, *arguments, limiter=self._readers)


class _Stream(EventSourceResponse):
    """A response that releases its stream however it ends: end of the run, a closed connection, shutdown."""

    def __init__(self, content: AsyncIterator[bytes], streams: Streams, user_id: str) -> None:
        # A proxy that buffers would hold events back.
        super().__init__(content, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        self._content = content
        self._streams = streams
        self._user_id = user_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            # Whoever does not read what is sent would hold it beyond its age.
            with move_on_after(LONGEST_SECONDS + HEARTBEAT_SECONDS):
                await super().__call__(scope, receive, send)
        finally:
            self._streams.give_back(self._user_id)


async def watch(
    run_requests: RunRequests,
    streams: Streams,
    run_id: str,
    after: int,
    stopping: Callable[[], bool],
    *,
    heartbeat_seconds: float = HEARTBEAT_SECONDS,
    longest_seconds: float = LONGEST_SECONDS,
) -> AsyncIterator[bytes]:
    """The events of a run after number ``after`` in the wire form of `text/event-stream`, up to the run's end.

    The last is ``end``, with the status and verdict, once the run is over and all its events were sent. A stream
    that is too old, or is ended by ``stopping``, has none: the watcher comes again, and loses nothing.
    """
    yield format_sse_event(retry=_RECONNECT_MS)
    begun = heard = time.monotonic()
    while not stopping() and time.monotonic() - begun < longest_seconds:
        # In this order: what was written before the run's end is visible once its end is.
        run = await streams.read(run_requests.run, run_id)
        events = await streams.read(run_requests.events, run_id, after, _BATCH)
        for event in events:
            after = event.seq
            yield format_sse_event(event=event.kind, data_str=_data(event), id=str(event.seq))
        if events:
            heard = time.monotonic()
            continue
        if run.status.final:
            yield format_sse_event(event="end", data_str=json.dumps({"status": run.status, "verdict": run.verdict}))
            return
        if time.monotonic() - heard >= heartbeat_seconds:
            heard = time.monotonic()
            yield format_sse_event(comment="still here")
        await asyncio.sleep(POLL_SECONDS)


@router.get(
    "/runs/{run_id}/events",
    summary="Follow the events of a run",
    dependencies=[Depends(Needs(Role.VIEWER))],
    response_model=EventPage,
    responses={
        200: {
            "description": "A page; or a stream, where `Accept` asks for `text/event-stream`.",
            "content": {"text/event-stream": TEXT | {"example": _EXAMPLE}},
        }
    },
)
async def run_events(
    *,
    request: Request,
    caller: Caller,
    backend: TheBackend,
    run_id: str,
    after: Annotated[int, Query(ge=0, le=_LARGEST_SEQ, description="Only events with a larger number.")] = 0,
    limit: Annotated[int, Query(ge=1, le=_BATCH, description="Events of a page.")] = 100,
    last_event_id: Annotated[
        int, Header(ge=0, le=_LARGEST_SEQ, description="As `after`: where a stream broke off.")
    ] = 0,
) -> Any:
    """What happened to a run, in order: a page of JSON, or server-sent events for who accepts `text/event-stream`.

    A stream goes on until the run is over and then ends with the event `end`; each event's id is its number, and a
    broken stream goes on after `Last-Event-ID`.
    """
    streams: Streams = request.app.state.streams
    begin = max(after, last_event_id)
    if "text/event-stream" in request.headers.get("accept", ""):
        await streams.read(backend.run_requests.run, run_id)
        streams.take(caller.user_id)
        return _Stream(
            watch(backend.run_requests, streams, run_id, begin, backend.stopping.is_set), streams, caller.user_id
        )
    run = await streams.read(backend.run_requests.run, run_id)
    found: list[Event] = await streams.read(backend.run_requests.events, run_id, begin, limit)
    return EventPage(
        events=[RunEvent(seq=event.seq, kind=event.kind, data=event.data, at=event.at) for event in found],
        after=found[-1].seq if found else begin,
        final=run.status.final and len(found) < limit,
    )


def _data(event: Event) -> str:
    return json.dumps({**event.data, "at": event.at.isoformat()}, ensure_ascii=False)
