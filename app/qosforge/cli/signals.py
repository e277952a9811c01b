"""Signals that stop a service gracefully."""

from __future__ import annotations

import signal
import socket
from types import TracebackType
from typing import Self


class StopSignal:
    """Waits for a signal that stops the service, from when it is entered.

    A signal may reach any thread of the process, and what the main thread waits for meanwhile, such as a lock, does
    not end by it. So each signal is written into a socket, in whatever thread it came, and the main thread reads
    there (`signal.set_wakeup_fd` in Python's manual).
    """

    def __enter__(self) -> Self:
        self._numbers = stop_signals()
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        self._before = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        for number in self._numbers:
            signal.signal(number, lambda _number, _frame: None)
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        signal.set_wakeup_fd(self._before)
        self._reader.close()
        self._writer.close()

    def wait(self) -> None:
        """Return at the first of these signals, even one that came before this call."""
        while self._reader.recv(1)[0] not in self._numbers:
            pass


def stop_signals() -> tuple[signal.Signals, ...]:
    """SIGTERM, SIGINT, and SIGHUP unless it is ignored already, as ``nohup`` has it."""
    hangups = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
    return (signal.SIGTERM, signal.SIGINT, *((signal.SIGHUP,) if hangups else ()))
