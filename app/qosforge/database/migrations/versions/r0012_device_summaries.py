"""What lists and drawings show of a device by its last reading."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "device_summaries",
        sa.Column("network", sa.String(128), nullable=False),
        sa.Column("device", sa.String(128), nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("summary", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("network", "device", name="pk_device_summaries"),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("device_summaries")
