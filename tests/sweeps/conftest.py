"""The fixtures of the run store serve here, too."""

from __future__ import annotations

from tests.runs.conftest import clock, run, spawn, sqlite_url, store, store_url

__all__ = ["clock", "run", "spawn", "sqlite_url", "store", "store_url"]
