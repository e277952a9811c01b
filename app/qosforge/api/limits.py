"""Bounds of what callers may take: sizes, time, rate and number of requests. Plain ASGI, outside the routes."""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qosforge.access.roles import Principal
from qosforge.api.problems import (
    BUSY,
    HEADERS_TOO_LARGE,
    TIMED_OUT,
    TOO_LARGE,
    TOO_LONG,
    TOO_MANY,
    TooLarge,
    problem_response,
)

_PATH_BYTES = 1024
_QUERY_BYTES = 4096
_HEADERS = 64
_HEADER_BYTES = 16 << 10  # of all headers together
_SLOW_ANSWER = 10
_KNOWN_CALLERS = 10_000


class BoundSizes:
    """Refuses what is too long: the address (414), the headers (431), the body (413), said or streamed."""

    def __init__(self, app: ASGIApp, body_bytes: int) -> None:
        self._app = app
        self._body_bytes = body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = scope["state"]["request_id"]
        if len(scope.get("raw_path") or b"") > _PATH_BYTES or len(scope["query_string"]) > _QUERY_BYTES:
            detail = f"a path may have {_PATH_BYTES} bytes, a query {_QUERY_BYTES}"
            await problem_response(request_id, TOO_LONG, detail)(scope, receive, send)
            return
        headers = Headers(scope=scope)
        raw = headers.raw
        if len(raw) > _HEADERS or sum(len(name) + len(value) for name, value in raw) > _HEADER_BYTES:
            detail = f"a request may have {_HEADERS} headers with {_HEADER_BYTES} bytes together"
            await problem_response(request_id, HEADERS_TOO_LARGE, detail)(scope, receive, send)
            return
        too_large = f"a body may have {self._body_bytes} bytes"
        said = headers.get("content-length", "0")
        if said.isdecimal() and int(said) > self._body_bytes:
            await problem_response(request_id, TOO_LARGE, too_large)(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._body_bytes:
                raise TooLarge(too_large, hint="send less at once")
            return message

        await self._app(scope, counted, send)


class BoundTime:
    """Answers 504 when a request takes too long, and lets nothing of its late answer out.

    What runs in a thread cannot be stopped: it goes on, and whatever slot it holds further inside stays taken until
    it has ended. An answer that has begun may take ten times as long; an event stream as long as it likes.
    """

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        loop = asyncio.get_running_loop()
        work = anyio.CancelScope()
        late: asyncio.Task[None] | None = None
        begun = False

        async def tell() -> None:
            detail = f"the request took longer than {self._seconds:g} s"
            await problem_response(scope["state"]["request_id"], TIMED_OUT, detail)(scope, receive, send)

        def expire() -> None:
            nonlocal late
            if not begun:
                late = loop.create_task(tell())
            work.cancel()

        timer = loop.call_later(self._seconds, expire)

        async def timely(message: Message) -> None:
            nonlocal begun, timer
            if late is not None:
                return
            if message["type"] == "http.response.start":
                begun = True
                timer.cancel()
                if not _is_event_stream(message):
                    timer = loop.call_later(self._seconds * _SLOW_ANSWER, expire)
            await send(message)

        try:
            with work:
                await self._app(scope, receive, timely)
        finally:
            timer.cancel()
            if late is not None:
                await late


class BoundConcurrency:
    """Lets so many requests in at once; more are told to come again. Event streams count until they begin.

    ``probes`` are always let in: whoever watches the service must hear that it is only busy.
    """

    def __init__(self, app: ASGIApp, most: int, probes: frozenset[str]) -> None:
        self._app = app
        self._most = most
        self._probes = probes
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in self._probes:
            await self._app(scope, receive, send)
            return
        if self._inside >= self._most:
            detail = f"{self._most} requests are at work already"
            await problem_response(scope["state"]["request_id"], BUSY, detail)(scope, receive, send)
            return
        counted = True
        self._inside += 1

        def leave() -> None:
            nonlocal counted
            self._inside -= counted
            counted = False

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_event_stream(message):
                leave()
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            leave()


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class BoundRate:
    """A token bucket for each caller: so many requests a minute, a sixth of them at once (at least ten).

    A caller is the user of a credential that was good before, however many the user has, else an address: made-up
    credentials win nothing. Answers carry what is left (draft-ietf-httpapi-ratelimit-headers).
    """

    def __init__(
        self, app: ASGIApp, per_minute: int, probes: frozenset[str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._app = app
        self._rate = per_minute / 60
        self._burst = max(10, per_minute // 6)
        self._probes = probes
        self._clock = clock
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()
        self._callers: OrderedDict[str, str] = OrderedDict()
        self._policy = f'"caller";q={self._burst};w={math.ceil(self._burst / self._rate)}'

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in self._probes:
            await self._app(scope, receive, send)
            return
        shown = _shown(scope)
        key = self._callers.get(shown) if shown else None
        bucket = self._bucket(key or _address(scope))
        allowed = bucket.tokens >= 1
        bucket.tokens -= allowed

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["RateLimit-Policy"] = self._policy
                headers["RateLimit"] = (
                    f'"caller";r={int(bucket.tokens)};t={self._seconds_until(bucket, self._burst)}'
                )
                self._remember(shown, scope)
            await send(message)

        if allowed:
            await self._app(scope, receive, told)
            return
        wait = {"Retry-After": str(self._seconds_until(bucket, 1))}
        detail = f"more than {self._rate * 60:g} requests a minute"
        await problem_response(scope["state"]["request_id"], TOO_MANY, detail, headers=wait)(scope, receive, told)

    def _remember(self, shown: str | None, scope: Scope) -> None:
        caller: Principal | None = scope["state"].get("caller")
        if shown is None or caller is None:
            return
        self._callers[shown] = f"caller {caller.user_id}"
        self._callers.move_to_end(shown)
        if len(self._callers) > _KNOWN_CALLERS:
            self._callers.popitem(last=False)

    def _bucket(self, key: str) -> _Bucket:
        now = self._clock()
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = _Bucket(self._burst, now)
            if len(self._buckets) > _KNOWN_CALLERS:
                self._buckets.popitem(last=False)  # who called least lately
        self._buckets.move_to_end(key)
        bucket.tokens = min(self._burst, bucket.tokens + (now - bucket.at) * self._rate)
        bucket.at = now
        return bucket

    def _seconds_until(self, bucket: _Bucket, tokens: float) -> int:
        return max(1, math.ceil((tokens - bucket.tokens) / self._rate))


def _shown(scope: Scope) -> str | None:
    """A hash of the credential that a request shows, whatever it is worth."""
    headers = Headers(scope=scope)
    shown = headers.get("authorization") or headers.get("cookie")
    return None if shown is None else hashlib.sha256(shown.encode()).hexdigest()


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return f"address {client[0] if client else ''}"


def _is_event_stream(message: Message) -> bool:
    return Headers(raw=message["headers"]).get("content-type", "").startswith("text/event-stream")
