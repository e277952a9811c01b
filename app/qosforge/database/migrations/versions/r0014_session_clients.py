"""From where a web session was opened: browser, system, and the address that used it last."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_COLUMNS = ("address", "browser", "system")


def upgrade() -> None:
    """Add the columns."""
    for name in _COLUMNS:
        op.add_column("web_sessions", sa.Column(name, sa.String(64)))


def downgrade() -> None:
    """Drop them."""
    for name in _COLUMNS:
        op.drop_column("web_sessions", name)
