"""A PostgreSQL server for benchmarks, where one is installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.postgres import PostgresServer, new_server


@contextmanager
def postgres() -> Iterator[PostgresServer]:
    """A running server.

    Raises:
        LookupError: there is none to be had here.
    """
    server = new_server()
    try:
        server.start()
        yield server
    finally:
        server.remove()
