"""Device leases: the only lock on devices. A run leases all the devices it needs, or none."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from qosforge.database.connections import Database
from qosforge.errors import Place, StoreError
from qosforge.runs.record.journal import unsettled
from qosforge.runs.record.reason import settle_first
from qosforge.runs.record.tables import JOURNAL, LEASES, RUNS, RunStatus

LEASE_SECONDS = 1800
"""How long a run leases its devices; a step that may take longer leases them for longer."""
_OVER = sorted(status for status in RunStatus if status.final)


@dataclass(eq=False)
class DeviceLocked(StoreError):
    """Another run holds a device, or left it between two states: that one is to be settled first."""

    settle_first: str = ""

    def document(self) -> dict[str, Any]:
        more = {"settle_first": self.settle_first} if self.settle_first else {}
        return {**super().document(), **more}


@dataclass(eq=False)
class LeaseLost(StoreError):
    """A lease ran out and another run took the device."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A device in the hands of a run, until ``expires`` unless renewed."""

    network: str
    device: str
    run_id: str
    executor: str
    pid: int
    expires: datetime


class Leases:
    """Leases of every run. Taking, renewing and releasing are one transaction each."""

    def __init__(self, database: Database, now: Callable[[], datetime], executor: str) -> None:
        self._database = database
        self._now = now
        self._executor = executor

    def acquire(self, run_id: str, devices: Sequence[str], seconds: float) -> list[Lease]:
        """Take ``devices`` (names in the run's network) for ``seconds``, all of them or none.

        A run that already holds some of them gets them again: a recovered run takes over from itself.
        A lease that ran out, or whose run is over, is free, unless its run left the device touched and unsettled.

        Raises:
            DeviceLocked: another run has one of them.
            StoreError: there is no such run.
        """

        def take(connection: sa.Connection) -> list[Lease]:
            network = self._network(connection, run_id)
            now = self._now()
            self._refuse_held(connection, run_id, network, devices, now)
            leases = [
                Lease(network, device, run_id, self._executor, os.getpid(), now + timedelta(seconds=seconds))
                for device in sorted(set(devices))
            ]
            connection.execute(sa.delete(LEASES).where(_of(network, devices)))
            if leases:
                connection.execute(sa.insert(LEASES), [_row(lease) for lease in leases])
            return leases

        return self._database.transact(take)

    def renew(self, run_id: str, devices: Sequence[str], seconds: float) -> list[Lease]:
        """Hold ``devices`` for ``seconds`` from now; one that ran out but went to nobody is held again.

        Raises:
            LeaseLost: the run does not hold all of them any more; none was renewed.
        """
        mine = (LEASES.c.run_id == run_id) & LEASES.c.device.in_(devices)

        def extend(connection: sa.Connection) -> list[Lease]:
            self._network(connection, run_id)
            connection.execute(
                sa.update(LEASES)
                .where(mine)
                .values(expires=self._now() + timedelta(seconds=seconds), pid=os.getpid(), executor=self._executor)
            )
            leases = _leases(connection, mine)
            lost = sorted(set(devices) - {lease.device for lease in leases})
            if lost:
                raise LeaseLost(
                    f"run {run_id} does not hold {', '.join(lost)} any more",
                    Place(device=lost[0]),
                    "touch nothing more there; finish the run with `qosforge recover`",
                )
            return leases

        return self._database.transact(extend)

    def release(self, run_id: str) -> None:
        """Give back every device of the run; nothing happens when it holds none."""
        mine = sa.delete(LEASES).where(LEASES.c.run_id == run_id)
        self._database.transact(lambda connection: connection.execute(mine))

    def holders(self) -> set[str]:
        """Runs that have not released every device, whether their leases ran out or not."""
        query = sa.select(LEASES.c.run_id).distinct()
        return self._database.query(lambda connection: set(connection.scalars(query)))

    def active(self, network: str | None = None) -> list[Lease]:
        """Leases that have not run out (of one network), by network and device."""
        wanted = LEASES.c.expires > self._now()
        if network is not None:
            wanted &= LEASES.c.network == network
        return self._database.query(lambda connection: _leases(connection, wanted))

    def _network(self, connection: sa.Connection, run_id: str) -> str:
        """The run's network, whose leases no other transaction changes until this one ends."""
        network: str | None = connection.scalar(sa.select(RUNS.c.network).where(RUNS.c.id == run_id))
        if network is None:
            raise StoreError(f"there is no run {run_id}", hint="record the run before it takes devices")
        self._database.serialize(connection, f"leases of {network}")
        return network

    @staticmethod
    def _refuse_held(
        connection: sa.Connection, run_id: str, network: str, devices: Sequence[str], now: datetime
    ) -> None:
        # A run that was ended from outside gave nothing back; whether it left a device touched is looked at below.
        over = sa.exists().where(LEASES.c.run_id == RUNS.c.id, RUNS.c.status.in_(_OVER))
        held = _of(network, devices) & (LEASES.c.run_id != run_id) & (LEASES.c.expires > now)
        others = _leases(connection, held & ~over)
        if others:
            names = ", ".join(lease.device for lease in others)
            first = others[0]
            raise DeviceLocked(
                f"run {first.run_id} (process {first.pid}) holds {names}",
                Place(device=first.device),
                "wait for that run to end; if its process is gone, finish it with `qosforge recover`",
            )
        left = connection.execute(
            unsettled().where(RUNS.c.network == network, JOURNAL.c.run_id != run_id, JOURNAL.c.device.in_(devices))
        ).first()
        if left is not None:
            raise DeviceLocked(
                f"run {left.run_id} left {left.device} between two states",
                Place(device=left.device),
                settle_first(left.run_id).text,
                left.run_id,
            )


def _of(network: str, devices: Sequence[str]) -> sa.ColumnElement[bool]:
    return (LEASES.c.network == network) & LEASES.c.device.in_(devices)


def _leases(connection: sa.Connection, wanted: sa.ColumnElement[bool]) -> list[Lease]:
    query = sa.select(LEASES).where(wanted).order_by(LEASES.c.network, LEASES.c.device)
    return [Lease(**row._mapping) for row in connection.execute(query)]


def _row(lease: Lease) -> dict[str, object]:
    return {
        "network": lease.network,
        "device": lease.device,
        "run_id": lease.run_id,
        "executor": lease.executor,
        "pid": lease.pid,
        "expires": lease.expires,
    }
