"""The fixtures of the run store serve here, too; every database is migrated."""

from __future__ import annotations

import pytest

from tests.runs.conftest import spawn, sqlite_url, store_url
from tests.sqlite_template import real_migrations

__all__ = ["real_migrations", "spawn", "sqlite_url", "store_url"]


@pytest.fixture(autouse=True)
def _every_database_is_migrated(real_migrations: None) -> None:
    """These are the tests of migrations."""
