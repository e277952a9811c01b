"""Self-fencing: a timer of the kernel that kills this process unless it is set again in time.

No thread of the process has to run for it, so it also ends one that is stopped, swapped out or stuck, and one
that is continued later never gets to its next instruction. It counts on while the machine is suspended.
"""

from __future__ import annotations

import ctypes
import os
import signal

from qosforge.errors import ServiceError

_SIGEV_SIGNAL = 0
_CLOCK_BOOTTIME = 7


class _Event(ctypes.Structure):
    """``struct sigevent``, see sigevent(3type)."""

    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signo", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("padding", ctypes.c_byte * (64 - ctypes.sizeof(ctypes.c_void_p) - 2 * ctypes.sizeof(ctypes.c_int))),
    )


class _Time(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _Setting(ctypes.Structure):
    _fields_ = (("interval", _Time), ("value", _Time))


class SelfFence:
    """A POSIX timer (timer_create(2)) that sends ``SIGKILL``; not inherited by children."""

    def __init__(self) -> None:
        """Make the timer, not set.

        Raises:
            ServiceError: the kernel has none to give.
        """
        self._library = ctypes.CDLL(None, use_errno=True)
        self._timer: ctypes.c_void_p | None = ctypes.c_void_p()
        event = _Event(None, signal.SIGKILL, _SIGEV_SIGNAL)
        if self._library.timer_create(_CLOCK_BOOTTIME, ctypes.byref(event), ctypes.byref(self._timer)) != 0:
            self._timer = None
            raise _refused("made")

    def set(self, seconds: float) -> None:
        """Kill this process ``seconds`` from now, instead of at the moment set before."""
        self._arm(max(seconds, 0.001))

    def close(self) -> None:
        """Take the timer away; the process lives on."""
        if self._timer is not None:
            self._library.timer_delete(self._timer)
            self._timer = None

    def _arm(self, seconds: float) -> None:
        whole = int(seconds)
        setting = _Setting(_Time(0, 0), _Time(whole, int((seconds - whole) * 1e9)))
        if self._library.timer_settime(self._timer, 0, ctypes.byref(setting), None) != 0:
            raise _refused("set")


def _refused(what: str) -> ServiceError:
    return ServiceError(
        f"the timer that fences this process cannot be {what}: {os.strerror(ctypes.get_errno())}",
        hint="run workers on Linux, with room for pending signals (ulimit -i)",
    )
