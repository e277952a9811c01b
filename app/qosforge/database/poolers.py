"""Whether a pooler stands before a PostgreSQL server and gives one client's transactions to several sessions."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.pool import NullPool

_LOOKS = 3
_BACKEND = sa.select(sa.func.pg_backend_pid())


def keeps_sessions(url: sa.URL) -> bool:
    """Whether a client has the same session of the server from one transaction to the next.

    One client asks which session it has, a second one holds a transaction open, and the first asks again: without
    sessions the second gets the first one's, or the first another one. Where sessions are kept neither can be.

    Raises:
        sqlalchemy.exc.DBAPIError: the server cannot be reached, or refuses transactions.
    """
    # Nothing may be prepared here: such a statement is lost with its session.
    engine = sa.create_engine(url, poolclass=NullPool, connect_args={"prepare_threshold": None})
    try:
        with engine.connect() as first, engine.connect() as second:
            for _ in range(_LOOKS):
                mine = _session(first)
                with second.begin():
                    other = second.scalar(_BACKEND)
                    if other == mine or _session(first) != mine:
                        return False
        return True
    finally:
        engine.dispose()


def _session(connection: sa.Connection) -> int | None:
    with connection.begin():
        return connection.scalar(_BACKEND)
