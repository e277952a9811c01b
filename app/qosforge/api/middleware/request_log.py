"""One log line and one metric count per request; log lines written meanwhile carry the request id."""

from __future__ import annotations

import time

import structlog
from fastapi.routing import APIRoute
from opentelemetry import trace
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qosforge.telemetry.metrics import Metrics

_LOG = structlog.get_logger(__name__)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class RequestLog:
    """Logs no query and no header: they may hold secrets. Successful requests of ``quiet`` paths are not logged."""

    def __init__(self, app: ASGIApp, metrics: Metrics, prefix: str, quiet: frozenset[str]) -> None:
        self._app = app
        self._metrics = metrics
        self._prefix = prefix
        self._quiet = quiet

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = scope["state"]["request_id"]
        trace.get_current_span().set_attribute("qosforge.request_id", request_id)
        began = time.perf_counter()
        status = 499  # gone before it had an answer, as web servers have it

        async def note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id), self._metrics.open.track_inprogress():
            try:
                await self._app(scope, receive, note_status)
            finally:
                self._record(scope, status, time.perf_counter() - began)

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in _METHODS else "other"
        # The template, never the address itself: names and ids would make a metric each.
        route = scope.get("route")
        prefix = self._prefix if scope["path"].startswith(self._prefix + "/") else ""  # pages have none
        template = prefix + route.path if isinstance(route, APIRoute) else "other"
        self._metrics.requests.labels(method, template, str(status)).inc()
        self._metrics.seconds.labels(method, template).observe(seconds)
        if scope["path"] in self._quiet and status < 400:
            return
        caller = scope["state"].get("caller")
        _LOG.info(
            "request",
            method=method,
            path=scope["path"],
            status=status,
            ms=round(seconds * 1000, 1),
            actor=caller.name if caller else "",
        )
