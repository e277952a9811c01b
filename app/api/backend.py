"""The parts of the service that routes work with. None of them touches the run engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from app.access.access import Access
from app.database.connections import Database
from app.settings import Settings


@dataclass(frozen=True)
class Backend:
    """One process's own; every part is safe to share between threads."""

    settings: Settings
    database: Database
    access: Access


@contextmanager
def open_backend(settings: Settings) -> Iterator[Backend]:
    """The parts that the settings describe, while the block lasts.

    Raises:
        InputError: the settings name something that cannot be.
        StoreError: the store cannot be opened, or a newer release wrote it.
    """
    settings.make_var_dir()
    database = Database(settings.database_url)
    try:
        yield Backend(settings=settings, database=database, access=Access(database, settings))
    finally:
        database.close()
