"""New SQLite databases have the tables that the first one was migrated to, without migrating each of them.

Most tests open a database of their own, and all migrations take longer than most tests.
"""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from qosforge.database import connections
from qosforge.database.revisions import current_revision

_MIGRATE = connections.migrate
_STATEMENTS: list[str] = []


def _migrate_or_copy(connection: sa.Connection) -> None:
    if connection.dialect.name != "sqlite" or current_revision(connection) is not None:
        _MIGRATE(connection)
    elif _STATEMENTS:
        for statement in _STATEMENTS:
            connection.exec_driver_sql(statement)
    else:
        _MIGRATE(connection)
        driver = connection.connection.driver_connection
        assert driver is not None
        _STATEMENTS[:] = [line for line in driver.iterdump() if line not in ("BEGIN TRANSACTION;", "COMMIT;")]


def install(patch: pytest.MonkeyPatch) -> None:
    """Copy tables from now on, until the patch is undone."""
    patch.setattr(connections, "migrate", _migrate_or_copy)


@pytest.fixture
def real_migrations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every database of the test is migrated."""
    monkeypatch.setattr(connections, "migrate", _MIGRATE)
