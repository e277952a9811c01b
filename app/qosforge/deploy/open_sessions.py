"""How many device sessions a process holds open at once: each has two threads, busy or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock

Close = Callable[[], None]
_Key = tuple[object, str]
"""A session: who opened it, and the device."""


class OpenSessions:
    """Places for open sessions, of all that share it; safe between threads.

    A session is busy with a task, or idle and kept for the next one. Where no place is free, idle sessions are
    closed: others' first, those that were used longest ago; then one's own, those that were used last. (Tasks go
    through devices in one order, so the next one needs those soonest that were used first.) Places are given in the
    order in which they were asked for.
    """

    def __init__(self, most: int) -> None:
        """``most``: sessions that are open at once, one at least."""
        self.most = most
        self._lock = Lock()
        self._busy: set[_Key] = set()
        self._idle: dict[_Key, Callable[[], Close]] = {}
        self._to_close: dict[_Key, Close] = {}
        self._waiting: list[object] = []

    def claim(self, owner: object, devices: Sequence[str]) -> bool:
        """Take a place for the session with each of the devices, for all of them or for none; whether it did."""
        keys = [(owner, device) for device in devices]
        with self._lock:
            new = [key for key in keys if key not in self._idle and key not in self._busy]
            free = self.most - len(self._busy) - len(self._idle)
            others = [key for key in self._idle if key[0] is not owner]
            own = [key for key in reversed(self._idle) if key[0] is owner and key not in keys]
            closed = [*others, *own][: max(0, len(new) - free)]
            in_turn = not self._waiting or self._waiting[0] is owner
            if new and (not in_turn or len(new) > free + len(closed)):
                if owner not in self._waiting:
                    self._waiting.append(owner)
                return False
            self._leave_queue(owner)
            # Who opens a session in the place of another one closes that first: a place is never taken twice.
            for key, idle in zip(new, closed, strict=False):
                self._to_close[key] = self._idle.pop(idle)()
            for key in keys:
                self._idle.pop(key, None)
                self._busy.add(key)
        return True

    def begin(self, owner: object, device: str) -> None:
        """Close the session in whose place another one is opened, if there is one."""
        with self._lock:
            close = self._to_close.pop((owner, device), None)
        if close is not None:
            close()

    def release(self, owner: object, device: str, take: Callable[[], Close] | None) -> bool:
        """End a task. ``take`` takes an open session from its owner, to be closed by what it gives; ``None``: it is
        closed already. Whether it may stay open: one without a place may not.
        """
        key = (owner, device)
        with self._lock:
            had_place = key in self._busy
            self._busy.discard(key)
            if had_place and take is not None:
                self._idle[key] = take
        return had_place

    def keep(self, owner: object, device: str) -> None:
        """Keep the place of an idle session while its owner closes it; `release` gives it up then."""
        key = (owner, device)
        with self._lock:
            if self._idle.pop(key, None) is not None:
                self._busy.add(key)

    def withdraw(self, owner: object) -> None:
        """Wait for no place any more."""
        with self._lock:
            self._leave_queue(owner)

    def _leave_queue(self, owner: object) -> None:
        if owner in self._waiting:
            self._waiting.remove(owner)
