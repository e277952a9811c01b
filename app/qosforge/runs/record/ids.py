"""Run ids: UUID version 7 (RFC 9562, section 5.7), so that ids sort by the time they were made."""

from __future__ import annotations

import secrets
import threading
import time
import uuid
from collections.abc import Callable

_COUNTER_BITS = 12  # rand_a, used as a counter: RFC 9562 section 6.2, method 1
_RANDOM_BITS = 62  # rand_b
_VERSION_AND_VARIANT = (7 << 76) | (0b10 << 62)


class UuidV7:
    """A source of ids that never repeat and never go backwards inside one process, also across threads.

    ``clock`` gives milliseconds since the Unix epoch. When it stands still or steps back, the last
    millisecond is kept and the counter counts on; a full counter borrows the next millisecond.
    """

    def __init__(self, clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._millisecond = -1
        self._counter = 0

    def __call__(self) -> uuid.UUID:
        """The next id."""
        with self._lock:
            now = self._clock()
            if now > self._millisecond:
                self._millisecond = now
                # The top bit starts at zero: room for 2,048 ids and more before a millisecond is borrowed.
                self._counter = secrets.randbits(_COUNTER_BITS - 1)
            else:
                self._counter += 1
                if self._counter >> _COUNTER_BITS:
                    self._millisecond += 1
                    self._counter = 0
            millisecond, counter = self._millisecond, self._counter
        return uuid.UUID(
            int=(millisecond << 80) | _VERSION_AND_VARIANT | (counter << 64) | secrets.randbits(_RANDOM_BITS)
        )


_source = UuidV7()


def new_run_id() -> str:
    """A fresh run id in canonical text form; later ids sort after earlier ones as text, too."""
    return str(_source())
