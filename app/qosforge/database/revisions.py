"""Schema revisions: the one that a database has, and those that this release knows."""

from __future__ import annotations

from functools import cache

import sqlalchemy as sa
from alembic.config import Config
from alembic.script import ScriptDirectory


@cache
def known_revisions() -> tuple[str, ...]:
    """The revisions that this release can read and migrate, newest first."""
    config = Config()
    config.set_main_option("script_location", "qosforge.database:migrations")
    return tuple(script.revision for script in ScriptDirectory.from_config(config).walk_revisions())


def current_revision(connection: sa.Connection) -> str | None:
    """The revision of a database; ``None`` where it has no tables yet."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    return None if found is None else str(found)
