"""The signals that end a service, whichever thread of the process they come to."""

from __future__ import annotations

import subprocess
import sys

WAITS = """
import signal
import threading
import time
from qosforge.cli.signals import StopSignal

def send():
    time.sleep({later})  # the main thread waits by then, or does not yet
    signal.pthread_kill(threading.get_ident(), signal.{name})

with StopSignal() as stop:
    sender = threading.Thread(target=send)
    sender.start()
    if {joined}:
        sender.join()
    stop.wait()
    print("heard")
"""


def _heard(name: str, *, later: float = 0.0, joined: bool = False) -> bool:
    """Whether a process that waits heard a signal that came to another thread than its main one."""
    program = WAITS.format(name=name, later=later, joined=joined)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout == "heard\n" and done.returncode == 0


def test_a_signal_that_another_thread_took_is_heard() -> None:
    assert _heard("SIGTERM", later=0.5)
    assert _heard("SIGINT", later=0.5)


def test_a_signal_that_came_before_is_heard() -> None:
    assert _heard("SIGTERM", joined=True)
