"""A database as an earlier release left it."""

from __future__ import annotations

from alembic import command
from alembic.config import Config

from qosforge.database.connections import Database, Schema


def take_back(database: Database, revision: str) -> None:
    """Bring the tables back to an earlier revision."""
    with database.write() as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", "qosforge.database:migrations")
        command.downgrade(config, revision)


def bring_up(url: str) -> None:
    """Upgrade a database of an earlier release, as `qosforge database upgrade` does."""
    Database(url, schema=Schema.UPGRADED).close()
