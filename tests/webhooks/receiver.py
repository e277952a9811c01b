"""A receiver of webhooks: a real server on the loopback, which answers as it is told."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

Reply = Callable[[socket.socket], None]
"""Writes an answer to a connection whose request was read."""


@dataclass(frozen=True)
class Request:
    """What came in: the first line, the headers by small letters, the body as it was sent."""

    line: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """Answers each request by the next of ``replies``, and by the last one from then on."""

    port: int
    host: str = "127.0.0.1"
    replies: list[Reply] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    connections: int = 0

    def url(self, path: str = "/hook", scheme: str = "http") -> str:
        """Where it is."""
        return f"{scheme}://{self.host}:{self.port}{path}"


def saying(data: bytes) -> Reply:
    """Answers with these bytes."""
    return lambda connection: connection.sendall(data)


def status(code: int, *headers: str) -> Reply:
    """Answers with a status, and with headers such as ``Retry-After: 5``."""
    told = "".join(f"{header}\r\n" for header in headers)
    return saying(f"HTTP/1.1 {code} Told\r\n{told}Content-Length: 0\r\n\r\n".encode())


@contextmanager
def receiving(
    *replies: Reply, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
) -> Iterator[Receiver]:
    """A receiver while the block lasts."""
    listening = socket.create_server((host, port))
    receiver = Receiver(listening.getsockname()[1], host, list(replies) or [saying(OK)])
    threads: list[threading.Thread] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            receiver.connections += 1
            threads.append(threading.Thread(target=_answer, args=(receiver, connection, tls), daemon=True))
            threads[-1].start()

    acceptor = threading.Thread(target=serve, daemon=True)
    acceptor.start()
    try:
        yield receiver
    finally:
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        acceptor.join(60)


def _answer(receiver: Receiver, connection: socket.socket, tls: ssl.SSLContext | None) -> None:
    with suppress(OSError, ValueError):
        if tls is not None:
            connection = tls.wrap_socket(connection, server_side=True)
        with connection:
            receiver.requests.append(_read(connection))
            reply = receiver.replies.pop(0) if len(receiver.replies) > 1 else receiver.replies[0]
            reply(connection)


def _read(connection: socket.socket) -> Request:
    with connection.makefile("rb") as file:
        line = file.readline().decode().strip()
        headers: dict[str, str] = {}
        while text := file.readline().decode().strip():
            name, _, value = text.partition(":")
            headers[name.lower()] = value.strip()
        return Request(line, headers, file.read(int(headers.get("content-length", "0"))))
