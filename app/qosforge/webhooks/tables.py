"""Tables of webhooks and of what is, or was, to be delivered to them. No secret and no key is in either."""

from __future__ import annotations

import sqlalchemy as sa

from qosforge.database.schema import METADATA, NAME, SEQUENCE, UtcDateTime

_ID = sa.String(36)

WEBHOOKS = sa.Table(
    "webhooks",
    METADATA,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("name", NAME, nullable=False, unique=True),
    sa.Column("url", sa.Text, nullable=False),
    sa.Column("events", sa.JSON),
    sa.Column("networks", sa.JSON),
    sa.Column("enabled", sa.Boolean, nullable=False),
    sa.Column("disabled_because", sa.Text, nullable=False, server_default=""),
    sa.Column("created", UtcDateTime, nullable=False),
    sa.Column("secret_number", sa.Integer, nullable=False),
    sa.Column("secret_since", UtcDateTime, nullable=False),
    sa.Column("previous_until", UtcDateTime),
    sa.Column("key", sa.String(16), nullable=False),
)
"""``events`` and ``networks``: what is delivered, null: all. ``secret_number`` says which of the secrets counts
that derive from the installation's key, ``key`` is that key's fingerprint, and until ``previous_until`` deliveries
are signed by the secret before, too.
"""

DELIVERIES = sa.Table(
    "webhook_deliveries",
    METADATA,
    sa.Column("seq", SEQUENCE, primary_key=True, autoincrement=True),
    sa.Column("id", _ID, nullable=False, unique=True),
    sa.Column("webhook_id", _ID, sa.ForeignKey("webhooks.id"), nullable=False),
    sa.Column("message", _ID, nullable=False),
    sa.Column("type", sa.String(48), nullable=False),
    sa.Column("data", sa.JSON, nullable=False),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("due", UtcDateTime),
    sa.Column("tried", UtcDateTime),
    sa.Column("status", sa.Integer),
    sa.Column("error", sa.Text, nullable=False, server_default=""),
    sa.Column("claim", _ID),
    sa.Column("claimed_until", UtcDateTime),
    sa.Index("ix_webhook_deliveries_webhook_id_seq", "webhook_id", "seq"),
    sqlite_autoincrement=True,
)
"""``message`` is the same for every webhook that is told of one event. ``due``: when it is sent, null once it is
over; ``tried``, ``status`` and ``error`` are those of the last attempt. Whoever sends one claims it until
``claimed_until``.
"""
sa.Index(
    "ix_webhook_deliveries_due",
    DELIVERIES.c.due,
    sqlite_where=DELIVERIES.c.due.is_not(None),
    postgresql_where=DELIVERIES.c.due.is_not(None),
)
