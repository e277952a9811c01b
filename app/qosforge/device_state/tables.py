"""The tables of what drift checks found, and of what devices amount to by their last readings."""

from __future__ import annotations

import sqlalchemy as sa

from qosforge.database.schema import METADATA, NAME, UtcDateTime

DRIFT_WATCHES = sa.Table(
    "drift_watches",
    METADATA,
    sa.Column("network", NAME, primary_key=True),
    sa.Column("minutes", sa.Integer),
    sa.Column("due", UtcDateTime),
    sa.Column("claim", sa.String(36)),
    sa.Column("claimed_until", UtcDateTime),
    sa.Column("looked", UtcDateTime),
    sa.Column("drifted", sa.JSON, nullable=False),
    sa.Column("unread", sa.JSON, nullable=False),
    sa.Column("uncompared", sa.JSON, nullable=False),
    sa.Column("compared", sa.Integer, nullable=False, server_default="0"),
    sa.Column("read_so_far", sa.Integer),
)
"""How often the service looks for drift in a network (``minutes``, null: never), and what the last look found: by
device how much of it drifted (``count``, and a ``digest`` that tells one drift from another), why a device could
not be read, which no run has settled yet, and how many were compared. Whoever looks claims the network until
``claimed_until``, and says meanwhile how many devices were read (``read_so_far``, null where nobody looks).
"""

DEVICE_SUMMARIES = sa.Table(
    "device_summaries",
    METADATA,
    sa.Column("network", NAME, primary_key=True),
    sa.Column("device", NAME, primary_key=True),
    sa.Column("key", sa.String(64), nullable=False),
    sa.Column("summary", sa.JSON, nullable=False),
)
"""What lists and drawings show of a device (`qosforge.device_state.summary`), and the hash (``key``) of all that it
was made of: a row whose key is another is made anew.
"""
