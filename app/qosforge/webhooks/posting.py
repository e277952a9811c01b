"""One POST to a checked address: no redirect, no proxy, and limits on the time and size of the answer."""

from __future__ import annotations

import io
import socket
import ssl
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from typing import Any

from qosforge.errors import ServiceError
from qosforge.webhooks.targets import WebhookTarget

Where = tuple[int, tuple[Any, ...]]
"""Family and address of a socket."""

_GOOD = range(200, 300)
_PIECE = 16 << 10
_HINT = "look at the receiver; it is tried again"


@dataclass(eq=False)
class NotDelivered(ServiceError):
    """The receiver did not take a delivery, or was not reached.

    ``status`` is what it answered, ``retry_after`` the seconds that it asked to be left alone.
    """

    status: int | None = None
    retry_after: float | None = None


@dataclass(frozen=True)
class PostLimits:
    """Bounds of one POST: seconds for all of it, bytes of the answer, seconds for its body, which nobody reads."""

    seconds: float = 15.0
    answer_bytes: int = 64 << 10
    body_seconds: float = 2.0


class Poster:
    """Posts to receivers, several at once; :meth:`close` cuts whatever is under way."""

    def __init__(self, limits: PostLimits = PostLimits(), tls: ssl.SSLContext | None = None) -> None:
        """``tls``: whom to trust; the system's authorities (or those of ``SSL_CERT_FILE``) unless it is given."""
        self._limits = limits
        self._tls = tls
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._closed = False

    def close(self) -> None:
        """End every POST under way, and begin none any more."""
        with self._lock:
            self._closed = True
            for each in self._open:
                _shut(each)

    def post(self, target: WebhookTarget, places: Sequence[Where], headers: Mapping[str, str], body: bytes) -> int:
        """Send ``body`` to the first of the checked ``places`` that takes the connection; the status of the answer.

        Raises:
            NotDelivered: none takes it, or what answers is no success (2xx), too slow, too long, or no HTTP.
        """
        end = time.monotonic() + self._limits.seconds
        connection: socket.socket | None = None
        try:
            connection = self._connect(places, end)
            if target.scheme == "https":
                connection = self._start_tls(connection, target.host, end)
            _send(connection, _request(target, headers, body), end)
            return self._answer(connection, end)
        except ssl.SSLCertVerificationError as error:
            raise NotDelivered(f"its certificate is not good: {error.verify_message}", hint=_HINT) from None
        except TimeoutError:
            told = f"no answer within {self._limits.seconds:g} s"
            raise NotDelivered(told, hint=_HINT) from None
        except (OSError, HTTPException, ValueError) as error:
            told = "the service ends" if self._closed else _words(error)
            raise NotDelivered(told, hint=_HINT) from None
        finally:
            if connection is not None:
                with self._lock:
                    self._open.discard(connection)
                connection.close()

    def _connect(self, places: Sequence[Where], end: float) -> socket.socket:
        failed: OSError = OSError("no address")
        for family, where in places:
            made = socket.socket(family, socket.SOCK_STREAM)
            try:
                self._enter(made)
                made.settimeout(_seconds_left(end))
                made.connect(where)
                return made
            except OSError as error:
                failed = error
                self._leave(made)
        raise failed

    def _start_tls(self, connection: socket.socket, host: str, end: float) -> socket.socket:
        with self._lock:
            context = self._tls = (
                self._tls or ssl.create_default_context()
            )  # read once: it takes longer than a call
        connection.settimeout(_seconds_left(end))
        try:
            wrapped = context.wrap_socket(connection, server_hostname=host, do_handshake_on_connect=False)
        except BaseException:
            self._leave(connection)
            raise
        with self._lock:
            self._open.discard(connection)
        try:
            self._enter(wrapped)
            wrapped.settimeout(_seconds_left(end))
            wrapped.do_handshake()
        except BaseException:
            self._leave(wrapped)
            raise
        return wrapped

    def _enter(self, connection: socket.socket) -> None:
        with self._lock:
            if self._closed:
                raise OSError("the service ends")
            self._open.add(connection)

    def _leave(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.discard(connection)
        connection.close()

    def _answer(self, connection: socket.socket, end: float) -> int:
        source = _BoundedReader(connection, end, self._limits.answer_bytes)
        # It only wants `makefile`. Closed here, and never by the collector, which closes its file before it.
        response = HTTPResponse(_SocketAdapter(source), method="POST")  # type: ignore[arg-type]
        with closing(response):
            response.begin()
            status = response.status
            if status not in _GOOD:
                after = _seconds(response.headers.get("Retry-After"))
                raise NotDelivered(_refusal(status), hint=_HINT, status=status, retry_after=after)
            # A receiver whose answer is read to its end sees no broken connection; beyond the bounds it is left.
            source.end = min(end, time.monotonic() + self._limits.body_seconds)
            with suppress(OSError, HTTPException, ValueError):
                while response.read(_PIECE):
                    pass
            return status


class _BoundedReader(io.RawIOBase):
    """A reader of a connection, limited to a deadline (``time.monotonic``) and a number of bytes."""

    def __init__(self, connection: socket.socket, end: float, most: int) -> None:
        self._connection = connection
        self._rest = most
        self.end = end

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)[: self._rest]
        if not view:
            raise ValueError("the answer is too long")
        self._connection.settimeout(_seconds_left(self.end))
        count = self._connection.recv_into(view)
        self._rest -= count
        return count


@dataclass
class _SocketAdapter:
    """Wraps a reader as the socket that `http.client` expects."""

    source: _BoundedReader

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self.source)


def _request(target: WebhookTarget, headers: Mapping[str, str], body: bytes) -> bytes:
    fields = {
        "Host": target.authority,
        "User-Agent": "qosforge",
        "Accept": "*/*",
        "Connection": "close",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        **headers,
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"POST {target.path} HTTP/1.1\r\n{head}\r\n".encode("ascii") + body


def _send(connection: socket.socket, data: bytes, end: float) -> None:
    rest = memoryview(data)
    while rest:
        connection.settimeout(_seconds_left(end))
        rest = rest[connection.send(rest) :]


def _seconds_left(end: float) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _seconds(value: str | None) -> float | None:
    """The seconds of a ``Retry-After`` (RFC 9110, 10.2.3); its other form, a date, is not looked at."""
    return float(value) if value is not None and value.isascii() and value.isdigit() and len(value) < 10 else None


def _refusal(status: int) -> str:
    if status in range(300, 400):
        return f"answered {status}: redirects are not followed"
    return f"answered {status}"


def _words(error: Exception) -> str:
    """The error in words, without anything that the receiver sent."""
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {error.reason or type(error).__name__}"
    if isinstance(error, OSError):
        return f"not connected: {error.strerror or error}"
    if isinstance(error, ValueError) and str(error) == "the answer is too long":
        return str(error)
    return "what it answers is no HTTP"


def _shut(connection: socket.socket) -> None:
    # Not the method of a TLS socket, which would take its session from under the thread that reads.
    with suppress(OSError):
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
