"""The device sessions of one part of a process: their limits, and the way to close them all."""

from __future__ import annotations

from dataclasses import fields, replace
from threading import Lock
from weakref import WeakSet

from cli_candidate.guard import SessionGuard
from cli_candidate.limits import SessionLimits

from qosforge.deploy.open_sessions import OpenSessions
from qosforge.settings import DEVICE_SESSIONS, DeviceLimits


class ProcessEnding(BaseException):
    """Sessions were closed because the process ends.

    What was under way with the devices has not failed and must not be recorded so: it is done again by who takes
    over. Not an ``Exception``, so that nothing on the way takes it for one.
    """


class Sessions:
    """Hands out the guards of sessions; safe between threads."""

    def __init__(self, limits: DeviceLimits | None = None, most: int = DEVICE_SESSIONS) -> None:
        """``limits`` are the installation's choices; what they leave open is as the drivers have it. ``most``: how
        many sessions are open at once.
        """
        self.open = OpenSessions(most)
        self.limits = _chosen(limits or DeviceLimits())
        self._lock = Lock()
        self._guards: WeakSet[SessionGuard] = WeakSet()
        self._closed: str | None = None

    @property
    def closed(self) -> str | None:
        """Why there are no sessions any more; None while there may be."""
        return self._closed

    def guard(self) -> SessionGuard:
        """A guard for one session, which is stopped already where all were closed."""
        made = SessionGuard(self.limits)
        with self._lock:
            self._guards.add(made)
            if self._closed is not None:
                made.stop(self._closed)
        return made

    def close(self, reason: str) -> None:
        """Close every session, whatever it is at, and let no other begin."""
        with self._lock:
            self._closed = reason
            guards = list(self._guards)
        for guard in guards:
            guard.stop(reason)


def setting_of(step: str, quantity: str) -> str:
    """The environment variable of a limit."""
    return f"QOSFORGE_DEVICE_LIMITS__{step}__{quantity}".upper()


def _chosen(settings: DeviceLimits) -> SessionLimits:
    limits = SessionLimits()
    for field in fields(limits):
        chosen = getattr(settings, field.name).model_dump(exclude_none=True)
        limits = replace(limits, **{field.name: replace(getattr(limits, field.name), **chosen)})
    return limits
