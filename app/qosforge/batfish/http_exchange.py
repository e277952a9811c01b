"""One HTTP exchange with a Batfish service, bounded as a whole: in time, and in the bytes of the answer.

The limits of `http.client` are per packet, so that a service that sends byte after byte would never reach them.
"""

from __future__ import annotations

import io
import socket
import time
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from typing import IO, cast

_LONGEST_ANSWER = 8 << 20
_PIECE = 1 << 16
API_KEY = ("X-Batfish-Apikey", "0" * 32)
"""The header by which Batfish tells its users apart, as pybatfish sends it: whoever asks sees the same networks."""


@dataclass(frozen=True)
class Address:
    """Where a Batfish service listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True)
class _Received:
    """An answer that was received, as the socket that `http.client` reads."""

    data: bytes

    def makefile(self, _mode: str) -> IO[bytes]:
        return io.BytesIO(self.data)


def exchange(address: Address, method: str, path: str, seconds: float) -> tuple[int, bytes]:
    """Status and body of the answer to a request without a body.

    Raises:
        OSError: no connection, no answer within ``seconds``, or one that is too long.
        http.client.HTTPException: the answer is not HTTP.
    """
    deadline = time.monotonic() + seconds
    # Version 1.0: the answer ends with the connection, and comes in one piece.
    lines = (f"{method} {path} HTTP/1.0", f"Host: {address}", ": ".join(API_KEY), "Connection: close", "", "")
    with connect(address, seconds) as connection:
        connection.sendall("\r\n".join(lines).encode("ascii"))
        data = _receive(connection, deadline)
    with HTTPResponse(cast(socket.socket, _Received(data)), method=method) as answer:
        answer.begin()
        return answer.status, answer.read()


def connect(address: Address, seconds: float) -> socket.socket:
    """A connection to a service.

    Raises:
        OSError: nothing answers there, or there is no such address.
    """
    try:
        return socket.create_connection((address.host, address.port), timeout=max(seconds, 0.01))
    except (OverflowError, UnicodeError) as error:  # no port, no name at all
        raise OSError(str(error)) from error


def _receive(connection: socket.socket, deadline: float) -> bytes:
    received = bytearray()
    while (left := deadline - time.monotonic()) > 0:
        connection.settimeout(left)
        piece = connection.recv(_PIECE)
        if not piece:
            return bytes(received)
        received += piece
        if len(received) > _LONGEST_ANSWER:
            raise OSError("the answer is too long")
    raise TimeoutError("timed out")


__all__ = ["API_KEY", "Address", "HTTPException", "connect", "exchange"]
