"""Error boundary: an exception that nobody handled is logged with its traceback and answered as a problem."""

from __future__ import annotations

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qosforge.api.problems import INTERNAL, error_response, problem_response
from qosforge.errors import QosforgeError

_LOG = structlog.get_logger(__name__)


class ErrorBoundary:
    """Answers exceptions of the inner application; once a response has begun it can only log and break it off."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def note_begin(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, note_begin)
        except Exception as error:
            request_id = scope["state"]["request_id"]
            if isinstance(error, QosforgeError):
                answer = error_response(request_id, error)
            else:
                _LOG.exception("request failed", path=scope["path"])
                answer = problem_response(request_id, INTERNAL, "something failed that should not; the log has it")
            if begun:
                raise
            await answer(scope, receive, send)
