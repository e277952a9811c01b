"""Becomes the program that its arguments name, on one processor, and ends with whoever started it.

Where the guest sleeps, as it does while it boots, QEMU moves its clock from another thread than the one that runs
it. If both ran at once, the first could see the guest asleep before the second has counted its last instructions,
and a timer came late by these. On one processor, in the scheduling class where nothing of the same priority
preempts, each goes on until it waits for the other. That class takes a privilege; without it the one that does not
preempt on wake-ups comes near.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Never returns."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    processors = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {processors[os.getpid() % len(processors)]})
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    os.execv(sys.argv[1], sys.argv[1:])  # noqa: S606 (what qoslab gives)


main()
