"""The table of artifacts."""

from __future__ import annotations

import sqlalchemy as sa

from qosforge.database.schema import ARTIFACT_ID, METADATA, UtcDateTime

ARTIFACTS = sa.Table(
    "artifacts",
    METADATA,
    sa.Column("id", ARTIFACT_ID, primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),
    sa.Column("at", UtcDateTime, nullable=False),
)
"""Artifacts of an installation of several machines, which share no folder."""
