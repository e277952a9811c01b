"""Limits of requests: size, duration, concurrency and rate, as ASGI middleware."""

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


class SizeLimit:
    """Maximum sizes of the address (414), the headers (431) and the body (413), declared or streamed."""

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
        declared = headers.get("content-length", "0")
        if declared.isdecimal() and int(declared) > self._body_bytes:
            await problem_response(request_id, TOO_LARGE, too_large)(scope, receive, send)
            return
        received = 0

        async def count_received() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._body_bytes:
                raise TooLarge(too_large, hint="send less at once")
            return message

        await self._app(scope, count_received, send)


class TimeLimit:
    """Maximum seconds of a request; then 504, and a late response is dropped.

    A thread cannot be stopped: it runs on and keeps its place among the concurrent requests until it has ended. A
    response that has begun may take ten times as long, an event stream any time.
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

        async def answer_late() -> None:
            detail = f"the request took longer than {self._seconds:g} s"
            await problem_response(scope["state"]["request_id"], TIMED_OUT, detail)(scope, receive, send)

        def expire() -> None:
            nonlocal late
            if not begun:
                late = loop.create_task(answer_late())
            work.cancel()

        timer = loop.call_later(self._seconds, expire)

        async def send_in_time(message: Message) -> None:
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
                await self._app(scope, receive, send_in_time)
        finally:
            timer.cancel()
            if late is not None:
                await late


class ConcurrencyLimit:
    """Maximum concurrent requests; further ones get 503. An event stream counts until it begins.

    The paths ``probes`` are never limited: monitoring must see that a busy service is alive.
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

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_event_stream(message):
                leave()
            await send(message)

        try:
            await self._app(scope, receive, send_counted)
        finally:
            leave()


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class RateLimit:
    """Maximum requests per minute and caller: a token bucket that holds a sixth of a minute's, at least ten.

    A caller is the user of a credential that was valid before (all credentials of a user together), else an
    address: invented credentials gain nothing. Responses carry the rest (draft-ietf-httpapi-ratelimit-headers).
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
        credential = _credential_hash(scope)
        key = self._callers.get(credential) if credential else None
        bucket = self._bucket(key or _address(scope))
        allowed = bucket.tokens >= 1
        bucket.tokens -= allowed

        async def send_with_limits(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["RateLimit-Policy"] = self._policy
                headers["RateLimit"] = (
                    f'"caller";r={int(bucket.tokens)};t={self._seconds_until(bucket, self._burst)}'
                )
                self._remember(credential, scope)
            await send(message)

        if allowed:
            await self._app(scope, receive, send_with_limits)
            return
        wait = {"Retry-After": str(self._seconds_until(bucket, 1))}
        detail = f"more than {self._rate * 60:g} requests a minute"
        answer = problem_response(scope["state"]["request_id"], TOO_MANY, detail, headers=wait)
        await answer(scope, receive, send_with_limits)

    def _remember(self, credential: str | None, scope: Scope) -> None:
        caller: Principal | None = scope["state"].get("caller")
        if credential is None or caller is None:
            return
        self._callers[credential] = f"caller {caller.user_id}"
        self._callers.move_to_end(credential)
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


def _credential_hash(scope: Scope) -> str | None:
    """A hash of a request's credential, which may be invalid; ``None`` where it has none."""
    headers = Headers(scope=scope)
    credential = headers.get("authorization") or headers.get("cookie")
    return None if credential is None else hashlib.sha256(credential.encode()).hexdigest()


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return f"address {client[0] if client else ''}"


def _is_event_stream(message: Message) -> bool:
    return Headers(raw=message["headers"]).get("content-type", "").startswith("text/event-stream")
