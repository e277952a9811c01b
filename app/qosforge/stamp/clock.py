"""What the kernel knows of this machine's clock: whether something disciplines it, and how far it may be off."""

from __future__ import annotations

import ctypes
import os
import sys

from qosforge.stamp.packet import ErrorEstimate

_UNSYNCHRONIZED = 0x40  # STA_UNSYNC of <sys/timex.h>
_US = 1e-6


class _Timex(ctypes.Structure):
    """The beginning of ``struct timex`` (adjtimex(2)), and room for the rest of it."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_byte * 256),
    )


def clock_estimate() -> ErrorEstimate:
    """How well this machine's clock is known to go.

    Whatever disciplines it (chrony, ntpd, systemd-timesyncd, phc2sys) tells the kernel the largest error. Where
    nothing does, it is not synchronized, and no error is known.
    """
    if not sys.platform.startswith("linux"):
        return ErrorEstimate()
    asked = _Timex()
    state = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(asked))
    if state < 0:
        raise OSError(ctypes.get_errno(), f"adjtimex: {os.strerror(ctypes.get_errno())}")
    if asked.status & _UNSYNCHRONIZED:
        return ErrorEstimate()
    return ErrorEstimate(synchronized=True, error_seconds=asked.maxerror * _US)
