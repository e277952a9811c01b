"""Devices that send without end share a rate, and a session that is cut does not wait for its turn."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest
from cli_candidate import guard as guard_module
from cli_candidate.guard import SessionGuard
from cli_candidate.receive_throttle import ReceiveThrottle

from tests.stopwatch import Stopwatch

KIB = 1024


def test_what_a_step_may_send_freely_is_never_slowed_down() -> None:
    throttle = ReceiveThrottle(free=100, rate=1)
    assert [throttle.delay(received, 50) for received in (50, 100)] == [0.0, 0.0]
    assert throttle.delay(101, 50) == pytest.approx(1.0, abs=0.1)


def test_all_that_send_more_share_the_rate() -> None:
    throttle = ReceiveThrottle(free=0, rate=1000)
    rests = [throttle.delay(received=1 << 20, count=500) for _session in range(4)]
    assert rests == pytest.approx([0.5, 1.0, 1.5, 2.0], abs=0.1)


@pytest.fixture
def sending() -> Iterator[int]:
    """A port that sends without end."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def send() -> None:
            peer, _ = listening.accept()
            with peer:
                try:
                    while True:
                        peer.sendall(bytes(64 * KIB))
                except OSError:
                    return

        thread = threading.Thread(target=send, daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        thread.join(5)


def test_a_flood_is_read_at_its_rate(sending: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard_module, "THROTTLE", ReceiveThrottle(free=64 * KIB, rate=256 * KIB))
    guard = SessionGuard()
    begun, received = time.monotonic(), 0
    with guard.step("read"):
        made = guard.connect("127.0.0.1", sending)
        with made:
            while time.monotonic() - begun < 1.0:
                received += len(made.recv(16 * KIB))
            took = time.monotonic() - begun
            guard.close()
    assert 64 * KIB < received <= 64 * KIB + took * 256 * KIB + 16 * KIB


def test_a_session_that_is_stopped_ends_while_it_rests(sending: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard_module, "THROTTLE", ReceiveThrottle(free=0, rate=1))
    guard = SessionGuard()
    with guard.step("idle"):
        made = guard.connect("127.0.0.1", sending)
        timer = threading.Timer(0.5, guard.stop, ["cancelled"])
        timer.start()
        watch = Stopwatch()
        with made:
            assert made.recv(KIB) == b""
            assert watch.seconds < 5
            guard.close()
    timer.join()
