"""The release's own name."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def release() -> str:
    """Version of the installed package."""
    try:
        return version("qosforge")
    except PackageNotFoundError:
        return "unknown"
