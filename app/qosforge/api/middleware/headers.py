"""Request ids, and the security headers of every response."""

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
    # For everything but pages, which set a policy of their own: load nothing, stand in no frame.
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "Cache-Control": "no-store",
}

_TLS_ONLY = "max-age=31536000"
"""Without ``includeSubDomains``: whether other hosts of the domain speak TLS is not known here."""


class RequestIdAndSecurityHeaders:
    """Sets the ``request_id`` of a request's state, taken from `X-Request-Id` where that is usable: one id through
    several services. Responses carry it and the security headers, over TLS also HSTS (RFC 6797).
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_headers = Headers(scope=scope)
        sent_id = request_headers.get(REQUEST_ID, "")
        request_id = sent_id if _USABLE.fullmatch(sent_id) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id

        async def add_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID] = request_id
                for name, value in _ALWAYS.items():
                    headers[name] = value
                for name, value in _UNLESS_SET.items():
                    headers.setdefault(name, value)
                _make_redirect_local(headers, request_headers.get("host", ""))
                if scope.get("scheme") == "https":
                    headers["Strict-Transport-Security"] = _TLS_ONLY
            await send(message)

        await self._app(scope, receive, add_headers)


def _make_redirect_local(headers: MutableHeaders, host: str) -> None:
    """Make a redirect within the service a path: the host of a request is chosen by its caller.

    The path begins with one slash: what follows two of them, or a backslash, browsers take for another host.
    """
    target = urlsplit(headers.get("location", ""))
    if target.netloc and target.netloc == host:
        path = "/" + target.path.lstrip("/\\")
        headers["location"] = urlunsplit(("", "", path, target.query, target.fragment))
