"""Throttle sessions whose devices send much, so that they leave processor time to the others in the process."""

from __future__ import annotations

import threading
import time

MIB = 1 << 20


class ReceiveThrottle:
    """Slows down sessions that receive much, all of them together; the device waits, for its window is full.

    Decrypting and searching what a device sends takes time in which Python runs nothing else: some dozens that send
    as fast as they can leave no time for the healthy ones, or for the end of the process. Safe between threads.
    """

    def __init__(self, free: int = MIB // 2, rate: int = 4 * MIB) -> None:
        """``free`` bytes of a step are never slowed down; what goes beyond shares ``rate`` bytes a second."""
        self._free = free
        self._rate = rate
        self._lock = threading.Lock()
        self._taken_until = 0.0

    def delay(self, received: int, count: int) -> float:
        """Seconds for which a session reads nothing, of whose step's ``received`` bytes ``count`` just came."""
        beyond = min(count, received - self._free)
        if beyond <= 0:
            return 0.0
        now = time.monotonic()
        with self._lock:
            self._taken_until = max(self._taken_until, now) + beyond / self._rate
            return self._taken_until - now


#: That of the process.
THROTTLE = ReceiveThrottle()
