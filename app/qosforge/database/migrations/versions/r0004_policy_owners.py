"""Policies belong to a network or to all: those of before belong to all.

Their versions are run on a network where their author is operator; elsewhere an operator takes them over first.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add whose a policy is, and who took a version over."""
    op.add_column("policies", sa.Column("network", sa.String(128), nullable=False, server_default="*"))
    op.create_table(
        "policy_takeovers",
        sa.Column("name", sa.String(128), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("network", sa.String(128), nullable=False),
        sa.Column("by", sa.String(128), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("name", "number", "network", "by", name="pk_policy_takeovers"),
        sa.ForeignKeyConstraint(
            ["name", "number"], ["policies.name", "policies.number"], name="fk_policy_takeovers_name"
        ),
    )


def downgrade() -> None:
    """Drop what the revision made."""
    op.drop_table("policy_takeovers")
    op.drop_column("policies", "network")
