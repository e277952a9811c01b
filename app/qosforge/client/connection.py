"""HTTP connection to a qosforge service: bearer token, verified TLS, problems raised as our own errors."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

import httpx2 as httpx

from qosforge.client.problems import error_of
from qosforge.client.sse import ServerSentEvent, sent_events
from qosforge.errors import InputError, Place, ServiceError

PREFIX = "/api/v1"
CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 120.0
"""A live preview reads every device first; the service has bounds of its own."""
QUIET_SECONDS = 45.0
"""Silence after which an event stream counts as broken: three times the service's heartbeat."""
PATIENCE_SECONDS = 30.0
"""How long a service that asks to come again is asked again."""
PAUSE_SECONDS = 1.0
LARGEST = 256 * 1024 * 1024
"""Bytes of one answer; a report with its samples has tens of megabytes."""
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

_TOO_MANY, _UNAVAILABLE = 429, 503
_TOKEN = re.compile(r"[\x21-\x7e]{1,4096}")

Json = Any


@dataclass(eq=False)
class Unreachable(ServiceError):
    """The service could not be reached; ``begun``: it was, and the connection broke before the answer was whole."""

    begun: bool = False


class Connection:
    """One service, one token. Paths are those below ``/api/v1``."""

    def __init__(self, url: str, token: str, *, plain: bool = False) -> None:
        """``plain``: a token may go unencrypted to a host other than this one.

        Raises:
            InputError: the URL or the token cannot be one, or the token would travel unencrypted.
        """
        self.url = _require_url(url, plain=plain)
        if not _TOKEN.fullmatch(token):
            raise InputError(
                "is no token", Place(path="QOSFORGE_TOKEN"), "give the one that qosforge token printed"
            )
        self._client = httpx.Client(
            base_url=self.url + PREFIX,
            headers={"Authorization": f"Bearer {token}", "User-Agent": "qosforge"},
            timeout=httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
            follow_redirects=False,  # the token is for this host
            # A proxy of the environment would have the token in clear.
            trust_env=not (urlsplit(self.url).scheme == "http" and urlsplit(self.url).hostname in LOOPBACK),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def below(self, address: str) -> str:
        """The path of an address that the service gave (its own path before it, such as `next` of a page)."""
        return address.removeprefix(urlsplit(self.url).path + PREFIX)

    def get(self, path: str, query: Mapping[str, Any] | None = None) -> Json:
        """A document.

        Raises:
            QosforgeError: the service told a problem, or could not be reached.
        """
        return self._document(self._answer("GET", path, query=query))

    def text(self, path: str, query: Mapping[str, Any] | None = None) -> str:
        """A text, such as a report. Raises as `get`."""
        return self._answer("GET", path, query=query)[0].decode("utf-8", errors="replace")

    def data(self, path: str) -> bytes:
        """Bytes as they are, such as a PDF. Raises as `get`."""
        return self._answer("GET", path)[0]

    def post(self, path: str, body: Json = None, *, key: str | None = None) -> Json:
        """Send a document. With an idempotency ``key`` a connection that breaks is tried again. Raises as `get`."""
        return self._document(self._answer("POST", path, body=body, key=key))

    @contextmanager
    def events(self, path: str, after: int) -> Iterator[Iterator[ServerSentEvent | None]]:
        """The events of a stream after number ``after``; ``None`` for each comment, a sign of life.

        Raises:
            Unreachable: the connection broke, or was silent for too long.
            QosforgeError: the service told a problem.
        """
        headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
        timeout = httpx.Timeout(QUIET_SECONDS, connect=CONNECT_SECONDS)
        with (
            self._reaching(),
            self._client.stream("GET", path, headers=headers, timeout=timeout) as response,
        ):
            if response.status_code != httpx.codes.OK:
                raise error_of(response.status_code, _read(response), self.url)
            yield sent_events(response.iter_lines())

    def _answer(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Json = None,
        key: str | None = None,
    ) -> tuple[bytes, str]:
        """Body and media type of a good answer; a service that is busy, or breaks off what may be repeated, is
        asked again for a while.
        """
        headers = {"Idempotency-Key": f'"{key}"'} if key is not None else {}
        given = {name: value for name, value in (query or {}).items() if value is not None}
        end = time.monotonic() + PATIENCE_SECONDS
        if not path.startswith("/") or path.startswith("//"):
            raise ServiceError("the service names another one", Place(path=self.url))
        repeatable = method == "GET" or key is not None
        met = False
        while True:
            try:
                with (
                    self._reaching(),
                    self._client.stream(method, path, params=given or None, json=body, headers=headers) as response,
                ):
                    data = _read(response)
                    status, media_type = response.status_code, response.headers.get("content-type", "")
                    pause = _pause(response)
            except Unreachable as broken:
                # What was never there is told at once; a service that restarts is waited for.
                met = met or broken.begun
                if not (met and repeatable) or time.monotonic() >= end:
                    raise
                time.sleep(PAUSE_SECONDS)
                continue
            if httpx.codes.is_success(status):
                return data, media_type
            again = status == _TOO_MANY or (status == _UNAVAILABLE and (repeatable or _is_busy(data)))
            if not again or pause is None or time.monotonic() + pause > end:
                raise error_of(status, data, self.url)
            time.sleep(pause)

    def _document(self, answer: tuple[bytes, str]) -> Json:
        data, _ = answer
        if not data:
            return None
        try:
            return json.loads(data)
        except ValueError:
            raise ServiceError(
                "what answers is no qosforge service", Place(path=self.url), "check the address"
            ) from None

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        place = Place(path=self.url)
        try:
            yield
        except httpx.TimeoutException:
            raise Unreachable(
                "the service does not answer in time", place, "try again; is it overloaded?"
            ) from None
        except (httpx.HTTPError, OSError) as error:
            said = str(error).strip() or type(error).__name__
            hint = "is the service running, and is this its address? `qosforge serve` starts one"
            if "CERTIFICATE" in said.upper():
                hint = "let this machine trust the certificate's authority (SSL_CERT_FILE)"
            begun = not isinstance(error, httpx.ConnectError)
            raise Unreachable(f"the service cannot be reached: {said}", place, hint, begun) from None


def _require_url(url: str, *, plain: bool) -> str:
    place = Place(path=url)
    try:
        parts = urlsplit(url.rstrip("/"))
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise InputError("is no address of a service", place, "such as https://qos.example.org")
    if parts.username is not None or parts.password is not None:
        raise InputError("credentials do not belong in the address", Place(), "put the token into QOSFORGE_TOKEN")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK and not plain:
        raise InputError(
            "the token would travel unencrypted", place, "use https, or set QOSFORGE_PLAIN_HTTP=1 to allow it"
        )
    return parts.geturl()


def _read(response: httpx.Response) -> bytes:
    data = bytearray()
    for chunk in response.iter_bytes():
        data += chunk
        if len(data) > LARGEST:
            raise ServiceError(f"an answer is larger than {LARGEST} bytes", Place(path=str(response.url)))
    return bytes(data)


def _is_busy(data: bytes) -> bool:
    """Whether the service itself answered that it is busy and did nothing; a proxy cannot know that."""
    try:
        problem = json.loads(data)
    except ValueError:
        return False
    return isinstance(problem, dict) and str(problem.get("type", "")).endswith(":busy")


def _pause(response: httpx.Response) -> float | None:
    """The seconds of ``Retry-After``, where the service sent it."""
    written = response.headers.get("retry-after", "")
    return max(float(written), 0.1) if written.isascii() and written.isdigit() else None
