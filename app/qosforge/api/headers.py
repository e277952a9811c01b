"""At the door: the id of each request, and the headers that each answer carries."""

from __future__ import annotations

import re
import uuid
from urllib.parse import urlsplit, urlunsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

REQUEST_ID = "X-Request-Id"

_USABLE = re.compile(r"[A-Za-z0-9._-]{8,64}")

_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",  # for browsers that do not know frame-ancestors
}

_UNLESS_SET = {
    "Referrer-Policy": "no-referrer",
    # What is no page loads nothing and stands in no frame; a page brings a policy of its own.
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "Cache-Control": "no-store",
}

_TLS_ONLY = "max-age=31536000"
"""For this host alone: whether its subdomains speak TLS is not known here."""


class Door:
    """Gives every request an id (``request_id`` of its state): the caller's own where it is usable, for one trail
    through several services. Answers carry it, and the security headers; over TLS also HSTS (RFC 6797).
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = Headers(scope=scope)
        offered = asked.get(REQUEST_ID, "")
        request_id = offered if _USABLE.fullmatch(offered) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id

        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID] = request_id
                for name, value in _ALWAYS.items():
                    headers[name] = value
                for name, value in _UNLESS_SET.items():
                    headers.setdefault(name, value)
                _keep_local(headers, asked.get("host", ""))
                if scope.get("scheme") == "https":
                    headers["Strict-Transport-Security"] = _TLS_ONLY
            await send(message)

        await self._app(scope, receive, headed)


def _keep_local(headers: MutableHeaders, host: str) -> None:
    """Let a redirect within the service be a path: the caller chose what stands in the request as its host.

    The path begins with one slash: what follows two of them, or a backslash, browsers take for another host.
    """
    place = urlsplit(headers.get("location", ""))
    if place.netloc and place.netloc == host:
        path = "/" + place.path.lstrip("/\\")
        headers["location"] = urlunsplit(("", "", path, place.query, place.fragment))
