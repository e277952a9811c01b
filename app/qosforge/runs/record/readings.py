"""Readings of running configurations: which device gave which one when. The newest of each device is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from qosforge.artifacts.store import Artifacts
from qosforge.database.connections import Database
from qosforge.database.upsert import insert_into
from qosforge.runs.record.summaries import ReadSummary, StageSummary
from qosforge.runs.record.tables import READINGS, RUNS


def record_stage_readings(connection: sa.Connection, run_id: str, summary: StageSummary, at: datetime) -> None:
    """Remember what devices said in a stage that ended, in its transaction."""
    if not isinstance(summary, ReadSummary) or not summary.running or summary.taken_over is not None:
        return
    network = connection.scalar(sa.select(RUNS.c.network).where(RUNS.c.id == run_id))
    write_readings(connection, str(network), summary.running, at, run_id)


def write_readings(
    connection: sa.Connection, network: str, texts: Mapping[str, str], at: datetime, run_id: str | None = None
) -> None:
    """Remember what devices said at a moment, as artifacts by device, unless they said something later."""
    rows = [
        {"network": network, "device": device, "run_id": run_id, "artifact": artifact, "at": at}
        for device, artifact in sorted(texts.items())  # in one order: two writers must not wait for each other
    ]
    row = insert_into(connection, READINGS)
    newest = row.on_conflict_do_update(
        index_elements=[READINGS.c.network, READINGS.c.device],
        set_={name: row.excluded[name] for name in ("run_id", "artifact", "at")},
        where=READINGS.c.at <= row.excluded.at,
    )
    connection.execute(newest, rows)


def last_text(database: Database, artifacts: Artifacts, network: str, device: str) -> str | None:
    """The running configuration that a device gave when it was last read; ``None`` if it never was.

    Raises:
        StoreError: the store is away, or the artifact is missing or damaged.
    """
    query = sa.select(READINGS.c.artifact).where(READINGS.c.network == network, READINGS.c.device == device)
    artifact = database.query(lambda connection: connection.scalar(query))
    return None if artifact is None else artifacts.get_text(artifact)


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
