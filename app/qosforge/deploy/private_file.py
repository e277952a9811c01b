"""Files that only their owner may read: credentials, tokens, single values."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from qosforge.errors import InputError, Place

_LARGEST = 64 << 10
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def require_private(path: Path) -> None:
    """Make sure that nobody but its owner can read a file, and that this process is the owner's.

    Raises:
        InputError: others may read it, or it is somebody else's.
    """
    try:
        found = path.stat()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", Place(file=str(path)), "correct the path") from None
    if found.st_mode & _OTHERS:
        raise InputError("others than its owner may read it", Place(file=str(path)), f"chmod 600 {path}")
    if found.st_uid not in (os.geteuid(), 0):
        raise InputError("it belongs to somebody else", Place(file=str(path)), "use a file of your own")


def read_first_line(path: Path) -> str:
    """The first line of a private file; empty where the file is.

    Raises:
        InputError: others may read it, or it is no text.
    """
    require_private(path)
    try:
        lines = path.read_text(encoding="utf-8")[:_LARGEST].splitlines()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", Place(file=str(path)), "correct the file") from None
    except UnicodeDecodeError:  # its own words quote what is in the file
        raise InputError("cannot be read: it is not UTF-8", Place(file=str(path)), "correct the file") from None
    return lines[0] if lines else ""
