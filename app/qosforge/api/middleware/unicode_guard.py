"""Unicode guard: requests with dangerous text are rejected.

That is text that databases cannot store: NUL, and unpaired surrogates, which JSON can express. Text that reads
otherwise than it is: bidirectional overrides and isolates. And what could hide either: a body in another encoding
than UTF-8 (RFC 8259, section 8.1).
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import unquote_to_bytes

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qosforge.api.parts import MULTIPART, read_parts
from qosforge.api.problems import MALFORMED, NOT_FOUND, WRONG_INPUT, problem_response

_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Unicode Standard Annex 9; the marks U+200E and U+200F, which texts in Arabic or Hebrew need, are none of them."""
_BIDI_UTF8 = rb"\xe2(?:\x80[\xaa-\xae]|\x81[\xa6-\xa9])"
"""The same in UTF-8."""
_SUSPICIOUS = re.compile(rb"\\u(?:0000|[dD][89a-fA-F]|20(?:2[a-eA-E]|6[6-9]))|" + _BIDI_UTF8)
_UNSAFE_PART = re.compile(_BIDI_UTF8)
_UNSAFE_FIELD = re.compile(rb"\0|" + _BIDI_UTF8)
_FORM = "application/x-www-form-urlencoded"
_DETAIL = "a text holds a NUL, half a surrogate pair, or a character that changes the direction of writing"


class UnicodeGuard:
    """Rejects paths (404), queries (422) and bodies (400) with such text.

    It reads the whole body, so the size limit must be outside of it.
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
        if _UNSAFE_FIELD.search(unquote_to_bytes(scope["query_string"])):
            await problem_response(request_id, WRONG_INPUT, _DETAIL)(scope, receive, send)
            return
        messages: list[Message] = []
        while not messages or messages[-1].get("more_body", False):
            messages.append(await receive())
        body = b"".join(message.get("body", b"") for message in messages)
        headers = Headers(scope=scope)
        kind = headers.get("content-type", "").lower()
        is_safe = await _are_safe_parts(headers, body) if kind.startswith(MULTIPART) else _is_safe_body(kind, body)
        if not is_safe:
            await problem_response(request_id, MALFORMED, _DETAIL)(scope, receive, send)
            return
        received = iter(messages)

        async def replay() -> Message:
            return next(received, None) or await receive()

        await self._app(scope, replay, send)


def _is_safe_body(kind: str, body: bytes) -> bool:
    """Whether a body of this media type contains no dangerous text."""
    if kind.startswith(_FORM):
        return not _UNSAFE_FIELD.search(unquote_to_bytes(body))
    return b"\0" not in body and _is_utf_8(body) and _is_safe_json(body)


async def _are_safe_parts(headers: Headers, body: bytes) -> bool:
    """Whether no field and no file's name has such text. A file is no text of ours: an archive, or what a device
    printed, which is shown as all text of devices is.
    """
    if not _UNSAFE_PART.search(body):
        return True
    parts = await read_parts(headers, body)
    return parts is not None and not any(_BIDI & set(part.name + part.text) for part in parts)


def _is_utf_8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_safe_json(body: bytes) -> bool:
    if not _SUSPICIOUS.search(body):
        return True
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return True  # not JSON, or too deep: the route answers that
    return all("\0" not in text and not _BIDI & set(text) and _is_unicode(text) for text in _texts(value))


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
