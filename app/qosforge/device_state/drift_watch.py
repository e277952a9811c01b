"""The schedule of drift checks: the interval of each network, the claim of a running check, and its last result."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from qosforge.database.connections import Database
from qosforge.database.upsert import insert_into
from qosforge.device_state.tables import DRIFT_WATCHES
from qosforge.errors import InputError, Place
from qosforge.page_addresses import network_page
from qosforge.webhooks.messages import EventType, Notice
from qosforge.webhooks.outbox import write_notice

LEAST_MINUTES, MOST_MINUTES = 5, 7 * 24 * 60
LEASE = timedelta(minutes=15)
"""Longer than a look may take."""
AGAIN = timedelta(minutes=1)
"""When a network is looked at again that runs were at."""


class DriftState(StrEnum):
    """What is known of a network by the last look."""

    UNKNOWN = "unknown"
    """It was not looked at yet, or no device of it could be compared."""
    IN_STEP = "in_step"
    """Every device that could be compared is as the last run left it."""
    DRIFTED = "drifted"
    """Some device is not."""


@dataclass(frozen=True)
class DeviceDrift:
    """In how many places a device drifted; the ``digest`` tells one drift from another, and nothing of either."""

    count: int
    digest: str


@dataclass(frozen=True)
class DriftResult:
    """What a look found, by device: where it drifted, why it could not be read; and what no run has settled yet.

    ``compared`` is how many devices could be.
    """

    at: datetime
    compared: int = 0
    drifted: Mapping[str, DeviceDrift] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    uncompared: Sequence[str] = ()


@dataclass(frozen=True)
class DriftWatch:
    """How often a network is looked at (``minutes``, ``None``: never), when next, and what was found last.

    ``read_so_far`` is how many devices the look that is under way has read; ``None`` where none is.
    """

    network: str
    minutes: int | None = None
    due: datetime | None = None
    looked: datetime | None = None
    drifted: Mapping[str, DeviceDrift] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    uncompared: tuple[str, ...] = ()
    compared: int = 0
    claimed_until: datetime | None = None
    read_so_far: int | None = None

    def is_under_way(self, now: datetime) -> bool:
        """Whether its devices are being read, or wait for a process that reads them."""
        claimed = self.claimed_until is not None and self.claimed_until > now
        return claimed or (self.due is not None and self.due <= now)

    def read_now(self, now: datetime) -> int | None:
        """How many devices were read by the process that reads them; ``None`` where none does."""
        return self.read_so_far if self.claimed_until is not None and self.claimed_until > now else None

    @property
    def state(self) -> DriftState:
        """At a glance."""
        if self.drifted:
            return DriftState.DRIFTED
        return DriftState.IN_STEP if self.looked is not None and self.compared else DriftState.UNKNOWN


_KNOWN = [
    DRIFT_WATCHES.c[name]
    for name in (
        "network",
        "minutes",
        "due",
        "looked",
        "drifted",
        "unread",
        "uncompared",
        "compared",
        "claimed_until",
        "read_so_far",
    )
]


def drift_watches(database: Database) -> list[DriftWatch]:
    """Of every network that is or was looked at, by name."""
    query = sa.select(*_KNOWN).order_by(DRIFT_WATCHES.c.network)
    return database.query(lambda connection: [_watch(row) for row in connection.execute(query)])


def drift_watch(database: Database, network: str) -> DriftWatch:
    """Of one network."""
    query = sa.select(*_KNOWN).where(DRIFT_WATCHES.c.network == network)
    row = database.query(lambda connection: connection.execute(query).one_or_none())
    return DriftWatch(network) if row is None else _watch(row)


def set_drift_interval(connection: sa.Connection, network: str, minutes: int | None, now: datetime) -> None:
    """Check a network every so many minutes, at once for the first time; ``None``: no more.

    Raises:
        InputError: that is too often, or too seldom.
    """
    if minutes is not None and not LEAST_MINUTES <= minutes <= MOST_MINUTES:
        hint = f"give {LEAST_MINUTES} to {MOST_MINUTES} minutes, or none"
        raise InputError("a network cannot be looked at so often, or so seldom", Place(path="minutes"), hint)
    _set(connection, network, {"minutes": minutes, "due": None if minutes is None else now})


def request_check(connection: sa.Connection, network: str, now: datetime) -> None:
    """Check a network once, as soon as a process can; whether it is checked on a schedule stays as it is."""
    _set(connection, network, {"due": now})


def _set(connection: sa.Connection, network: str, chosen: Mapping[str, Any]) -> None:
    empty: dict[str, Any] = {"drifted": {}, "unread": {}, "uncompared": []}
    row = insert_into(connection, DRIFT_WATCHES).values({"network": network, **chosen, **empty})
    connection.execute(row.on_conflict_do_update(index_elements=[DRIFT_WATCHES.c.network], set_=dict(chosen)))


def any_check_due(database: Database) -> bool:
    """Whether a network is to be looked at, and nobody is at it."""
    return bool(database.query(lambda connection: connection.scalar(sa.select(_due(connection, database)))))


def _due(connection: sa.Connection, database: Database) -> sa.Exists:
    return sa.exists().where(_free(database.now(connection)))


def _free(now: datetime) -> sa.ColumnElement[bool]:
    claimed = DRIFT_WATCHES.c.claimed_until
    return (DRIFT_WATCHES.c.due <= now) & (claimed.is_(None) | (claimed <= now))


def claim_check(database: Database) -> tuple[str, str] | None:
    """Claim the network that is longest due: its name, and the claim; ``None`` where none is.

    Nobody else looks at it until the claim is settled or runs out.
    """
    token = str(uuid.uuid4())

    def claim(connection: sa.Connection) -> tuple[str, str] | None:
        now = database.now(connection)
        mine = sa.select(DRIFT_WATCHES.c.network).where(DRIFT_WATCHES.c.claim == token)
        first = sa.select(DRIFT_WATCHES.c.network).where(_free(now)).order_by(DRIFT_WATCHES.c.due).limit(1)
        network = connection.scalar(mine) or connection.scalar(first.with_for_update(skip_locked=True))
        if network is None:
            return None
        values = {"claim": token, "claimed_until": now + LEASE, "read_so_far": 0}
        connection.execute(sa.update(DRIFT_WATCHES).where(DRIFT_WATCHES.c.network == network).values(values))
        return str(network), token

    return database.transact(claim)


def note_read(database: Database, claim: str, devices: int) -> None:
    """Say how many devices were read so far; nothing is written where the claim ran out."""
    own = sa.update(DRIFT_WATCHES).where(DRIFT_WATCHES.c.claim == claim)
    database.transact(lambda connection: connection.execute(own.values(read_so_far=devices)))


def postpone_check(database: Database, claim: str, pause: timedelta) -> None:
    """Give a claim back without a look; the network is due after a pause."""

    def write(connection: sa.Connection) -> None:
        due = database.now(connection) + pause
        values = {"due": due, "claim": None, "claimed_until": None, "read_so_far": None}
        own = (DRIFT_WATCHES.c.claim == claim) & DRIFT_WATCHES.c.due.is_not(None)  # else nobody wants it any more
        connection.execute(sa.update(DRIFT_WATCHES).where(own).values(values))

    database.transact(write)


def record_check(database: Database, claim: str, look: DriftResult) -> EventType | None:
    """Write what a look found, and tell webhooks of drift that appeared, changed or went; what was told.

    A device that could not be read is taken to be as it was. Nothing is written where the claim ran out.
    """

    def write(connection: sa.Connection) -> EventType | None:
        locked = sa.select(DRIFT_WATCHES).where(DRIFT_WATCHES.c.claim == claim).with_for_update()
        row = connection.execute(locked).one_or_none()
        if row is None:
            return None
        before = _drifted(row.drifted)
        now = dict(look.drifted) | {name: kept for name, kept in before.items() if name in look.unread}
        due = None if row.minutes is None else max(look.at, row.due or look.at) + timedelta(minutes=row.minutes)
        values = {
            "due": due,
            "claim": None,
            "claimed_until": None,
            "read_so_far": None,
            "looked": look.at,
            "drifted": {name: {"count": one.count, "digest": one.digest} for name, one in sorted(now.items())},
            "unread": dict(sorted(look.unread.items())),
            "uncompared": sorted(look.uncompared),
            "compared": look.compared,
        }
        connection.execute(sa.update(DRIFT_WATCHES).where(DRIFT_WATCHES.c.claim == claim).values(values))
        told = _news(before, now)
        if told is not None:
            data = {
                "network": row.network,
                "devices": {name: one.count for name, one in sorted(now.items())},
                "unread": sorted(look.unread),
                "page": network_page(row.network),
            }
            write_notice(connection, Notice(told, row.network, data, look.at))
            database.announce(connection)
        return told

    return database.transact(write)


def _news(before: Mapping[str, DeviceDrift], now: Mapping[str, DeviceDrift]) -> EventType | None:
    if before == now:
        return None
    if not before:
        return EventType.DRIFT_FOUND
    return EventType.DRIFT_CHANGED if now else EventType.DRIFT_GONE


def _drifted(stored: Mapping[str, Mapping[str, Any]]) -> dict[str, DeviceDrift]:
    return {name: DeviceDrift(one["count"], one["digest"]) for name, one in stored.items()}


def _watch(row: sa.Row[Any]) -> DriftWatch:
    return DriftWatch(
        network=row.network,
        minutes=row.minutes,
        due=row.due,
        looked=row.looked,
        drifted=_drifted(row.drifted),
        unread=row.unread,
        uncompared=tuple(row.uncompared),
        compared=row.compared,
        claimed_until=row.claimed_until,
        read_so_far=row.read_so_far,
    )
