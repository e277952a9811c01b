"""Text that is refused at the door.

What no store can hold: NUL, and halves of surrogate pairs, which JSON can write down. What makes people read
another text than is there: overrides and isolates of the direction of writing. And what could hide either: a body
in another encoding than UTF-8 (RFC 8259, section 8.1).
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import unquote_to_bytes

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qosforge.api.problems import MALFORMED, NOT_FOUND, WRONG_INPUT, problem_response

_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Unicode Standard Annex 9; the marks U+200E and U+200F, which texts in Arabic or Hebrew need, are none of them."""
_TURNS = rb"\xe2(?:\x80[\xaa-\xae]|\x81[\xa6-\xa9])"
"""The same in UTF-8."""
_SUSPICIOUS = re.compile(rb"\\u(?:0000|[dD][89a-fA-F]|20(?:2[a-eA-E]|6[6-9]))|" + _TURNS)
_REFUSED_PART = re.compile(_TURNS)
_REFUSED_FIELD = re.compile(rb"\0|" + _TURNS)
_FORM = "application/x-www-form-urlencoded"
_PARTS = "multipart/form-data"
_DETAIL = "a text holds a NUL, half a surrogate pair, or a character that changes the direction of writing"


class ReadableText:
    """Refuses addresses (404), queries (422) and bodies (400) with such text.

    It reads a body whole, so it stands behind its bound.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = scope["state"]["request_id"]
        if "\0" in scope["path"]:
            await problem_response(request_id, NOT_FOUND, "nothing has such a name")(scope, receive, send)
            return
        if _REFUSED_FIELD.search(unquote_to_bytes(scope["query_string"])):
            await problem_response(request_id, WRONG_INPUT, _DETAIL)(scope, receive, send)
            return
        messages: list[Message] = []
        while not messages or messages[-1].get("more_body", False):
            messages.append(await receive())
        body = b"".join(message.get("body", b"") for message in messages)
        if not _taken(Headers(scope=scope).get("content-type", "").lower(), body):
            await problem_response(request_id, MALFORMED, _DETAIL)(scope, receive, send)
            return
        read = iter(messages)

        async def again() -> Message:
            return next(read, None) or await receive()

        await self._app(scope, again, send)


def _taken(kind: str, body: bytes) -> bool:
    """Whether a body of this media type holds nothing that is refused."""
    if kind.startswith(_FORM):
        return not _REFUSED_FIELD.search(unquote_to_bytes(body))
    if kind.startswith(_PARTS):
        return not _REFUSED_PART.search(body)
    return b"\0" not in body and _is_utf_8(body) and _readable(body)


def _is_utf_8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _readable(body: bytes) -> bool:
    if not _SUSPICIOUS.search(body):
        return True
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return True  # no JSON, or none that is taken: whoever reads it says so
    return all("\0" not in text and not _DIRECTIONS & set(text) and _is_unicode(text) for text in _texts(value))


def _texts(value: Any) -> list[str]:
    found: list[str] = []
    rest = [value]
    while rest:
        one = rest.pop()
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, list):
            rest += one
        elif isinstance(one, dict):
            rest += [*one.keys(), *one.values()]
    return found


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
