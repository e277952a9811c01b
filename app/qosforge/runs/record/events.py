"""Events: what happened to a run, in order, for whoever watches it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from qosforge.database.connections import Database
from qosforge.runs.record.tables import EVENTS, RUNS


class EventKind(StrEnum):
    """What an event tells; its ``data`` is named at each."""

    STATUS = "status"
    """``status``, ``verdict``, ``attempt``, ``waits_for``, ``reason`` (also ``reason_step``, ``reason_device`` and
    ``reason_hint``), and ``by`` where a person caused it.
    """
    STAGE = "stage"
    """``stage``, ``attempt`` at it, and ``outcome``: null when it begins."""
    PROGRESS = "progress"
    """``stage`` and ``text``: what the stage is doing."""
    DEVICE = "device"
    """``device`` and ``action``: ``read`` and ``counted``, or what the journal wrote of it, with its ``note``."""
    DECISION = "decision"
    """``approved``, ``by``, ``candidate``, ``comment``."""
    CANCEL = "cancel"
    """``by``: who asked a running run to stop."""
    PAUSE = "pause"
    """``by``, and ``paused``: whether the rollout is held before its next wave, or goes on."""
    TRY = "try"
    """``by``: who asked that the devices of a half-way run be tried now."""
    MEASUREMENT = "measurement"
    """``side``, ``tester``: an external measurement came."""
    FIGURES = "figures"
    """``scenario``, ``scenarios``, ``measured`` and ``artifact``: figures were drawn, which are kept as that
    artifact. ``measured`` tells of which measurements they are.
    """


@dataclass(frozen=True, slots=True)
class Event:
    """One event; ``seq`` grows over all runs, and in the order in which events of a run become visible."""

    seq: int
    run_id: str
    kind: EventKind
    data: dict[str, Any]
    at: datetime


class Events:
    """The events of every run."""

    def __init__(self, database: Database, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    def progress(self, run_id: str, stage: str, text: str) -> None:
        """Say what a stage is doing."""
        data = {"stage": stage, "text": text}
        self._database.transact(lambda connection: self.write(connection, run_id, EventKind.PROGRESS, data))

    def figures(self, run_id: str, drawn: Mapping[str, Any]) -> None:
        """Say that figures were drawn, and where they are kept."""
        self._database.transact(lambda connection: self.write(connection, run_id, EventKind.FIGURES, drawn))

    def device(self, run_id: str, device: str, action: str) -> None:
        """Say that a device was looked at; what touches it tells of itself by the journal."""
        data = {"device": device, "action": action}
        self._database.transact(lambda connection: self.write(connection, run_id, EventKind.DEVICE, data))

    def of_devices(self, run_id: str, since: datetime) -> list[Event]:
        """Events of single devices from a moment on, oldest first."""
        query = (
            sa.select(EVENTS)
            .where(EVENTS.c.run_id == run_id, EVENTS.c.kind == EventKind.DEVICE.value, EVENTS.c.at >= since)
            .order_by(EVENTS.c.seq)
        )
        with self._database.read() as connection:
            return [_event(row) for row in connection.execute(query)]

    def of_status(self, run_id: str) -> list[Event]:
        """Every event of where a run stood, oldest first."""
        query = (
            sa.select(EVENTS)
            .where(EVENTS.c.run_id == run_id, EVENTS.c.kind == EventKind.STATUS.value)
            .order_by(EVENTS.c.seq)
        )
        with self._database.read() as connection:
            return [_event(row) for row in connection.execute(query)]

    def last(self, run_id: str) -> int:
        """The number of the newest event of a run; 0 where there is none."""
        query = sa.select(sa.func.max(EVENTS.c.seq)).where(EVENTS.c.run_id == run_id)
        with self._database.read() as connection:
            return connection.scalar(query) or 0

    def count(self, run_id: str) -> int:
        """How many events a run has."""
        query = sa.select(sa.func.count()).select_from(EVENTS).where(EVENTS.c.run_id == run_id)
        with self._database.read() as connection:
            return connection.scalar(query) or 0

    def write(self, connection: sa.Connection, run_id: str, kind: EventKind, data: Mapping[str, Any]) -> None:
        """Write one event in a transaction.

        The run's row is locked first. Otherwise a number drawn earlier could become visible later than a higher
        one, and who had asked for "all after the higher one" would never see it.
        """
        locked = sa.select(RUNS.c.id).where(RUNS.c.id == run_id).with_for_update(key_share=True)
        connection.execute(locked)
        row = {"run_id": run_id, "kind": kind.value, "data": dict(data), "at": self._now()}
        connection.execute(sa.insert(EVENTS).values(row))

    def after(self, run_id: str, seq: int = 0, limit: int = 500) -> list[Event]:
        """Events of a run with a number above ``seq``, oldest first."""
        query = (
            sa.select(EVENTS)
            .where(EVENTS.c.run_id == run_id, EVENTS.c.seq > seq)
            .order_by(EVENTS.c.seq)
            .limit(limit)
        )
        with self._database.read() as connection:
            return [_event(row) for row in connection.execute(query)]

    def newest(self, run_id: str, limit: int, kind: EventKind | None = None) -> list[Event]:
        """The newest events of a run, newest first; of one kind where that is given."""
        query = sa.select(EVENTS).where(EVENTS.c.run_id == run_id).order_by(EVENTS.c.seq.desc()).limit(limit)
        if kind is not None:
            query = query.where(EVENTS.c.kind == kind.value)
        with self._database.read() as connection:
            return [_event(row) for row in connection.execute(query)]


def _event(row: sa.Row[Any]) -> Event:
    fields = dict(row._mapping)
    return Event(**{**fields, "kind": EventKind(fields["kind"])})
