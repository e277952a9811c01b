"""Where the command ``qosforge`` begins: how its process looks for garbage, and then the command line."""

from __future__ import annotations

import gc

from qosforge.cli.streams import take_any_character

_OBJECTS_BETWEEN_LOOKS = 50_000
_USUAL = gc.get_threshold()


def main() -> None:
    """Run the command line.

    What it imports stays: to look for garbage among that at every 700 new objects, the interpreter's own measure,
    takes a fifth of the time in which a large command begins, and to go through all of it at the end as long again.
    """
    gc.set_threshold(_OBJECTS_BETWEEN_LOOKS)
    take_any_character()
    from qosforge.cli.main import main as command_line  # noqa: PLC0415 - not before

    try:
        command_line()
    finally:
        gc.freeze()


def look_as_usual() -> None:
    """Look for garbage as often as interpreters do from now on: what stays for long must not collect it."""
    gc.freeze()
    gc.set_threshold(*_USUAL)
