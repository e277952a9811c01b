"""The fixtures of the run store serve here, too."""

from __future__ import annotations

from tests.runs.conftest import spawn, sqlite_url, store_url

__all__ = ["spawn", "sqlite_url", "store_url"]
