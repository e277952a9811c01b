"""How often the service looks for drift in a network, and what the last look found."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "drift_watches",
        sa.Column("network", sa.String(128), nullable=False),
        sa.Column("minutes", sa.Integer()),
        sa.Column("due", sa.String(32)),
        sa.Column("claim", sa.String(36)),
        sa.Column("claimed_until", sa.String(32)),
        sa.Column("looked", sa.String(32)),
        sa.Column("drifted", sa.JSON(), nullable=False),
        sa.Column("unread", sa.JSON(), nullable=False),
        sa.Column("uncompared", sa.JSON(), nullable=False),
        sa.Column("compared", sa.Integer(), nullable=False, server_default="0"),
        sa.PrimaryKeyConstraint("network", name="pk_drift_watches"),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("drift_watches")
