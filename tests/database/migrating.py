"""A database as an earlier release left it."""

from __future__ import annotations

from alembic import command
from alembic.config import Config

from app.database.connections import Database


def take_back(database: Database, revision: str) -> None:
    """Bring the tables back to an earlier revision; the next opening migrates them again."""
    with database.write() as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", "app.database:migrations")
        command.downgrade(config, revision)
