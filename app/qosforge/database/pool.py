"""How many connections a process keeps to the database, and how many of them are in use."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa


@dataclass(frozen=True)
class PoolSize:
    """Connections that a process keeps open, and how many more it opens when all are in use."""

    kept: int
    more: int


EMBEDDED_POOL = PoolSize(5, 10)
SERVER_POOL = PoolSize(10, 20)


@dataclass(frozen=True)
class PoolUse:
    """Connections of a process: in use, open but idle, and how many it may have."""

    used: int
    idle: int
    most: int


def pool_use(engine: sa.Engine, size: PoolSize) -> PoolUse:
    """The use of an engine's pool, now."""
    pool = engine.pool
    assert isinstance(pool, sa.QueuePool)
    return PoolUse(pool.checkedout(), pool.checkedin(), size.kept + size.more)
