"""Executor leases: each process that carries out runs renews one. When it runs out, the process is dead for good.

Expiry is judged by the database's clock, which all processes share. The holder counts by its own clock from before
it asked, so it is fenced before others may take its runs over, however slow the answer was and whatever the
machines' clocks say.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NoReturn

import sqlalchemy as sa

from qosforge.database.connections import Database
from qosforge.errors import StoreError
from qosforge.runs.engine.self_fencing import SelfFence
from qosforge.runs.record.store import EMBEDDED_EXECUTOR
from qosforge.runs.record.tables import EXECUTORS

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class LeaseTimes:
    """Seconds that a lease lasts, after which its holder is fenced, and between renewals."""

    lasts: float = 30
    fence: float = 22
    renewed: float = 3


_NOTICE = 0.9
"""The part of the time to its fence after which a process logs that it may be killed: the kernel logs nothing."""

LEASE_TIMES = LeaseTimes()
"""A dead process's runs go on after ``lasts`` at most; a database that is away for ``fence`` costs every worker."""
EMBEDDED_LEASE_TIMES = LeaseTimes(renewed=10)
"""On SQLite, where the lease only says that a process carries out runs."""


@dataclass(frozen=True, slots=True)
class LiveExecutor:
    """A process that carries out runs, and when its lease ``expires`` by the database's clock."""

    id: str
    host: str
    pid: int
    workflow_version: str
    started: datetime
    expires: datetime


def new_executor_id(embedded: bool) -> str:
    """An id for this process as an executor: never used before, but on SQLite, where it is the one there is."""
    return EMBEDDED_EXECUTOR if embedded else f"{socket.gethostname()[:27]}-{uuid.uuid4()}"


def live_executors(database: Database) -> list[LiveExecutor]:
    """The processes whose lease has not run out, oldest first."""

    def find(connection: sa.Connection) -> list[LiveExecutor]:
        living = sa.select(EXECUTORS).where(EXECUTORS.c.expires > database.now(connection))
        return [LiveExecutor(**row._mapping) for row in connection.execute(living.order_by(EXECUTORS.c.started))]

    return database.query(find)


def prune_executors(database: Database) -> list[str]:
    """Delete the leases that ran out, and return their executor ids."""

    def delete(connection: sa.Connection) -> list[str]:
        dead = sa.delete(EXECUTORS).where(EXECUTORS.c.expires <= database.now(connection))
        return [row.id for row in connection.execute(dead.returning(EXECUTORS.c.id))]

    return database.transact(delete)


class ExecutorLease:
    """The executor lease of this process, renewed in a background thread.

    On PostgreSQL every process has a new executor id, and the kernel kills a process that cannot renew in time.
    On SQLite the one process that owns the engine holds the only lease.
    """

    def __init__(
        self, database: Database, executor: str, workflow_version: str, times: LeaseTimes = LEASE_TIMES
    ) -> None:
        """``executor`` is an id from :func:`new_executor_id`."""
        self._database = database
        self.id = executor
        self._version = workflow_version
        self._times = times
        self._fenced = not database.is_embedded
        self._fence: SelfFence | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._fence_at = 0.0

    def acquire(self) -> None:
        """Acquire the lease and renew it until :meth:`release`.

        Raises:
            StoreError: the database is away.
            ServiceError: the fence cannot be set.
        """
        if self._fenced:
            self._fence = SelfFence()
        self._with_fence(self._insert)
        self._stop.clear()
        self._thread = threading.Thread(target=self._keep, name="lease", daemon=True)
        self._thread.start()
        if self._fenced:
            threading.Thread(target=self._give_notice, name="fence", daemon=True).start()

    def release(self) -> None:
        """Give the lease back, if it was acquired: unfinished workflows of this process are free at once."""
        if self._thread is None:
            return
        self._stop.set()
        self._thread.join()
        self._thread = None
        mine = sa.delete(EXECUTORS).where(EXECUTORS.c.id == self.id)
        self._database.transact(lambda connection: connection.execute(mine))
        if self._fence is not None:
            self._fence.close()

    def guard(self, connection: sa.Connection) -> None:
        """Lock the lease until the transaction ends. If it ran out, end this process: others may have taken over.

        Normally self-fencing comes first; this is for a database whose clock was set forward.
        """
        if not self._fenced:
            return
        mine = sa.select(EXECUTORS.c.id).where(self._alive(connection))
        if connection.scalar(mine.with_for_update(read=True, key_share=True)) is None:
            self._die()

    def _insert(self, connection: sa.Connection) -> None:
        now = self._database.now(connection)
        row = {
            "id": self.id,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "workflow_version": self._version,
            "started": now,
            "expires": now + timedelta(seconds=self._times.lasts),
        }
        connection.execute(sa.delete(EXECUTORS).where(EXECUTORS.c.id == self.id))
        connection.execute(sa.insert(EXECUTORS).values(row))

    def _renew(self, connection: sa.Connection) -> None:
        expires = self._database.now(connection) + timedelta(seconds=self._times.lasts)
        renewed = sa.update(EXECUTORS).where(self._alive(connection)).values(expires=expires)
        if connection.execute(renewed).rowcount == 0:
            if self._fenced:
                self._die()
            self._insert(connection)  # this machine slept, and nobody else owns the engine

    def _alive(self, connection: sa.Connection) -> sa.ColumnElement[bool]:
        return (EXECUTORS.c.id == self.id) & (EXECUTORS.c.expires > self._database.now(connection))

    def _with_fence(self, work: Callable[[sa.Connection], None]) -> None:
        """Do ``work``, and set the fence counted from the moment before it began."""
        begun = time.monotonic()

        def attempt(connection: sa.Connection) -> None:
            nonlocal begun
            begun = time.monotonic()
            work(connection)

        self._database.transact(attempt)
        if self._fence is not None:
            self._fence_at = begun + self._times.fence
            self._fence.set(self._fence_at - time.monotonic())

    def _keep(self) -> None:
        while not self._stop.wait(self._times.renewed):
            try:
                self._with_fence(self._renew)
            except StoreError as error:
                _log.warning("the lease %s cannot be renewed: %s", self.id, error)

    def _give_notice(self) -> None:
        """Log a warning whenever the fence is about to kill this process."""
        ahead = self._times.fence * (1 - _NOTICE)
        told = 0.0
        while not self._stop.wait(max(self._fence_at - ahead - time.monotonic(), ahead / 10)):
            fence, now = self._fence_at, time.monotonic()
            if now >= fence - ahead and told != fence:
                told = fence
                _log.critical(
                    "its lease cannot be renewed: the fence kills this process, and others take its runs over",
                    extra={"executor": self.id, "killed_in_seconds": round(fence - now, 1)},
                )

    def _die(self) -> NoReturn:
        _log.critical("the lease %s of this process ran out: it ends, and others take its runs over", self.id)
        logging.shutdown()
        os._exit(os.EX_TEMPFAIL)
