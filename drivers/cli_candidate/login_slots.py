"""Slots for concurrent logins at a jump host, which refuses those beyond a number."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

MOST_AT_ONCE = 5
"""OpenSSH refuses some of those that have not logged in yet where these are ten or more (``MaxStartups 10:30:100``,
sshd_config(5)); half of that, as there may be another process like this one."""
LONGEST_SECONDS = 10.0
"""A turn that nobody ended by then is over: a console server may say nothing until it is spoken to."""
_LOOK_SECONDS = 0.1


class LoginSlots:
    """At most ``most`` logins at once at each place; safe between threads."""

    def __init__(self, most: int = MOST_AT_ONCE, seconds: float = LONGEST_SECONDS) -> None:
        self._most = most
        self._seconds = seconds
        self._changed = threading.Condition()
        self._begun: dict[str, dict[object, float]] = {}

    def acquire(self, place: str, check: Callable[[], None]) -> Callable[[], None]:
        """Wait for a slot at a place; call what is returned to release it (more than once does no harm).

        ``check`` is called while it waits, and raises where that is not wanted any more.
        """
        turn = object()
        while not self._taken(place, turn):
            check()
        return lambda: self._end(place, turn)

    def _taken(self, place: str, turn: object) -> bool:
        with self._changed:
            if self._is_full(place):
                self._changed.wait(_LOOK_SECONDS)
            if self._is_full(place):
                return False
            self._begun.setdefault(place, {})[turn] = time.monotonic()
            return True

    def _is_full(self, place: str) -> bool:
        since = time.monotonic() - self._seconds
        there = {turn: begun for turn, begun in self._begun.pop(place, {}).items() if begun > since}
        if there:
            self._begun[place] = there
        return len(there) >= self._most

    def _end(self, place: str, turn: object) -> None:
        with self._changed:
            if self._begun.get(place, {}).pop(turn, None) is not None:
                self._changed.notify()


LOGIN_SLOTS = LoginSlots()
"""Those of this process."""
