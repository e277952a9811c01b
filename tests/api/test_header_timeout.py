"""Callers that say nothing, or say it slowly, take no place from others."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from httpx2 import Client

from qosforge.api.application import create_app
from qosforge.api.backend import Backend
from qosforge.api.middleware import header_timeout
from qosforge.settings import Settings
from tests.api.conftest import served
from tests.stopwatch import Stopwatch

pytestmark = pytest.mark.hostile

AT_ONCE = 2
HEAD_SECONDS = 0.3


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(var_dir=tmp_path / "var", compute_processes=1, requests_at_once=AT_ONCE, request_seconds=2)


@pytest.fixture
def client(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.setattr(header_timeout, "HEADER_SECONDS", HEAD_SECONDS)
    with served(create_app(backend)) as made:
        yield made


def dial(client: Client) -> socket.socket:
    parts = urlsplit(str(client.base_url))
    return socket.create_connection((str(parts.hostname), parts.port or 80), timeout=60)


def answer(caller: socket.socket) -> bytes:
    """The status line of one whole answer."""
    head, data = b"", b""
    while b"\r\n\r\n" not in head:
        head += caller.recv(4096)
    head, _, data = head.partition(b"\r\n\r\n")
    length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"content-length"))
    while len(data) < length:
        data += caller.recv(4096)
    return head.partition(b"\r\n")[0]


def test_bodies_that_do_not_come_keep_nobody_out(client: Client) -> None:
    head = (
        b"POST /api/v1/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
    )
    with ExitStack() as opened:
        callers = [opened.enter_context(dial(client)) for _ in range(AT_ONCE + 1)]
        for caller in callers:
            caller.sendall(head)
        time.sleep(0.2)
        assert client.get("/api/v1/version").status_code == 200
        for caller in callers:
            assert b" 504 " in answer(caller)


@pytest.mark.parametrize("said", [b"", b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\nX-Slow: "])
@pytest.mark.parametrize("before", [0, 1])
def test_a_head_that_does_not_come_ends_the_connection(client: Client, said: bytes, before: int) -> None:
    with dial(client) as caller:
        for _ in range(before):
            caller.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b" 200 " in answer(caller)
        watch = Stopwatch()
        for byte in said:
            caller.sendall(bytes([byte]))
        if before and not said:
            return  # between two requests it is the server's own bound that ends it
        assert caller.recv(4096) == b""
        assert watch.seconds < 5 * HEAD_SECONDS


def test_a_request_may_take_longer_than_its_head(client: Client) -> None:
    with dial(client) as caller:
        caller.sendall(
            b"POST /api/v1/login HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{"
        )
        time.sleep(2 * HEAD_SECONDS)
        caller.sendall(b"}")
        assert b" 422 " in answer(caller)
        time.sleep(2 * HEAD_SECONDS)
        caller.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b" 200 " in answer(caller)
