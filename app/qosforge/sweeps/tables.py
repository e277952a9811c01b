"""Tables of sweeps."""

from __future__ import annotations

import sqlalchemy as sa

from qosforge.database.schema import ARTIFACT_ID, METADATA, NAME, RUN_ID, UtcDateTime

SWEEPS = sa.Table(
    "sweeps",
    METADATA,
    sa.Column("id", RUN_ID, primary_key=True),
    sa.Column("network", NAME, nullable=False, index=True),
    sa.Column("policy", NAME, nullable=False),
    sa.Column("requested_by", NAME, nullable=False),
    sa.Column("params", sa.JSON, nullable=False),
    sa.Column("created", UtcDateTime, nullable=False),
    sa.Column("schema_version", sa.Integer, nullable=False),
)

SWEEP_POINTS = sa.Table(
    "sweep_points",
    METADATA,
    sa.Column("sweep_id", RUN_ID, sa.ForeignKey("sweeps.id"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("params", sa.JSON, nullable=False),
    sa.Column("executor", sa.String(64)),
    sa.Column("ended", UtcDateTime),
    sa.Column("outcome", sa.String(16)),
    sa.Column("result", ARTIFACT_ID),
    sa.Column("error", sa.Text, nullable=False, server_default=""),
)
_OPEN = SWEEP_POINTS.c.outcome.is_(None)
sa.Index(
    "ix_sweep_points_open",
    SWEEP_POINTS.c.sweep_id,
    SWEEP_POINTS.c.number,
    sqlite_where=_OPEN,
    postgresql_where=_OPEN,
)
