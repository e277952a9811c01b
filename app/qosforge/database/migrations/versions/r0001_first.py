"""Runs, their stages, the journal of every touch, and the leases on devices."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_SEQUENCE = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Create the first tables. Types are spelt out here: a migration never follows later code."""
    op.create_table(
        "runs",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("network", sa.String(128), nullable=False),
        sa.Column("policy", sa.String(128), nullable=False),
        sa.Column("policy_version", sa.String(64), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("verdict", sa.String(16)),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("updated", sa.String(32), nullable=False),
        sa.Column("params", sa.JSON, nullable=False),
        sa.Column("schema_version", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )
    op.create_index("ix_runs_status", "runs", ["status"])
    op.create_table(
        "stages",
        sa.Column("run_id", sa.String(36), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("started", sa.String(32), nullable=False),
        sa.Column("ended", sa.String(32)),
        sa.Column("outcome", sa.String(16)),
        sa.Column("summary", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "name", "attempt", name="pk_stages"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_stages_run_id"),
    )
    op.create_table(
        "journal",
        sa.Column("seq", _SEQUENCE, primary_key=True, autoincrement=True),
        sa.Column("run_id", sa.String(36), nullable=False),
        sa.Column("device", sa.String(128), nullable=False),
        sa.Column("action", sa.String(24), nullable=False),
        sa.Column("before", sa.String(64)),
        sa.Column("delta", sa.String(64)),
        sa.Column("inverse", sa.String(64)),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_journal_run_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_journal_device_run_id", "journal", ["device", "run_id"])
    _append_only_journal()
    op.create_table(
        "leases",
        sa.Column("network", sa.String(128), nullable=False),
        sa.Column("device", sa.String(128), nullable=False),
        sa.Column("run_id", sa.String(36), nullable=False),
        sa.Column("executor", sa.String(64), nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("expires", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("network", "device", name="pk_leases"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_leases_run_id"),
    )
    op.create_index("ix_leases_run_id", "leases", ["run_id"])


def _append_only_journal() -> None:
    text = "the journal is append-only"
    if op.get_context().dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER journal_no_{verb.lower()} BEFORE {verb} ON journal "
                f"BEGIN SELECT RAISE(ABORT, '{text}'); END"
            )
        return
    op.execute(
        "CREATE FUNCTION journal_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{text}'; END $$"
    )
    op.execute(
        "CREATE TRIGGER journal_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON journal "
        "FOR EACH STATEMENT EXECUTE FUNCTION journal_append_only()"
    )


def downgrade() -> None:
    """Drop everything the first revision made."""
    for table in ("leases", "journal", "stages", "runs"):
        op.drop_table(table)
    if op.get_context().dialect.name != "sqlite":
        op.execute("DROP FUNCTION journal_append_only()")
