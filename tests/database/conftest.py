"""The fixtures of the run store serve here, too."""

from __future__ import annotations

from tests.runs.conftest import spawn, store_url

__all__ = ["spawn", "store_url"]
