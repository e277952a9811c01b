"""The maintenance lock: a retention must not drop artifacts while a backup is being made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from qosforge.database.connections import Database
from qosforge.database.filelock import hold_lock

_SECONDS = 600


@contextmanager
def maintenance_lock(database: Database) -> Iterator[None]:
    """Exclude other backups and retentions of a SQLite installation while the block lasts.

    PostgreSQL needs none: its dump is one snapshot, artifacts and all.

    Raises:
        StoreError: another one took longer than ten minutes.
    """
    if database.path is None:
        yield
        return
    with hold_lock(database.path.with_name("operations.lock"), _SECONDS):
        yield
