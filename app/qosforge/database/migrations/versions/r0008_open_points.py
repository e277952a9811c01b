"""An index of the points of sweeps that have no outcome yet, which are looked for all the time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_OPEN = sa.text("outcome IS NULL")


def upgrade() -> None:
    """Create the index."""
    op.create_index(
        "ix_sweep_points_open",
        "sweep_points",
        ["sweep_id", "number"],
        sqlite_where=_OPEN,
        postgresql_where=_OPEN,
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_index("ix_sweep_points_open", "sweep_points")
