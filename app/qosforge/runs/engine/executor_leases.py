"""Slots: the lease by which a process carries out runs. Whose slot ran out is dead, and stays so.

Moments are those of the database, which every process shares. A holder counts by a clock of its own from before
it asked, so its fence always falls before the moment at which others may take its runs over: however long the
answer took, and whatever the machines' clocks say.
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
from qosforge.runs.engine.self_fencing import DeadMan
from qosforge.runs.record.store import EMBEDDED_EXECUTOR
from qosforge.runs.record.tables import EXECUTORS

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SlotTimes:
    """Seconds: how long a slot lasts, when its holder is fenced, and how often it is renewed."""

    lasts: float = 30
    fence: float = 22
    renewed: float = 3


_NOTICE = 0.9
"""After which part of the way to its fence a holder says that it may be killed: the kernel says nothing."""

TIMES = SlotTimes()
"""A dead process's runs go on after ``lasts`` at most; a database that is away for ``fence`` costs every worker."""
EMBEDDED_TIMES = SlotTimes(renewed=10)
"""On SQLite, where the slot only tells that somebody carries out runs."""


@dataclass(frozen=True, slots=True)
class Living:
    """A process that carries out runs, until ``expires`` by the database's clock."""

    id: str
    host: str
    pid: int
    workflow_version: str
    started: datetime
    expires: datetime


def new_executor(embedded: bool) -> str:
    """An id for this process as an executor: never used before, but on SQLite, where it is the one there is."""
    return EMBEDDED_EXECUTOR if embedded else f"{socket.gethostname()[:27]}-{uuid.uuid4()}"


def executors(database: Database) -> list[Living]:
    """The processes that live, the longest at work first."""

    def find(connection: sa.Connection) -> list[Living]:
        living = sa.select(EXECUTORS).where(EXECUTORS.c.expires > database.now(connection))
        return [Living(**row._mapping) for row in connection.execute(living.order_by(EXECUTORS.c.started))]

    return database.query(find)


def bury(database: Database) -> list[str]:
    """Delete the slots that ran out, for who did not release them; their ids."""

    def delete(connection: sa.Connection) -> list[str]:
        dead = sa.delete(EXECUTORS).where(EXECUTORS.c.expires <= database.now(connection))
        return [row.id for row in connection.execute(dead.returning(EXECUTORS.c.id))]

    return database.transact(delete)


class Slot:
    """The slot of this process, renewed by a thread of its own.

    On PostgreSQL its id was never used before, and a process that cannot renew it in time is killed by the kernel.
    On SQLite the one process that owns the engine has it, and nobody takes anything over from a living one.
    """

    def __init__(self, database: Database, executor: str, workflow_version: str, times: SlotTimes = TIMES) -> None:
        """The slot of ``executor``, an id from :func:`new_executor`."""
        self._database = database
        self.id = executor
        self._version = workflow_version
        self._times = times
        self._fenced = not database.is_embedded
        self._deadman: DeadMan | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._fence_at = 0.0

    def take(self) -> None:
        """Lease the slot and keep it until :meth:`release`.

        Raises:
            StoreError: the database is away.
            ServiceError: the fence cannot be set.
        """
        if self._fenced:
            self._deadman = DeadMan()
        self._leased(self._insert)
        self._stop.clear()
        self._thread = threading.Thread(target=self._keep, name="slot", daemon=True)
        self._thread.start()
        if self._fenced:
            threading.Thread(target=self._give_notice, name="fence", daemon=True).start()

    def release(self) -> None:
        """Give the slot back, if it was taken: what this process left unfinished is free at once."""
        if self._thread is None:
            return
        self._stop.set()
        self._thread.join()
        self._thread = None
        mine = sa.delete(EXECUTORS).where(EXECUTORS.c.id == self.id)
        self._database.transact(lambda connection: connection.execute(mine))
        if self._deadman is not None:
            self._deadman.close()

    def guard(self, connection: sa.Connection) -> None:
        """Hold on to the slot until the transaction ends, or end this process: it ran out, so others may be at it.

        The fence comes first, unless the database's clock was set forward.
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

    def _leased(self, work: Callable[[sa.Connection], None]) -> None:
        """Do ``work``, and set the fence as if it had been done when it began."""
        begun = time.monotonic()

        def attempt(connection: sa.Connection) -> None:
            nonlocal begun
            begun = time.monotonic()
            work(connection)

        self._database.transact(attempt)
        if self._deadman is not None:
            self._fence_at = begun + self._times.fence
            self._deadman.set(self._fence_at - time.monotonic())

    def _keep(self) -> None:
        while not self._stop.wait(self._times.renewed):
            try:
                self._leased(self._renew)
            except StoreError as error:
                _log.warning("the slot %s cannot be renewed: %s", self.id, error)

    def _give_notice(self) -> None:
        """Say that the fence is about to end this process, each time that it comes near."""
        ahead = self._times.fence * (1 - _NOTICE)
        told = 0.0
        while not self._stop.wait(max(self._fence_at - ahead - time.monotonic(), ahead / 10)):
            fence, now = self._fence_at, time.monotonic()
            if now >= fence - ahead and told != fence:
                told = fence
                _log.critical(
                    "the slot of this process cannot be renewed: its fence kills it, and others take its runs over",
                    extra={"executor": self.id, "killed_in_seconds": round(fence - now, 1)},
                )

    def _die(self) -> NoReturn:
        _log.critical("the slot %s of this process ran out: it ends, and others take its runs over", self.id)
        logging.shutdown()
        os._exit(os.EX_TEMPFAIL)
