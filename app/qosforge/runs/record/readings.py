"""Readings of running configurations: which device gave which one when. The newest of each device is kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from qosforge.artifacts.store import Artifacts
from qosforge.database.connections import Database
from qosforge.database.upsert import insert_into
from qosforge.runs.record.summaries import ReadSummary, StageSummary
from qosforge.runs.record.tables import JOURNAL, READINGS, RUNS, RunStatus


def record_stage_readings(connection: sa.Connection, run_id: str, summary: StageSummary, at: datetime) -> None:
    """Remember what devices said in a stage that ended, in its transaction."""
    if not isinstance(summary, ReadSummary) or not summary.running or summary.taken_over is not None:
        return
    network = connection.scalar(sa.select(RUNS.c.network).where(RUNS.c.id == run_id))
    write_readings(connection, str(network), summary.running, at, run_id)


def write_readings(
    connection: sa.Connection,
    network: str,
    texts: Mapping[str, str],
    at: datetime,
    run_id: str | None = None,
    *,
    unsaved: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Remember what devices said at a moment, as artifacts by device, unless they said something later.

    ``unsaved`` are the lines that were not saved, of the devices of which that is known.
    """
    lines = {device: list(found) for device, found in (unsaved or {}).items()}
    rows = [
        {
            "network": network,
            "device": device,
            "run_id": run_id,
            "artifact": artifact,
            "at": at,
            "unsaved": lines.get(device),
        }
        for device, artifact in sorted(texts.items())  # in one order: two writers must not wait for each other
    ]
    row = insert_into(connection, READINGS)
    newest = row.on_conflict_do_update(
        index_elements=[READINGS.c.network, READINGS.c.device],
        set_={name: row.excluded[name] for name in ("run_id", "artifact", "at", "unsaved")},
        where=READINGS.c.at <= row.excluded.at,
    )
    connection.execute(newest, rows)


def write_unsaved(
    connection: sa.Connection, run_id: str, texts: Mapping[str, str], unsaved: Mapping[str, Sequence[str]]
) -> None:
    """Add to a run's readings what of the devices was not saved then, where these are still their last ones.

    ``texts`` are the artifacts of the readings that it belongs to, by device.
    """
    reading = READINGS.c
    for device, lines in sorted(unsaved.items()):
        this = (reading.device == device) & (reading.run_id == run_id) & (reading.artifact == texts[device])
        connection.execute(sa.update(READINGS).where(this).values(unsaved=list(lines)))


def touched_since(connection: sa.Connection, network: str, at: datetime) -> set[str]:
    """The devices of a network that a run touched which is not over, or was not at a moment: what they had not
    saved then may be the run's own lines.
    """
    over = [status for status in RunStatus if status.final and status is not RunStatus.NEEDS_RECOVERY]
    goes_on = RUNS.c.status.not_in(over) | (RUNS.c.updated >= at)
    query = sa.select(JOURNAL.c.device).distinct().join(RUNS, RUNS.c.id == JOURNAL.c.run_id)
    return set(connection.scalars(query.where(RUNS.c.network == network, goes_on)))


def last_text(database: Database, artifacts: Artifacts, network: str, device: str) -> str | None:
    """The running configuration that a device gave when it was last read; ``None`` if it never was.

    Raises:
        StoreError: the store is away, or the artifact is missing or damaged.
    """
    query = sa.select(READINGS.c.artifact).where(READINGS.c.network == network, READINGS.c.device == device)
    artifact = database.query(lambda connection: connection.scalar(query))
    return None if artifact is None else artifacts.get_text(artifact)


def last_unsaved(database: Database, network: str, devices: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The lines that were not saved when these devices were last read, of those that have any."""
    columns = (READINGS.c.device, READINGS.c.unsaved)
    query = sa.select(*columns).where(READINGS.c.network == network, READINGS.c.unsaved.is_not(None))
    rows = database.query(lambda connection: list(connection.execute(query.order_by(READINGS.c.device))))
    chosen = frozenset(devices)
    return {row.device: tuple(row.unsaved) for row in rows if row.unsaved and row.device in chosen}


def devices_not_saved(database: Database) -> dict[str, tuple[str, ...]]:
    """The devices of every network that had lines that were not saved when they were last read."""
    has_lines = sa.func.json_array_length(READINGS.c.unsaved) > 0
    query = sa.select(READINGS.c.network, READINGS.c.device).where(READINGS.c.unsaved.is_not(None), has_lines)
    rows = database.query(lambda connection: list(connection.execute(query.order_by(READINGS.c.device))))
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row.network, []).append(row.device)
    return {network: tuple(devices) for network, devices in found.items()}


def read_since(database: Database, network: str, at: datetime) -> frozenset[str]:
    """The devices of a network that were read after a moment."""
    query = sa.select(READINGS.c.device).where(READINGS.c.network == network, READINGS.c.at > at)
    return database.query(lambda connection: frozenset(connection.scalars(query)))


@dataclass(frozen=True, slots=True)
class ReadingTimes:
    """How many devices of a network were ever read, and when the first and the last of them were read last."""

    devices: int
    oldest: datetime
    newest: datetime


def reading_times(database: Database) -> dict[str, ReadingTimes]:
    """By network; without those of which no device was ever read."""
    moment = READINGS.c.at
    columns = (READINGS.c.network, sa.func.count().label("devices"), sa.func.min(moment).label("oldest"))
    query = sa.select(*columns, sa.func.max(moment).label("newest")).group_by(READINGS.c.network)
    rows = database.query(lambda connection: list(connection.execute(query)))
    return {row.network: ReadingTimes(row.devices, row.oldest, row.newest) for row in rows}
