"""Inserts that may meet a row of the same key, which each database has in a dialect of its own."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite


def insert_into(connection: sa.Connection, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
    """An insert that takes ``on_conflict_do_update`` and ``on_conflict_do_nothing``."""
    return sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)
