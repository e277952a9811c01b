"""Browsers in which users logged in before."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "known_browsers",
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("user_id", sa.String(36), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_known_browsers"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_known_browsers_user_id"),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("known_browsers")
