"""What of a device was not saved when it was last read. Of readings of before it is not known."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("readings", sa.Column("unsaved", sa.JSON()))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("readings", "unsaved")
