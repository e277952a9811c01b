"""Alembic migrations of the run store, run when it is opened."""
