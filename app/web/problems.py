"""Problems for people: what the interface answers as problem details becomes a page, or a message in one."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import MEDIA_TYPE, NOT_AUTHENTICATED
from app.web.pages import Page

_KEPT = ("retry-after", "allow", "x-request-id")


class ProblemPages:
    """Stands outermost. Of every answer outside ``/api`` that is a problem it makes what a person can read.

    A script of a page gets a message for the page's region of messages; who is not logged in is sent to do so.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith("/api/"):
            await self._app(scope, receive, send)
            return
        start: Message | None = None
        body = b""

        async def watched(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start" and _is_problem(message):
                start = message
            elif start is None:
                await send(message)
            else:
                body += message.get("body", b"")
                if not message.get("more_body", False):
                    answer = await run_in_threadpool(_told, scope, start, json.loads(body))
                    await answer(scope, receive, send)

        await self._app(scope, receive, watched)


def _is_problem(start: Message) -> bool:
    return Headers(raw=start["headers"]).get("content-type", "").startswith(MEDIA_TYPE)


def _told(scope: Scope, start: Message, problem: dict[str, Any]) -> Response:
    request = Request(scope)
    page = Page(request)
    headers = Headers(raw=start["headers"])
    if problem["status"] == NOT_AUTHENTICATED.status and not page.is_fragment and request.method == "GET":
        query = f"?{request.url.query}" if request.url.query else ""
        answer: Response = RedirectResponse(f"/login?to={quote(request.url.path + query, safe='')}", 303)
    elif page.is_fragment:
        answer = page.answer("problem-message.html.j2", problem["status"], problem=problem)
        answer.headers["HX-Retarget"] = "#messages"
        answer.headers["HX-Reswap"] = "innerHTML"
    else:
        answer = page.answer("problem.html.j2", problem["status"], problem=problem)
    for name, value in headers.items():
        if name in _KEPT or (name.startswith(("x-", "cross-", "referrer-", "strict-"))):
            answer.headers[name] = value
    answer.headers.setdefault("Cache-Control", "no-store")
    return answer
