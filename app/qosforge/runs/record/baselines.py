"""Baselines: what each device said it held when a run last settled it, written as that run ends."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING

import sqlalchemy as sa

from qosforge.database.upsert import insert_into
from qosforge.runs.record.summaries import ReadSummary
from qosforge.runs.record.tables import BASELINES, STAGES, RunStatus, StageOutcome

if TYPE_CHECKING:
    from qosforge.runs.record.run import Run

SETTLING = frozenset({RunStatus.KEPT, RunStatus.NO_CHANGES})
"""How a run ends after which its devices should hold what they hold."""

_READINGS = ("read", "read-back", "rollback")
"""Stages that say what a device holds: one without a change was only read, one left out of the change put back."""


def record_baselines(connection: sa.Connection, run: Run) -> None:
    """Remember what the devices of a run said last, in the transaction that settles it.

    A device that another run settled and read later keeps that one's.
    """
    query = (
        sa.select(STAGES.c.summary, STAGES.c.ended)
        .where(STAGES.c.run_id == run.id, STAGES.c.name.in_(_READINGS))
        .where(STAGES.c.outcome == StageOutcome.DONE.value)
        .order_by(STAGES.c.ended, STAGES.c.run_attempt, STAGES.c.name)
    )
    last: dict[str, tuple[str, datetime]] = {}
    for summary, ended in connection.execute(query):
        read = ReadSummary.model_validate(summary)
        if read.taken_over is None:
            last |= {device: (artifact, ended) for device, artifact in read.running.items()}
    if not last:
        return
    rows = [
        {"network": run.network, "device": device, "run_id": run.id, "artifact": artifact, "at": at}
        for device, (artifact, at) in sorted(last.items())  # in one order: two writers must not wait for each other
    ]
    row = insert_into(connection, BASELINES)
    newest = row.on_conflict_do_update(
        index_elements=[BASELINES.c.network, BASELINES.c.device],
        set_={name: row.excluded[name] for name in ("run_id", "artifact", "at")},
        where=BASELINES.c.at <= row.excluded.at,
    )
    connection.execute(newest, rows)


def read_baselines(
    connection: sa.Connection, network: str, devices: Collection[str] | None = None
) -> dict[str, tuple[str, str]]:
    """By device, the id of the run that settled it last, and the artifact with what the device said then.

    Without devices that no run settled; of ``devices`` alone where given.
    """
    query = sa.select(BASELINES.c.device, BASELINES.c.run_id, BASELINES.c.artifact)
    query = query.where(BASELINES.c.network == network).order_by(BASELINES.c.device)
    if devices is not None:
        query = query.where(BASELINES.c.device.in_(sorted(devices)))
    return {row.device: (row.run_id, row.artifact) for row in connection.execute(query)}
