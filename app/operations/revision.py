"""Which revision of the tables a database holds, and which ones this release knows."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

import sqlalchemy as sa
from alembic.config import Config
from alembic.script import ScriptDirectory


def release() -> str:
    """Version of the installed package."""
    try:
        return version("qosforge")
    except PackageNotFoundError:
        return "unknown"


def known() -> tuple[str, ...]:
    """Revisions that this release can read and migrate, the newest first."""
    config = Config()
    config.set_main_option("script_location", "app.database:migrations")
    return tuple(script.revision for script in ScriptDirectory.from_config(config).walk_revisions())


def held(connection: sa.Connection) -> str:
    """The revision that a migrated database holds."""
    return str(connection.scalar(sa.text("SELECT version_num FROM alembic_version")))
