"""How long something takes on a machine that does other things besides."""

from __future__ import annotations

import time
from pathlib import Path


def _waited() -> float:
    """Seconds since the machine's start for which something waited for a processor or a disk; 0 if untold.

    Pressure stall information: Documentation/accounting/psi.rst of the Linux kernel.
    """
    seconds = 0.0
    for what in ("cpu", "io"):
        pressure = Path("/proc/pressure", what)
        try:
            told = pressure.read_text()
        except OSError:  # a kernel without it, or booted with psi=0
            continue
        seconds += int(told.split("total=")[1].split()[0]) / 1e6
    return seconds


class Stopwatch:
    """Seconds since it was made, less those for which something on the machine waited for its turn.

    Beside other tests a process waits for a processor: that is no part of what its work takes. On a machine that
    does nothing else it counts every second, so a test that asserts a limit with it fails where it is broken.
    """

    def __init__(self) -> None:
        self._begun = time.monotonic() - _waited()

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return time.monotonic() - _waited() - self._begun
