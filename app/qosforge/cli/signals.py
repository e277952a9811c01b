"""The signals that end a service in order."""

from __future__ import annotations

import signal
import socket
from types import TracebackType
from typing import Self


class Ending:
    """Hears the signals that end a service, from when it is entered.

    A signal may reach any thread of the process, and what the main thread waits for meanwhile, such as a lock, does
    not end by it. So each signal is written into a socket, in whatever thread it came, and the main thread reads
    there (`signal.set_wakeup_fd` in Python's manual).
    """

    def __enter__(self) -> Self:
        self._numbers = ending()
        self._heard, self._told = socket.socketpair()
        self._told.setblocking(False)
        self._before = signal.set_wakeup_fd(self._told.fileno(), warn_on_full_buffer=False)
        for number in self._numbers:
            signal.signal(number, lambda _number, _frame: None)
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        signal.set_wakeup_fd(self._before)
        self._heard.close()
        self._told.close()

    def wait(self) -> None:
        """Return when the first of them has come, even if it came before."""
        while self._heard.recv(1)[0] not in self._numbers:
            pass


def ending() -> tuple[signal.Signals, ...]:
    """SIGTERM, SIGINT, and SIGHUP unless it is ignored already, as ``nohup`` has it."""
    hangups = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
    return (signal.SIGTERM, signal.SIGINT, *((signal.SIGHUP,) if hangups else ()))
