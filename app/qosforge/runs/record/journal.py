"""The journal: what was done to which device, one row before and one after every touch, never changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from qosforge.database.connections import Database
from qosforge.runs.record.events import EventKind, Events
from qosforge.runs.record.tables import CHANGING, JOURNAL, OPENING, RUNS, SETTLING, JournalAction


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One row. ``before``, ``delta`` and ``inverse`` are artifact ids; ``seq`` grows over all runs."""

    seq: int
    run_id: str
    device: str
    action: JournalAction
    before: str | None
    delta: str | None
    inverse: str | None
    note: str
    at: datetime


@dataclass(frozen=True, slots=True)
class OpenTouch:
    """A device that may be between two states, with what is needed to finish: the artifacts last named."""

    run_id: str
    network: str
    device: str
    action: JournalAction
    """What was last written about it."""
    before: str | None
    delta: str | None
    inverse: str | None
    since: datetime
    """When it was opened."""


class Journal:
    """The append-only journal of every run; the database itself refuses changes to it.

    Every row is an event, too, for who watches the run.
    """

    def __init__(self, database: Database, now: Callable[[], datetime], events: Events) -> None:
        self._database = database
        self._now = now
        self._events = events
        self.guard: Callable[[sa.Connection], None] = lambda _connection: None
        """Called in every writing transaction: it may refuse a process that others have taken for dead."""

    def append(
        self,
        run_id: str,
        device: str,
        action: JournalAction,
        *,
        before: str | None = None,
        delta: str | None = None,
        inverse: str | None = None,
        note: str = "",
    ) -> JournalEntry:
        """Write one row; it is on the disk when this returns.

        ``device`` is the device's name in the run's network. The artifacts need naming once per touch.

        Raises:
            sqlalchemy.exc.IntegrityError: there is no such run.
            StoreError: the row cannot be written: do not touch the device.
        """
        row = {
            "run_id": run_id,
            "device": device,
            "action": action.value,
            "before": before,
            "delta": delta,
            "inverse": inverse,
            "note": note,
            "at": self._now(),
        }
        # Repeated after an outage it may stand there twice, which says nothing else than once.
        statement = sa.insert(JOURNAL).values(row).returning(*JOURNAL.c)

        def write(connection: sa.Connection) -> JournalEntry:
            self.guard(connection)
            told = {"device": device, "action": action.value, "note": note}
            self._events.write(connection, run_id, EventKind.DEVICE, told)
            return _entry(connection.execute(statement).one())

        return self._database.transact(write)

    def entries(self, run_id: str, device: str | None = None) -> list[JournalEntry]:
        """The rows of one run (of one of its devices), oldest first."""
        query = sa.select(JOURNAL).where(JOURNAL.c.run_id == run_id).order_by(JOURNAL.c.seq)
        if device is not None:
            query = query.where(JOURNAL.c.device == device)
        return self._database.query(lambda connection: [_entry(row) for row in connection.execute(query)])

    def touched(self, run_id: str) -> set[str]:
        """Devices that a run began to change."""
        return {entry.device for entry in self.entries(run_id) if entry.action in OPENING}

    def changed(self, run_id: str, since: datetime) -> set[str]:
        """Devices into which a run entered something since a moment."""
        return {e.device for e in self.entries(run_id) if e.action in CHANGING and e.at >= since}

    def saved(self, run_id: str) -> set[str]:
        """Devices on which a run saved its change, and has not undone it since."""
        saved: set[str] = set()
        for entry in self.entries(run_id):
            if entry.action is JournalAction.CONFIRMED:
                saved.add(entry.device)
            elif entry.action is JournalAction.UNDONE:
                saved.discard(entry.device)
        return saved

    def open_touches(self, run_id: str | None = None) -> list[OpenTouch]:
        """Devices that were touched and neither confirmed nor undone since, by run and name."""
        query = unsettled()
        if run_id is not None:
            query = query.where(JOURNAL.c.run_id == run_id)

        def find(connection: sa.Connection) -> list[OpenTouch]:
            touches = []
            for row in connection.execute(query.order_by(JOURNAL.c.run_id, JOURNAL.c.device)):
                since = (
                    sa.select(JOURNAL)
                    .where(JOURNAL.c.run_id == row.run_id, JOURNAL.c.device == row.device)
                    .where(JOURNAL.c.seq > row.settled)
                    .order_by(JOURNAL.c.seq)
                )
                entries = [_entry(entry) for entry in connection.execute(since)]
                touches.append(_open_touch(row.network, entries))
            return touches

        return self._database.query(find)

    def open_devices(self, run_ids: Collection[str]) -> dict[str, tuple[str, ...]]:
        """By run, the names of the devices that it touched and neither confirmed nor undid since, in order."""
        query = unsettled().where(JOURNAL.c.run_id.in_(sorted(run_ids))).order_by(JOURNAL.c.device)
        found: dict[str, list[str]] = {}
        for row in self._database.query(lambda connection: list(connection.execute(query))) if run_ids else ():
            found.setdefault(row.run_id, []).append(row.device)
        return {run_id: tuple(devices) for run_id, devices in found.items()}


def unsettled() -> sa.Select[tuple[str, str, str, int]]:
    """Query for (run_id, network, device, seq of the last settling row or 0) of every unsettled device."""
    opened = sa.func.max(sa.case((JOURNAL.c.action.in_([a.value for a in OPENING]), JOURNAL.c.seq), else_=0))
    settled = sa.func.max(sa.case((JOURNAL.c.action.in_([a.value for a in SETTLING]), JOURNAL.c.seq), else_=0))
    return (
        sa.select(JOURNAL.c.run_id, RUNS.c.network, JOURNAL.c.device, settled.label("settled"))
        .join(RUNS, RUNS.c.id == JOURNAL.c.run_id)
        .group_by(JOURNAL.c.run_id, RUNS.c.network, JOURNAL.c.device)
        .having(opened > settled)
    )


def _open_touch(network: str, entries: Sequence[JournalEntry]) -> OpenTouch:
    last = entries[-1]
    return OpenTouch(
        run_id=last.run_id,
        network=network,
        device=last.device,
        action=last.action,
        before=_last_named(entry.before for entry in entries),
        delta=_last_named(entry.delta for entry in entries),
        inverse=_last_named(entry.inverse for entry in entries),
        since=next(entry.at for entry in entries if entry.action in OPENING),
    )


def _last_named(artifacts: Iterable[str | None]) -> str | None:
    return next((artifact for artifact in reversed(list(artifacts)) if artifact is not None), None)


def _entry(row: sa.Row[Any]) -> JournalEntry:
    fields = dict(row._mapping)
    return JournalEntry(**{**fields, "action": JournalAction(fields["action"])})
