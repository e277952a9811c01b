"""Who runs a command on this machine."""

from __future__ import annotations

import getpass
import os


def account() -> str:
    """The name of the account on this machine, or its number where it has none, as in a container."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return f"uid {os.getuid()}"
