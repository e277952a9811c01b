"""What tests of Batfish share: questions of the small network, and peers that are hostile and never Batfish."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from qosforge.batfish.check import BatfishCheck, prepare_check
from qosforge.batfish.http_exchange import Address
from qosforge.batfish.release import client_release
from qosforge.batfish.service import BatfishService
from qosforge.compiler.compile import Compilation
from qosforge.findings import Finding
from tests.validation.support import RUNNING, compiled

DEFAULT_PORT = 9996
LIVE_SECONDS = 300
"""Of a question to a real service, on a machine that may have other work."""
Behaviour = Callable[[socket.socket, bytes], None]
"""What a hostile peer does with a connection and the first bytes that came over it."""


def check(
    compilation: Compilation | None = None,
    *,
    host: str | None = "127.0.0.1",
    port: int = DEFAULT_PORT,
    require: bool = False,
    seconds: float = 60,
    folder: Path | None = None,
) -> tuple[Finding, ...]:
    """What a service at an address is found to say of a compilation."""
    address = None if host is None else Address(host, port)
    asked = prepared(compilation)
    return BatfishService(seconds, folder=folder).check(asked, address, require=require)


def prepared(compilation: Compilation | None = None) -> BatfishCheck:
    """The check of a compilation, or of the small network's."""
    return prepare_check(compilation or compiled(), RUNNING)


def hang(connection: socket.socket, _request: bytes) -> None:
    """Take everything and answer nothing."""
    while connection.recv(1 << 16):
        pass


def drip(connection: socket.socket, _request: bytes) -> None:
    """Answer one byte after another for ever."""
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        connection.sendall(b"X")
        time.sleep(0.05)


def refuse(connection: socket.socket, _request: bytes) -> None:
    """Answer that it failed."""
    connection.sendall(b"HTTP/1.1 500 Failed\r\nContent-Length: 4\r\nConnection: close\r\n\r\noops")


def cut(connection: socket.socket, _request: bytes) -> None:
    """Promise a long answer and end in its midst."""
    connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n{"a": [')


def nonsense(connection: socket.socket, _request: bytes) -> None:
    """Answer with JSON of something else."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n[]")


def midway(behaviour: Behaviour) -> Behaviour:
    """Say which release it is, and then do as another one does."""
    body = f'{{"Batfish": "{client_release()}"}}'.encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"

    def behave(connection: socket.socket, request: bytes) -> None:
        if request.startswith(b"GET /v2/version "):
            connection.sendall(head.encode() + b"Connection: close\r\n\r\n" + body)
        else:
            behaviour(connection, request)

    return behave


@contextmanager
def peer(behaviour: Behaviour) -> Iterator[int]:
    """The port of a hostile peer on the loopback."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        threading.Thread(target=_accept, args=(server, behaviour), daemon=True).start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)


def _accept(server: socket.socket, behaviour: Behaviour) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=_serve, args=(connection, behaviour), daemon=True).start()


def _serve(connection: socket.socket, behaviour: Behaviour) -> None:
    with connection:
        try:
            request = connection.recv(1 << 16)
            if request:
                behaviour(connection, request)
        except OSError:
            pass


def children_of(pid: int) -> list[int]:
    """The processes that a process began and that have not ended."""
    children: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError):  # a thread that ends meanwhile
            children += [int(child) for child in (task / "children").read_text().split()]
    return children


def askers() -> list[int]:
    """The processes of this one that ask Batfish."""
    commands = {pid: Path(f"/proc/{pid}/cmdline") for pid in children_of(os.getpid())}
    return [pid for pid, file in commands.items() if file.exists() and b"batfish.questions" in file.read_bytes()]
