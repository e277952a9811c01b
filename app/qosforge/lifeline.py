"""A process that dies with the one that began it, however that one ends."""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1
_LIBRARY = ctypes.CDLL(None, use_errno=True)


def die_with(parent: int) -> None:
    """Have the kernel kill this process once ``parent`` is gone: at once, where it is gone already.

    More exactly: once the thread is gone that began this process. No code of this process has to run for it.
    """
    _LIBRARY.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL))
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
