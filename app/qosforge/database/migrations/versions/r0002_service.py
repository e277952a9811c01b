"""The service: waiting runs, events, idempotency keys, policies, executors, sweeps, users and the log of calls."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_SEQUENCE = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_APPEND_ONLY = ("approvals", "calls")


def upgrade() -> None:
    """Create the tables of the service, and widen the runs."""
    for column in (
        sa.Column("attempt", sa.Integer, nullable=False, server_default="1"),
        sa.Column("requested_by", sa.String(128), nullable=False, server_default=""),
        sa.Column("ticket", sa.String(64), nullable=False, server_default=""),
        sa.Column("source", sa.JSON),
        sa.Column("not_before", sa.String(32)),
        sa.Column("deadline", sa.String(32)),
        sa.Column("due", sa.String(32)),
        sa.Column("waits_for", sa.Text, nullable=False, server_default=""),
        sa.Column("cancelled_by", sa.String(128)),
        sa.Column("start", sa.String(24), nullable=False, server_default="read"),
        sa.Column("reason", sa.Text, nullable=False, server_default=""),
    ):
        op.add_column("runs", column)
    op.add_column("stages", sa.Column("run_attempt", sa.Integer, nullable=False, server_default="1"))
    op.create_index("ix_journal_run_id_seq", "journal", ["run_id", "seq"])
    op.create_index("ix_runs_due", "runs", ["due"])
    op.create_index("ix_runs_network_id", "runs", ["network", "id"])
    op.create_index("ix_runs_policy_id", "runs", ["policy", "id"])
    _create_run_tables()
    _create_shared_tables()
    _create_access_tables()
    for table in _APPEND_ONLY:
        append_only(table)


def append_only(table: str) -> None:
    """Let the database refuse to change or delete rows."""
    text = f"the table {table} is append-only"
    if op.get_context().dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{text}'); END"
            )
        return
    op.execute(
        f"CREATE FUNCTION {table}_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{text}'; END $$"
    )
    op.execute(
        f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {table}_append_only()"
    )


def _create_run_tables() -> None:
    op.create_table(
        "approvals",
        sa.Column("seq", _SEQUENCE, primary_key=True, autoincrement=True),
        sa.Column("run_id", sa.String(36), nullable=False),
        sa.Column("candidate", sa.String(64), nullable=False),
        sa.Column("approved", sa.Boolean, nullable=False),
        sa.Column("by", sa.String(128), nullable=False),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_approvals_run_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_approvals_run_id", "approvals", ["run_id"])
    op.create_table(
        "events",
        sa.Column("seq", _SEQUENCE, primary_key=True, autoincrement=True),
        sa.Column("run_id", sa.String(36), nullable=False),
        sa.Column("kind", sa.String(24), nullable=False),
        sa.Column("data", sa.JSON, nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_events_run_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_events_run_id_seq", "events", ["run_id", "seq"])
    op.create_table(
        "idempotency_keys",
        sa.Column("requested_by", sa.String(128), nullable=False),
        sa.Column("key", sa.String(255), nullable=False),
        sa.Column("request", sa.String(64), nullable=False),
        sa.Column("run_id", sa.String(36), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("requested_by", "key", name="pk_idempotency_keys"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_idempotency_keys_run_id"),
    )
    op.create_table(
        "outside_measurements",
        sa.Column("run_id", sa.String(36), nullable=False),
        sa.Column("side", sa.String(8), nullable=False),
        sa.Column("tester", sa.String(128), nullable=False),
        sa.Column("measurement", sa.String(64), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "side", name="pk_outside_measurements"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_outside_measurements_run_id"),
    )


def _create_shared_tables() -> None:
    op.create_table(
        "policies",
        sa.Column("name", sa.String(128), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("text", sa.String(64), nullable=False),
        sa.Column("included", sa.JSON, nullable=False),
        sa.Column("author", sa.String(128), nullable=False),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("source", sa.JSON),
        sa.Column("at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("name", "number", name="pk_policies"),
    )
    op.create_index("ix_policies_version", "policies", ["version"])
    op.create_table(
        "executors",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("workflow_version", sa.String(32), nullable=False),
        sa.Column("started", sa.String(32), nullable=False),
        sa.Column("expires", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_executors"),
    )
    op.create_table(
        "artifacts",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_artifacts"),
    )
    op.create_table(
        "sweeps",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("network", sa.String(128), nullable=False),
        sa.Column("policy", sa.String(128), nullable=False),
        sa.Column("requested_by", sa.String(128), nullable=False),
        sa.Column("params", sa.JSON, nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("schema_version", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sweeps"),
    )
    op.create_index("ix_sweeps_network", "sweeps", ["network"])
    op.create_table(
        "sweep_points",
        sa.Column("sweep_id", sa.String(36), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("params", sa.JSON, nullable=False),
        sa.Column("executor", sa.String(64)),
        sa.Column("ended", sa.String(32)),
        sa.Column("outcome", sa.String(16)),
        sa.Column("result", sa.String(64)),
        sa.Column("error", sa.Text, nullable=False, server_default=""),
        sa.PrimaryKeyConstraint("sweep_id", "number", name="pk_sweep_points"),
        sa.ForeignKeyConstraint(["sweep_id"], ["sweeps.id"], name="fk_sweep_points_sweep_id"),
    )


def _create_access_tables() -> None:
    op.create_table(
        "users",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("name", sa.String(128), nullable=False),
        sa.Column("password_hash", sa.String(255)),
        sa.Column("issuer", sa.String(255)),
        sa.Column("subject", sa.String(255)),
        sa.Column("disabled", sa.Boolean, nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.UniqueConstraint("name", name="uq_users_name"),
        sa.UniqueConstraint("issuer", "subject", name="uq_users_issuer"),
    )
    op.create_table(
        "grants",
        sa.Column("user_id", sa.String(36), nullable=False),
        sa.Column("network", sa.String(128), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "network", name="pk_grants"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_grants_user_id"),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("user_id", sa.String(36), nullable=False),
        sa.Column("name", sa.String(128), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("networks", sa.JSON),
        sa.Column("parent", sa.String(36)),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("expires", sa.String(32), nullable=False),
        sa.Column("revoked", sa.String(32)),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
        sa.UniqueConstraint("hash", name="uq_tokens_hash"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_tokens_user_id"),
    )
    op.create_index("ix_tokens_user_id", "tokens", ["user_id"])
    op.create_table(
        "web_sessions",
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("user_id", sa.String(36), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("expires", sa.String(32), nullable=False),
        sa.Column("ended", sa.String(32)),
        sa.PrimaryKeyConstraint("hash", name="pk_web_sessions"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_web_sessions_user_id"),
    )
    op.create_index("ix_web_sessions_user_id", "web_sessions", ["user_id"])
    op.create_table(
        "testers",
        sa.Column("name", sa.String(128), nullable=False),
        sa.Column("public_key", sa.Text, nullable=False),
        sa.Column("networks", sa.JSON),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("revoked", sa.String(32)),
        sa.PrimaryKeyConstraint("name", name="pk_testers"),
    )
    op.create_table(
        "calls",
        sa.Column("seq", _SEQUENCE, primary_key=True, autoincrement=True),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("actor", sa.String(128), nullable=False),
        sa.Column("credential", sa.String(64), nullable=False),
        sa.Column("action", sa.String(64), nullable=False),
        sa.Column("network", sa.String(128), nullable=False),
        sa.Column("resource", sa.String(255), nullable=False),
        sa.Column("status", sa.Integer, nullable=False),
        sa.Column("request_id", sa.String(64), nullable=False),
        sa.Column("detail", sa.JSON, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "open_calls",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("actor", sa.String(128), nullable=False),
        sa.Column("credential", sa.String(64), nullable=False),
        sa.Column("action", sa.String(64), nullable=False),
        sa.Column("network", sa.String(128), nullable=False),
        sa.Column("resource", sa.String(255), nullable=False),
        sa.Column("request_id", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_open_calls"),
    )
    op.create_index("ix_open_calls_at", "open_calls", ["at"])


def downgrade() -> None:
    """Drop what the revision made."""
    dialect = op.get_context().dialect.name
    for table in (
        "open_calls", "calls", "testers", "web_sessions", "tokens", "grants", "users", "sweep_points", "sweeps",
        "artifacts", "executors", "policies", "outside_measurements", "idempotency_keys", "events", "approvals",
    ):  # fmt: skip
        op.drop_table(table)
    if dialect != "sqlite":
        for table in _APPEND_ONLY:
            op.execute(f"DROP FUNCTION {table}_append_only()")
    op.drop_index("ix_journal_run_id_seq", "journal")
    for index in ("ix_runs_policy_id", "ix_runs_network_id", "ix_runs_due"):
        op.drop_index(index, "runs")
    op.drop_column("stages", "run_attempt")
    for column in (
        "reason", "start",
        "cancelled_by", "waits_for", "due", "deadline", "not_before", "source", "ticket", "requested_by", "attempt",
    ):  # fmt: skip
        op.drop_column("runs", column)
