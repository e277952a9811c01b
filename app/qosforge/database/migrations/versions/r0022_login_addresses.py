"""From which addresses logins failed, apart from the log of calls: they are deleted, and its rows are not."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table; of logins of before none is known."""
    op.create_table(
        "login_addresses",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer, "sqlite"), nullable=False, autoincrement=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("address", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_login_addresses"),
    )
    op.create_index("ix_login_addresses_at", "login_addresses", ["at"])


def downgrade() -> None:
    """Drop it."""
    op.drop_table("login_addresses")
