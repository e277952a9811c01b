"""Decisions of people on what a run would do: append-only, and bound to one candidate."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from qosforge.database.connections import Database
from qosforge.runs.record.tables import APPROVALS


@dataclass(frozen=True, slots=True)
class Decision:
    """Somebody approved or rejected a candidate: the artifact that lists every device's delta."""

    run_id: str
    candidate: str
    approved: bool
    by: str
    comment: str
    at: datetime


class Decisions:
    """The decisions on every run."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, connection: sa.Connection, decision: Decision) -> None:
        """Write one decision in a transaction."""
        row = {field: getattr(decision, field) for field in Decision.__dataclass_fields__}
        connection.execute(sa.insert(APPROVALS).values(row))

    def on(self, run_id: str) -> list[Decision]:
        """The decisions on a run, oldest first."""
        columns = [APPROVALS.c[field] for field in Decision.__dataclass_fields__]
        query = sa.select(*columns).where(APPROVALS.c.run_id == run_id).order_by(APPROVALS.c.seq)
        rows = self._database.query(lambda connection: connection.execute(query).all())
        return [Decision(**row._mapping) for row in rows]
