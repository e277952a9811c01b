"""Alembic's entry: online inside the transaction it is handed, offline as SQL text for SQLite."""

from __future__ import annotations

from alembic import context

from app.runs.tables import METADATA

if context.is_offline_mode():
    context.configure(dialect_name="sqlite", target_metadata=METADATA, literal_binds=True)
else:
    context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)

with context.begin_transaction():
    context.run_migrations()
