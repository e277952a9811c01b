"""The time the boxes live in: it may run faster than the wall clock, so that timers can be tested."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

YEAR = 365 * 86400.0
"""Seconds."""


class Clock:
    """Box time. ``scale`` 60 makes a box's minute last one second. Raises ValueError if not positive."""

    def __init__(self, scale: float = 1.0) -> None:
        if scale <= 0:
            raise ValueError("clock_scale must be positive")
        self._scale = scale
        self.ahead = 0.0
        """Seconds by which the boxes believe it to be later than it is."""
        self._start = time.monotonic()
        self._wall = time.time()

    def seconds(self) -> float:
        """Box seconds since the clock was made."""
        return (time.monotonic() - self._start) * self._scale

    def epoch(self) -> float:
        """Box time as seconds since 1970 (UTC)."""
        return self._wall + self.seconds() + self.ahead

    def stamp(self, form: str = "%H:%M:%S UTC %a %b %d %Y", *, ahead: float = 0.0) -> str:
        """Box time as text, ``ahead`` seconds from now; the default form is the one IOS prints."""
        return time.strftime(form, time.gmtime(self.epoch() + ahead))

    def later(self, seconds: float, run: Callable[[], None]) -> asyncio.TimerHandle:
        """Call ``run`` after ``seconds`` of box time. Needs a running event loop."""
        return asyncio.get_running_loop().call_later(seconds / self._scale, run)
