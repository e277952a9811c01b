"""The last reading of every device, found in the stages of runs that still have their artifacts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_SQLITE = ("json_each(stages.summary, '$.running')", "json_extract(stages.summary, '$.text')")
_POSTGRESQL = ("json_each_text(stages.summary -> 'running')", "stages.summary ->> 'text'")

_FILL = """
INSERT INTO readings (network, device, run_id, artifact, at)
SELECT network, device, run_id, artifact, ended FROM (
    SELECT runs.network AS network, box.key AS device, stages.run_id AS run_id, box.value AS artifact,
        stages.ended AS ended,
        row_number() OVER (PARTITION BY runs.network, box.key ORDER BY stages.ended DESC) AS place
    FROM stages JOIN runs ON runs.id = stages.run_id CROSS JOIN {boxes} AS box
    WHERE stages.name IN ('read', 'read-back', 'roll-back') AND stages.outcome = 'done'
    AND coalesce({told}, '') NOT LIKE 'taken over%'
    AND stages.run_id NOT IN (SELECT run_id FROM stages WHERE name = 'retention')
) AS found WHERE place = 1
"""


def upgrade() -> None:
    """Create the table, and fill it."""
    op.create_table(
        "readings",
        sa.Column("network", sa.String(128), nullable=False),
        sa.Column("device", sa.String(128), nullable=False),
        sa.Column("run_id", sa.String(36)),
        sa.Column("artifact", sa.String(64), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("network", "device", name="pk_readings"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_readings_run_id"),
    )
    boxes, told = _SQLITE if op.get_context().dialect.name == "sqlite" else _POSTGRESQL
    op.execute(_FILL.format(boxes=boxes, told=told))


def downgrade() -> None:
    """Drop what the revision made."""
    op.drop_table("readings")
