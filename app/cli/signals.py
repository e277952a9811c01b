"""Which signals end a service in order."""

from __future__ import annotations

import signal


def ending() -> tuple[signal.Signals, ...]:
    """SIGTERM, SIGINT, and SIGHUP unless it is ignored already, as ``nohup`` has it."""
    hangups = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
    return (signal.SIGTERM, signal.SIGINT, *((signal.SIGHUP,) if hangups else ()))
