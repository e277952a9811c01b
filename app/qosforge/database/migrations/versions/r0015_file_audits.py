"""Results of audits of files, where every process of the service sees them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "file_audits",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("person", sa.String(128), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("result", sa.LargeBinary()),
        sa.Column("files", sa.LargeBinary()),
        sa.Column("error", sa.JSON()),
        sa.PrimaryKeyConstraint("id", name="pk_file_audits"),
    )
    op.create_index("ix_file_audits_at", "file_audits", ["at"])


def downgrade() -> None:
    """Drop it."""
    op.drop_table("file_audits")
