"""Forms of a browser without scripts: what such a browser cannot send is in their fields, and it is led on by 303.

A form of a page has the session's CSRF token in the field ``csrf``, which scripts send in a header, and the name of
another method than POST in ``_method``.
"""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qosforge.access.sessions import CSRF_HEADER
from qosforge.api.parts import MULTIPART, read_parts

TOKEN_FIELD = "csrf"  # noqa: S105  the name of a field
METHOD_FIELD = "_method"
PLAIN_FORM = "plain_form"
"""In the state of a request: whether a browser without scripts sent it."""

_FORM = "application/x-www-form-urlencoded"
_METHODS = frozenset({"PUT", "DELETE"})


class PlainForms:
    """Middleware that takes a plain form for the call that a script of the page would make.

    An answer without content leads to where a script would go (``HX-Redirect``), else back to the form's page. It
    reads the whole body, so the size limit must be outside of it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not _may_be_plain(scope):
            await self._app(scope, receive, send)
            return
        messages: list[Message] = []
        while not messages or messages[-1].get("more_body", False):
            messages.append(await receive())
        fields = await _fields(Headers(scope=scope), b"".join(message.get("body", b"") for message in messages))
        received = iter(messages)

        async def again() -> Message:
            return next(received, None) or await receive()

        if TOKEN_FIELD not in fields:
            await self._app(scope, again, send)
            return
        # What answers errors is outside of this, and sees the same state.
        scope.setdefault("state", {})[PLAIN_FORM] = True
        method = fields.get(METHOD_FIELD, "").upper()
        called = {
            **scope,
            "method": method if method in _METHODS else scope["method"],
            "headers": [*scope["headers"], (CSRF_HEADER.lower().encode(), fields[TOKEN_FIELD].encode())],
        }

        async def led_on(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 204:
                message = {**message, "status": 303, "headers": list(message["headers"])}
                headers = MutableHeaders(scope=message)
                headers["Location"] = headers.get("HX-Redirect") or form_page(Headers(scope=scope)) or "/"
            await send(message)

        await self._app(called, again, led_on)


def form_page(headers: Headers) -> str:
    """The path of this site's page that a request comes from; empty where it is not known."""
    came = urlsplit(headers.get("referer", ""))
    if came.netloc != headers.get("host") or not came.path.startswith("/") or came.path.startswith("//"):
        return ""
    return f"{came.path}?{came.query}" if came.query else came.path


async def _fields(headers: Headers, body: bytes) -> dict[str, str]:
    """The first of the fields of each name; files are none."""
    if _kind(headers) != MULTIPART:
        return {name: values[0] for name, values in parse_qs(body.decode(errors="replace")).items()}
    parts = await read_parts(headers, body) or []
    return {part.name: part.text for part in reversed(parts) if not part.is_file}


def _kind(headers: Headers) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _may_be_plain(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] != "POST" or scope["path"].startswith("/api/"):
        return False
    headers = Headers(scope=scope)
    return _kind(headers) in (_FORM, MULTIPART) and CSRF_HEADER not in headers
