"""Alembic's entry: online inside the transaction it is handed, offline as SQL text for SQLite or PostgreSQL."""

from __future__ import annotations

from alembic import context

from qosforge.database.schema import METADATA

if context.is_offline_mode():
    dialect = context.config.attributes.get("dialect", "sqlite")
    context.configure(dialect_name=dialect, target_metadata=METADATA, literal_binds=True)
else:
    context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)

with context.begin_transaction():
    context.run_migrations()
