"""The streams of the process, before anything is imported that prints to them."""

from __future__ import annotations

import io
import sys


def take_any_character() -> None:
    """Write what the encoding of a stream lacks as its escape (``\\u2192``), instead of failing on it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
