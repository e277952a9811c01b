"""Webhooks, and what is to be delivered to them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_DUE = sa.text("due IS NOT NULL")


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "webhooks",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("name", sa.String(128), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("events", sa.JSON()),
        sa.Column("networks", sa.JSON()),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("disabled_because", sa.Text(), nullable=False, server_default=""),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("secret_number", sa.Integer(), nullable=False),
        sa.Column("secret_since", sa.String(32), nullable=False),
        sa.Column("previous_until", sa.String(32)),
        sa.Column("key", sa.String(16), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_webhooks"),
        sa.UniqueConstraint("name", name="uq_webhooks_name"),
    )
    op.create_table(
        "webhook_deliveries",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("webhook_id", sa.String(36), nullable=False),
        sa.Column("message", sa.String(36), nullable=False),
        sa.Column("type", sa.String(48), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due", sa.String(32)),
        sa.Column("tried", sa.String(32)),
        sa.Column("status", sa.Integer()),
        sa.Column("error", sa.Text(), nullable=False, server_default=""),
        sa.Column("claim", sa.String(36)),
        sa.Column("claimed_until", sa.String(32)),
        sa.PrimaryKeyConstraint("seq", name="pk_webhook_deliveries"),
        sa.UniqueConstraint("id", name="uq_webhook_deliveries_id"),
        sa.ForeignKeyConstraint(["webhook_id"], ["webhooks.id"], name="fk_webhook_deliveries_webhook_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_webhook_deliveries_webhook_id_seq", "webhook_deliveries", ["webhook_id", "seq"])
    op.create_index(
        "ix_webhook_deliveries_due", "webhook_deliveries", ["due"], sqlite_where=_DUE, postgresql_where=_DUE
    )


def downgrade() -> None:
    """Drop what the revision made."""
    op.drop_table("webhook_deliveries")
    op.drop_table("webhooks")
