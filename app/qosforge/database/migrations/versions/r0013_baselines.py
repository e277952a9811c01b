"""What each device said it held when a run last settled it, and an index of a network's runs by their policy."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_SQLITE = (
    "json_each(stages.summary, '$.running')",
    "json_extract(stages.summary, '$.taken_over')",
    "json_extract(stages.summary, '$.text')",
)
_POSTGRESQL = (
    "json_each_text(stages.summary -> 'running')",
    "stages.summary ->> 'taken_over'",
    "stages.summary ->> 'text'",
)

_FILL = """
INSERT INTO baselines (network, device, run_id, artifact, at)
SELECT network, device, run_id, artifact, ended FROM (
    SELECT runs.network AS network, reading.key AS device, stages.run_id AS run_id, reading.value AS artifact,
        stages.ended AS ended,
        row_number() OVER (
            PARTITION BY runs.network, reading.key ORDER BY stages.ended DESC, stages.run_id DESC, stages.name DESC
        ) AS place
    FROM stages JOIN runs ON runs.id = stages.run_id CROSS JOIN {readings} AS reading
    WHERE runs.status IN ('kept', 'no_changes')
    AND stages.name IN ('read', 'read-back', 'rollback') AND stages.outcome = 'done'
    AND {taken_over} IS NULL AND coalesce({told}, '') NOT LIKE 'taken over%'
    AND stages.run_id NOT IN (SELECT run_id FROM stages WHERE name = 'retention')
) AS found WHERE place = 1
"""


def upgrade() -> None:
    """Create the table, fill it, and create the index."""
    op.create_table(
        "baselines",
        sa.Column("network", sa.String(128), nullable=False),
        sa.Column("device", sa.String(128), nullable=False),
        sa.Column("run_id", sa.String(36), nullable=False),
        sa.Column("artifact", sa.String(64), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("network", "device", name="pk_baselines"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_baselines_run_id"),
    )
    readings, taken_over, told = _SQLITE if op.get_context().dialect.name == "sqlite" else _POSTGRESQL
    op.execute(_FILL.format(readings=readings, taken_over=taken_over, told=told))
    op.create_index("ix_runs_network_policy_id", "runs", ["network", "policy", "id"])


def downgrade() -> None:
    """Drop what the revision made."""
    op.drop_index("ix_runs_network_policy_id", "runs")
    op.drop_table("baselines")
