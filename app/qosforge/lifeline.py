"""A process that dies with the one that began it, however that one ends."""

from __future__ import annotations

import ctypes
import os
import signal
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_LIBRARY = ctypes.CDLL(None, use_errno=True)


def die_with_parent() -> None:
    """Have the kernel kill this process once its parent is gone; no code of this process has to run for it.

    More exactly: once the thread is gone that began this process. Nothing happens where it is gone already.
    """
    _LIBRARY.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL))


def die_with(parent: int) -> None:
    """As `die_with_parent`, and at once where ``parent`` is gone already."""
    die_with_parent()
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def die_with_server(service: int) -> None:
    """As `die_with`, for a fork of a server that ``service`` began, and that dies with it."""
    die_with_parent()
    if _parent_of(os.getppid()) != service:
        os.kill(os.getpid(), signal.SIGKILL)


def _parent_of(process: int) -> int | None:
    try:
        status = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return None
    return int(status.rpartition(b")")[2].split()[1])  # the name before it may hold anything
