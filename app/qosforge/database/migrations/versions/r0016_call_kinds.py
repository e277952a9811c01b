"""What each call of the audit log is about, with an index: the log is looked through by it, newest first."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_AREAS = {
    "runs": (("/runs", "/measurements", "/sweeps"), ()),
    "policies": (("/policies", "/preview", "/compile", "/validate"), ()),
    "networks": (("/networks",), ("drift",)),
    "people": (("/users", "/me/", "/account", "/tokens", "/testers"), ("user", "token", "tester")),
    "webhooks": (("/webhooks",), ("webhook",)),
    "service": ((), ("backup", "database")),
    "sessions": (("/login", "/logout"), ()),
}
"""How the paths of each kind begin, and its commands."""
_INDEX = "ix_calls_kind_seq"
_TEXT = "the table calls is append-only"


def upgrade() -> None:
    """Add the column and the index, and say what the calls of before are about."""
    op.add_column("calls", sa.Column("kind", sa.String(16), nullable=False, server_default=""))
    _let_change(allowed=True)
    calls = sa.table("calls", sa.column("action", sa.String), sa.column("kind", sa.String))
    for kind in _AREAS:
        begins = sa.or_(*(calls.c.action.startswith(start) for start in _begins(kind)))
        op.execute(calls.update().where(calls.c.kind == "", begins).values(kind=kind))
    _let_change(allowed=False)
    op.create_index(_INDEX, "calls", ["kind", "seq"])


def downgrade() -> None:
    """Drop what the revision made."""
    op.drop_index(_INDEX, "calls")
    op.drop_column("calls", "kind")


def _begins(kind: str) -> list[str]:
    areas, commands = _AREAS[kind]
    paths = [f"{method} {prefix}{area}" for area in areas for prefix in ("", "/api/v1") for method in _METHODS]
    return paths + [f"qosforge {command} " for command in commands]


def _let_change(*, allowed: bool) -> None:
    """Switch what refuses changes to the log off, or on again."""
    if op.get_context().dialect.name != "sqlite":
        word = "DISABLE" if allowed else "ENABLE"
        op.execute(f"ALTER TABLE calls {word} TRIGGER calls_append_only")
    elif allowed:
        op.execute("DROP TRIGGER calls_no_update")
    else:
        op.execute(
            f"CREATE TRIGGER calls_no_update BEFORE UPDATE ON calls BEGIN SELECT RAISE(ABORT, '{_TEXT}'); END"
        )
