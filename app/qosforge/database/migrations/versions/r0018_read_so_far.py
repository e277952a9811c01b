"""How many devices the look for drift that is under way has read so far."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("drift_watches", sa.Column("read_so_far", sa.Integer))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("drift_watches", "read_so_far")
