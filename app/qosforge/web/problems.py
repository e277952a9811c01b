"""Problems for people: problem documents of the API become a page, or a message in one."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qosforge.access.clients import address_of
from qosforge.access.sessions import cookie_name
from qosforge.api.problems import MEDIA_TYPE, NOT_AUTHENTICATED, NOT_FOUND
from qosforge.errors import QosforgeError
from qosforge.web.pages import Page
from qosforge.web.short_run_ids import runs_meant
from qosforge.web.views.problems import explain

_LOG = structlog.get_logger(__name__)

_BROWSERS_COME_HERE = "/api/v1/login/oidc"
"""Of the interface, what people's browsers are led to."""

_BEFORE_THE_LOGIN = frozenset({404, 405})
"""Answered where no route was found, so that nobody asked yet who calls."""

_AMONG_MESSAGES = {"HX-Retarget": "#messages", "HX-Reswap": "innerHTML", "HX-Reselect": "unset"}
"""Whatever part of the page asked, and whatever it would have picked from the answer: the message is shown."""


class ProblemPages:
    """Middleware that turns problem documents outside ``/api`` into pages or messages.

    A script of a page gets a message for the page's region of messages; who is not logged in is sent to do so.
    Where a page cannot be made of it either, plain text is answered.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _for_people(scope):
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
                    answer = await run_in_threadpool(_render_problem, scope, start, json.loads(body))
                    await answer(scope, receive, send)

        await self._app(scope, receive, watched)


def _for_people(scope: Scope) -> bool:
    path = scope["path"]
    if not path.startswith("/api/"):
        return True
    return path.startswith(_BROWSERS_COME_HERE) and "text/html" in Headers(scope=scope).get("accept", "")


def _is_problem(start: Message) -> bool:
    return Headers(raw=start["headers"]).get("content-type", "").startswith(MEDIA_TYPE)


def _render_problem(scope: Scope, start: Message, problem: dict[str, Any]) -> Response:
    headers = Headers(raw=start["headers"])
    try:
        answer = _answer(Page(Request(scope)), headers, problem)
    except Exception:  # noqa: BLE001  whatever it is, it must not hide the problem itself
        _LOG.exception("the page of a problem cannot be made", path=scope["path"], status=problem["status"])
        text = f"{problem['title']}\n\n{problem['instance']}\n"
        answer = PlainTextResponse(text, problem["status"], headers=_AMONG_MESSAGES)
    for name, value in headers.items():
        if name not in ("content-type", "content-length"):
            answer.headers.setdefault(name, value)
    return answer


def _find_caller(page: Page) -> None:
    """Give the page its menu, where whoever sees it is logged in."""
    cookie = page.request.cookies.get(cookie_name(page.backend.settings))
    if page.caller is None and cookie is not None:
        with suppress(QosforgeError):
            client = page.request.client
            page.caller = page.backend.access.session(cookie, address_of(client.host if client else None))


def _answer(page: Page, headers: Headers, problem: dict[str, Any]) -> Response:
    request = page.request
    unknown = problem["status"] == NOT_AUTHENTICATED.status
    if unknown and not page.is_fragment and request.method == "GET" and not request.url.path.startswith("/api/"):
        query = f"?{request.url.query}" if request.url.query else ""
        ended = "&because=ended" if cookie_name(page.backend.settings) in request.cookies else ""
        return RedirectResponse(f"/login?to={quote(request.url.path + query, safe='')}{ended}", 303)
    if not page.is_fragment and problem["status"] in _BEFORE_THE_LOGIN:
        _find_caller(page)
    meant = runs_meant(page) if problem["status"] == NOT_FOUND.status and not page.is_fragment else ()
    if len(meant) == 1:
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"/runs/{meant[0]}{query}", 303)
    told = explain(page, problem, headers.get("retry-after"))
    if page.is_fragment:
        answer: Response = page.answer("problem-message.html.j2", problem["status"], problem=told)
        answer.headers.update(_AMONG_MESSAGES)
        return answer
    return page.answer("problem.html.j2", problem["status"], problem=told)
