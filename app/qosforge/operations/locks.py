"""One tending of an installation at a time: a backup must not lose artifacts to a retention half-way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from qosforge.database.connections import Database
from qosforge.database.filelock import held

_SECONDS = 600


@contextmanager
def operating(database: Database) -> Iterator[None]:
    """Hold off other backups and retentions of a SQLite installation while the block lasts.

    PostgreSQL needs none: its dump is one snapshot, artifacts and all.

    Raises:
        StoreError: another one took longer than ten minutes.
    """
    if database.path is None:
        yield
        return
    with held(database.path.with_name("operations.lock"), _SECONDS):
        yield
