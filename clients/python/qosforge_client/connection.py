"""HTTP connection to a service: bearer token, verified TLS, repeated calls where that is safe."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2 as httpx
from pydantic import BaseModel, ValidationError

from qosforge_client.errors import QosforgeClientError, Unreachable, error_of

PREFIX = "/api/v1"
CONNECT_SECONDS = 10.0
QUIET_SECONDS = 45.0
"""Silence after which a stream of events counts as broken: three times the service's heartbeat."""
PATIENCE_SECONDS = 30.0
"""How long a service that is busy or restarts is asked again."""
PAUSE_SECONDS = 1.0
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_TOO_MANY, _UNAVAILABLE = 429, 503

M = TypeVar("M", bound=BaseModel)


class Connection:
    """One service and one token. Paths are those below ``/api/v1``."""

    def __init__(self, url: str, token: str, *, seconds: float, allow_plain_http: bool) -> None:
        self.url = url.rstrip("/")
        parts = urlsplit(self.url)
        local = parts.hostname in _LOOPBACK
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise ValueError(f"{url!r} is no address of a service, such as https://qos.example.org")
        if parts.scheme == "http" and not local and not allow_plain_http:
            raise ValueError(f"the token would travel unencrypted to {url!r}: use https, or allow_plain_http=True")
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise ValueError("this is no token: give the one that `qosforge token create` printed")
        self._client = httpx.Client(
            base_url=self.url + PREFIX,
            headers={"Authorization": f"Bearer {token}", "User-Agent": "qosforge-client"},
            timeout=httpx.Timeout(seconds, connect=CONNECT_SECONDS),
            follow_redirects=False,  # the token is for this host
            trust_env=not (parts.scheme == "http" and local),  # a proxy would have the token in clear
        )

    def close(self) -> None:
        self._client.close()

    def read(
        self,
        model: type[M],
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        key: str | None = None,
    ) -> M:
        """The document that a call answers. Raises `QosforgeClientError`."""
        data = self.call(method, path, query=query, body=body, key=key)
        try:
            return model.model_validate_json(data)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise Unreachable(f"{self.url} answers another document: {place}: {first['msg']}") from None

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        key: str | None = None,
    ) -> bytes:
        """The body of a good answer. What may be repeated is, while the service is busy or restarts.

        Raises:
            QosforgeClientError: the service told a problem, or is not reached.
        """
        headers = {"Idempotency-Key": f'"{key}"'} if key is not None else {}
        given = {name: value for name, value in (query or {}).items() if value is not None}
        repeatable = method == "GET" or key is not None
        end = time.monotonic() + PATIENCE_SECONDS
        begun = False  # what was never there is told at once; a service that restarts is waited for
        while True:
            try:
                answer = self._client.request(method, path, params=given or None, json=body, headers=headers)
            except httpx.HTTPError as error:
                begun = begun or not isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout))
                if not (begun and repeatable) or time.monotonic() >= end:
                    raise self._unreachable(error) from None
                time.sleep(PAUSE_SECONDS)
                continue
            if answer.is_success:
                return answer.content
            pause = _retry_after(answer)
            again = answer.status_code == _TOO_MANY or (answer.status_code == _UNAVAILABLE and repeatable)
            if not again or pause is None or time.monotonic() + pause > end:
                raise error_of(answer.status_code, answer.content, self.url)
            time.sleep(pause)

    @contextmanager
    def lines(self, path: str, after: int) -> Iterator[Iterator[str]]:
        """The lines of a stream of server-sent events, from the event after number ``after``.

        Raises:
            QosforgeClientError: the service told a problem, the connection broke, or was silent for too long.
        """
        headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
        timeout = httpx.Timeout(QUIET_SECONDS, connect=CONNECT_SECONDS)
        try:
            with self._client.stream("GET", path, headers=headers, timeout=timeout) as answer:
                if not answer.is_success:
                    raise error_of(answer.status_code, answer.read(), self.url)
                yield answer.iter_lines()
        except httpx.HTTPError as error:
            raise self._unreachable(error) from None

    def _unreachable(self, error: Exception) -> QosforgeClientError:
        return Unreachable(f"{self.url} is not reached: {str(error).strip() or type(error).__name__}")


def _retry_after(answer: httpx.Response) -> float | None:
    written = answer.headers.get("retry-after", "")
    return max(float(written), 0.1) if written.isascii() and written.isdigit() else None
