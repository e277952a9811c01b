"""The guard of one session: it counts and times what a device sends, and cuts the session at a limit.

The limits hold at the socket, below SSH, so that they also hold for a key exchange, a banner or a file transfer;
and the thread that waits for the device need not notice anything: the guard has a thread of its own.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from cli_candidate.errors import CommitBrokenError, LimitExceededError, LineTimeoutError, SessionStoppedError
from cli_candidate.limits import Quantity, SessionLimits, Step, StepLimit
from cli_candidate.receive_throttle import THROTTLE

_CONNECT_POLL_MILLISECONDS = 100
# Errors that tell what the guard did, and more.
_TELLING = (LimitExceededError, SessionStoppedError, LineTimeoutError, CommitBrokenError)


@dataclass(slots=True)
class _Running:
    """A step under way: its limits, when it began (monotonic seconds), and the bytes received in it."""

    step: Step
    limit: StepLimit
    begun: float
    received: int = 0


class Carrier(Protocol):
    """A process that carries a connection."""

    def last_words(self) -> str:
        """Its last words; empty where it said nothing."""

    def note_activity(self) -> None:
        """Called when something comes through it, and when it has closed."""

    def end(self) -> None:
        """End it."""


class SessionGuard:
    """Watches one session: times each step, counts its bytes, and closes it from outside when asked to.

    Safe between threads. A step within a step has limits of its own; the outer one's whole time goes on.
    """

    def __init__(self, limits: SessionLimits | None = None) -> None:
        """Without ``limits``, the defaults of :class:`SessionLimits`. Nothing is watched before a connection is
        made.
        """
        self.limits = limits or SessionLimits()
        self._changed = threading.Condition(threading.RLock())
        self._heard = time.monotonic()
        # Innermost last; between steps the session is idle.
        self._steps = [_Running("idle", self.limits.idle, self._heard)]
        self._sockets: list[_WatchedSocket] = []
        self._carriers: list[Carrier] = []
        self._failure: Callable[[], Exception] | None = None
        self._is_stopped = False
        self._watcher: threading.Thread | None = None

    @property
    def longest_seconds(self) -> float:
        """The longest that any step may take: other clocks on the way should be slower than this."""
        limits = self.limits
        return max(limit.seconds for limit in (limits.login, limits.read, limits.show, limits.batch, limits.save))

    @contextlib.contextmanager
    def step(self, step: Step) -> Iterator[None]:
        """Hold what happens inside to the limits of a step; ``login`` begins a new session.

        Raises:
            LimitExceededError, SessionStoppedError: instead of whatever error the cut session caused inside.
        """
        with self._changed:
            self._heard = time.monotonic()
            self._steps[0].received = 0
            if step == "login" and not self._is_stopped:
                self._failure = None
            self._steps.append(_Running(step, self.limits.of(step), self._heard))
            self._changed.notify_all()
        try:
            yield
        except Exception as error:
            failure = self._failure
            if failure is None or step == "logout" or isinstance(error, _TELLING):
                raise
            raise failure() from error
        finally:
            with self._changed:
                self._steps.pop()
                self._heard = time.monotonic()
                if not self.in_step:
                    self._steps[0].begun = self._heard
                    self._changed.notify_all()

    @property
    def is_cut(self) -> bool:
        """Whether a limit or somebody has ended the session: nothing more can be done in it."""
        return self._failure is not None

    @property
    def in_step(self) -> bool:
        """Whether a step is under way."""
        return len(self._steps) > 1

    def check(self) -> None:
        """Make sure that the session may go on.

        Raises:
            LimitExceededError: a limit of the present step is passed.
            SessionStoppedError: it was stopped from outside.
        """
        with self._changed:
            self._look()
            failure = self._failure
        if failure is not None:
            raise failure()

    def check_cut(self) -> None:
        """As `check`, but of limits that were passed before now.

        Raises:
            LimitExceededError, SessionStoppedError: see `check`.
        """
        failure = self._failure
        if failure is not None:
            raise failure()

    @contextlib.contextmanager
    def apart(self) -> Iterator[None]:
        """What happens inside, before there is a connection, takes none of the time of the steps under way."""
        begun = time.monotonic()
        try:
            yield
        finally:
            with self._changed:
                waited = time.monotonic() - begun
                self._heard += waited
                for running in self._steps:
                    running.begun += waited

    def stop(self, reason: str) -> None:
        """Cut the session, now and for good, whatever it is at; ``reason`` is told to who waits for it."""
        with self._changed:
            self._is_stopped = True
            self._fail(lambda: SessionStoppedError(reason))

    def connect(self, host: str, port: int, seconds: float | None = None) -> socket.socket:
        """Open a watched TCP connection; ``seconds`` bounds it beside the step's limits.

        Raises:
            OSError: no address of the host accepts it.
            LimitExceededError, SessionStoppedError: see :meth:`check`.
        """
        self.check()
        failed = OSError(errno.EHOSTUNREACH, f"{host} has no address")
        for family, kind, protocol, _name, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            made = _WatchedSocket(self, family, kind, protocol)
            try:
                made.establish(address, seconds)
            except BaseException as error:
                made.close()
                if not isinstance(error, OSError):
                    raise
                failed = error
                continue
            self._watch_socket(made)
            return made
        raise failed

    def adopt(self, made: socket.socket, carrier: Carrier) -> socket.socket:
        """Watch a connection that a process carries; the process ends with the session.

        Raises:
            LimitExceededError, SessionStoppedError: see :meth:`check`.
        """
        with self._changed:
            self._carriers.append(carrier)
        watched = _WatchedSocket(self, made.family, made.type, made.proto, made.detach())
        watched.note_activity = carrier.note_activity
        self._watch_socket(watched)
        return watched

    def last_words(self) -> str:
        """What the newest process that carries a connection said on its way; empty where none does."""
        with self._changed:
            carriers = list(self._carriers)
        return carriers[-1].last_words() if carriers else ""

    def _watch_socket(self, made: _WatchedSocket) -> None:
        with self._changed:
            self._sockets = [made, *(known for known in self._sockets if known.fileno() != -1)]
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, name="session-guard", daemon=True)
                self._watcher.start()
        self.check()

    def close(self) -> None:
        """Let go of every connection."""
        with self._changed:
            for open_socket in self._sockets:
                open_socket.cut()
            self._sockets.clear()
            carriers, self._carriers = self._carriers, []
            watcher, self._watcher = self._watcher, None
            self._changed.notify_all()
        for carrier in carriers:
            carrier.end()
        if watcher is not None and watcher is not threading.current_thread():
            watcher.join()

    def received(self, count: int) -> bool:
        """Count bytes of the device, and rest where it sends much; whether the session goes on."""
        with self._changed:
            self._heard = time.monotonic()
            step = self._steps[-1]
            step.received += count
            self._look()
            delay = THROTTLE.delay(step.received, count) if self._failure is None else 0.0
            if delay > 0:
                # The silence meanwhile is not the device's.
                self._heard += delay
                self._changed.wait_for(lambda: self._failure is not None or self._watcher is None, delay)
            return self._failure is None

    def _watch(self) -> None:
        me = threading.current_thread()
        with self._changed:
            while self._watcher is me and self._failure is None:
                self._look()
                self._changed.wait(self._left())

    def _under_way(self) -> list[_Running]:
        """The steps whose time goes on: being idle is one only while there is no other."""
        return self._steps[1:] or self._steps

    def _left(self) -> float | None:
        """Seconds to the next limit of time; None where there is none."""
        ends = [running.begun + running.limit.seconds for running in self._under_way()]
        left = min(*ends, self._heard + self._steps[-1].limit.silence) - time.monotonic()
        return None if math.isinf(left) else max(0.0, left)

    def _look(self) -> None:
        """Fail where a limit is passed."""
        now = time.monotonic()
        for running in self._under_way():
            if now - running.begun >= running.limit.seconds:
                self._exceed(running.step, "seconds", running.limit.seconds)
        last = self._steps[-1]
        if last.received > last.limit.bytes:
            self._exceed(last.step, "bytes", last.limit.bytes)
        elif now - self._heard >= last.limit.silence:
            self._exceed(last.step, "silence", last.limit.silence)

    def _exceed(self, step: Step, quantity: Quantity, limit: float) -> None:
        self._fail(lambda: LimitExceededError(step, quantity, limit))

    def _fail(self, failure: Callable[[], Exception]) -> None:
        if self._failure is None:
            self._failure = failure
            for open_socket in self._sockets:
                open_socket.cut()
            self._changed.notify_all()


class _WatchedSocket(socket.socket):
    """A TCP connection whose bytes a guard counts; once the guard says so, it reads as closed by the peer."""

    def __init__(
        self, guard: SessionGuard, family: int, kind: int, protocol: int, descriptor: int | None = None
    ) -> None:
        super().__init__(family, kind, protocol, descriptor)
        self._guard = guard
        self.note_activity: Callable[[], None] | None = None
        """Called once, when something comes or the peer has closed."""
        self._is_cut = False

    def establish(self, address: Any, seconds: float | None) -> None:
        """Connect in slices, so that the guard is asked meanwhile."""
        begun = time.monotonic()
        self.setblocking(False)
        code = self.connect_ex(address)
        poll = select.poll()
        poll.register(self, select.POLLOUT)
        while code in (errno.EINPROGRESS, errno.EALREADY):
            self._guard.check()
            if seconds is not None and time.monotonic() - begun >= seconds:
                raise TimeoutError(errno.ETIMEDOUT, f"no connection within {seconds:g} s")
            if poll.poll(_CONNECT_POLL_MILLISECONDS):
                code = self.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            host, port, *_ = address
            raise OSError(code, f"{os.strerror(code)}: {host} port {port}")
        self.setblocking(True)

    def recv(self, *arguments: Any) -> bytes:
        if self._is_cut:
            return b""
        data = super().recv(*arguments)
        if self.note_activity is not None:
            self.note_activity()
            self.note_activity = None
        return data if self._guard.received(len(data)) else b""

    def cut(self) -> None:
        """End the connection under whoever reads or writes it in another thread."""
        # After a shutdown the kernel still hands out what arrives, so reading ends by the flag.
        self._is_cut = True
        with contextlib.suppress(OSError):
            self.shutdown(socket.SHUT_RDWR)
