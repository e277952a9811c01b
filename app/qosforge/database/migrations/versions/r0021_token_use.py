"""When each token was last used, to a minute; of before, by the last call of it in the audit log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column. Of a token that only read, nothing is known of before."""
    op.add_column("tokens", sa.Column("last_used", sa.String(32)))
    op.execute(
        "UPDATE tokens SET last_used = used.at"
        " FROM (SELECT credential, max(at) AS at FROM calls WHERE credential LIKE 'token:%' GROUP BY credential)"
        " AS used"
        " WHERE used.credential = 'token:' || tokens.id"
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_column("tokens", "last_used")
