"""Why each call of the audit log was refused or failed, as its caller was told."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; of the calls of before it is not known."""
    op.add_column("calls", sa.Column("reason", sa.String(255), nullable=False, server_default=""))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("calls", "reason")
