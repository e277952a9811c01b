"""The release's own name."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def release() -> str:
    """Version of the installed package, which takes a while to look up."""
    try:
        return version("qosforge")
    except PackageNotFoundError:
        return "unknown"
