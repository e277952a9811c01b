"""Where the command ``qosforge`` begins: its streams, how it looks for garbage, and then the command line."""

from __future__ import annotations

import gc
import signal
import sys

_OBJECTS_BETWEEN_LOOKS = 50_000
_USUAL = gc.get_threshold()


def main() -> None:
    """Run the command line.

    What it imports stays: to look for garbage among that at every 700 new objects, the interpreter's own measure,
    takes a fifth of the time in which a large command begins, and to go through all of it at the end as long again.

    Imports take most of the first second: an interrupt among them ends the command as one later on does.
    """
    gc.set_threshold(_OBJECTS_BETWEEN_LOOKS)
    try:
        from qosforge.cli.streams import writable_streams  # noqa: PLC0415 - not before

        with writable_streams():
            from qosforge.cli.main import main as command_line  # noqa: PLC0415 - not before

            command_line()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # another one is too late
        from qosforge.cli.streams import tell_interrupt  # noqa: PLC0415 - it may not be there yet

        sys.exit(tell_interrupt())
    finally:
        gc.freeze()


def look_as_usual() -> None:
    """Look for garbage as often as interpreters do from now on: what stays for long must not collect it."""
    gc.freeze()
    gc.set_threshold(*_USUAL)
