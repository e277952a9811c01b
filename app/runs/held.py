"""What the boxes of a network were last known to hold: the last reading of each by any run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from app.inventory.models import Network
from app.runs.artifacts import Artifacts
from app.runs.store import RunStore
from app.runs.tables import READINGS


@dataclass(frozen=True, slots=True)
class LastRead:
    """The running configuration that a box gave when it was last read, by a run, and when that was."""

    device: str
    text: str
    run_id: str
    at: datetime


def last_read(store: RunStore, artifacts: Artifacts, network: Network) -> dict[str, LastRead]:
    """What each box said when a run last read it: before a change, after it, or after a roll-back.

    A box that no run has read is left out.

    Raises:
        StoreError: an artifact is missing or damaged.
    """
    known = {device.name for device in network.devices}
    query = sa.select(READINGS).where(READINGS.c.network == network.name).order_by(READINGS.c.device)
    rows = store.database.query(lambda connection: list(connection.execute(query)))
    return {
        row.device: LastRead(row.device, artifacts.get_text(row.artifact), row.run_id, row.at)
        for row in rows
        if row.device in known
    }
