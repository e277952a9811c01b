"""Step, device and way on beside the reason of a run; those that ended without a reason say so."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_COLUMNS = ("reason_step", "reason_device", "reason_hint")

_UNTOLD = """
UPDATE runs SET reason = 'it ended under a release that did not record why', reason_step = 'unknown',
reason_hint = 'look at its stages and verdicts'
WHERE reason = '' AND status IN ('failed', 'cancelled', 'refused', 'rolled_back', 'needs_recovery')
"""


def upgrade() -> None:
    """Add the columns."""
    for name in _COLUMNS:
        op.add_column("runs", sa.Column(name, sa.Text(), nullable=False, server_default=""))
    op.execute(_UNTOLD)


def downgrade() -> None:
    """Drop what the revision made."""
    for name in _COLUMNS:
        op.drop_column("runs", name)
