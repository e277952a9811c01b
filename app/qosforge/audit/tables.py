"""The table of audits of files that people gave."""

from __future__ import annotations

import sqlalchemy as sa

from qosforge.database.schema import METADATA, NAME, UtcDateTime

FILE_AUDITS = sa.Table(
    "file_audits",
    METADATA,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("person", NAME, nullable=False),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.Column("result", sa.LargeBinary),
    sa.Column("files", sa.LargeBinary),
    sa.Column("error", sa.JSON(none_as_null=True)),
    sa.Index("ix_file_audits_at", "at"),
)
"""Audits of files by who gave them and when; one without ``result`` and ``error`` is under way. ``files``, an
archive, are kept only where the platform of one has to be told.
"""
