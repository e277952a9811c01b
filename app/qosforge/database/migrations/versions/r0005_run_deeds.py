"""What people did to runs: who asked for them, cancelled and retried them, as far as the store still knows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_ASKED = """
INSERT INTO run_deeds (run_id, deed, "by", at)
SELECT id, 'asked', requested_by, created FROM runs WHERE requested_by <> '' ORDER BY id
"""

_CANCELLED = """
INSERT INTO run_deeds (run_id, deed, "by", at)
SELECT id, 'cancelled', cancelled_by, updated FROM runs
WHERE cancelled_by IS NOT NULL AND reason NOT LIKE 'refused by %' ORDER BY id
"""

_RETRIED = """
INSERT INTO run_deeds (run_id, deed, "by", at)
SELECT run_id, 'retried', {by}, at FROM events
WHERE kind = 'status' AND {status} = 'pending' AND CAST({attempt} AS INTEGER) > 1 AND coalesce({by}, '') <> ''
AND NOT EXISTS (
    SELECT 1 FROM approvals WHERE approvals.run_id = events.run_id AND approvals.approved AND approvals."by" = {by}
) ORDER BY seq
"""


def upgrade() -> None:
    """Create the table, and fill it: who approved a run and retried it later is not told apart, and left out."""
    op.create_table(
        "run_deeds",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("run_id", sa.String(36), nullable=False),
        sa.Column("deed", sa.String(16), nullable=False),
        sa.Column("by", sa.String(128), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_run_deeds"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_run_deeds_run_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_run_deeds_run_id", "run_deeds", ["run_id"])
    op.create_index("ix_runs_network_policy_version", "runs", ["network", "policy_version"])
    field = "json_extract(data, '$.{0}')" if op.get_context().dialect.name == "sqlite" else "data ->> '{0}'"
    op.execute(_ASKED)
    op.execute(_CANCELLED)
    op.execute(_RETRIED.format(**{name: f"({field.format(name)})" for name in ("by", "status", "attempt")}))


def downgrade() -> None:
    """Drop what the revision made."""
    op.drop_index("ix_runs_network_policy_version", "runs")
    op.drop_table("run_deeds")
