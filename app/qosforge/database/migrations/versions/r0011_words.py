"""Today's words for the status and tester of a run, the outcome of a sweep's point and the step that rolls back."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_STATUS = {"nothing_to_do": "no_changes", "refused": "rejected"}
_STEP = {"roll-back": "rollback"}
_COLUMNS = (
    ("runs", "status", _STATUS),
    ("runs", "reason_step", _STEP),
    ("sweep_points", "outcome", _STATUS),
    ("stages", "name", _STEP),
)
_IN_EVENTS = {"status": _STATUS, "reason_step": _STEP, "stage": _STEP}
"""Keys of an event's data that hold such a word."""
_TESTER = {"outside": "external"}
_KINDS = "'status', 'stage', 'progress'"
_UPDATE = {
    "sqlite": "UPDATE {table} SET {column} = json_set({column}, '$.{key}', '{new}') "
    "WHERE json_extract({column}, '$.{key}') = '{old}'",
    "postgresql": "UPDATE {table} "
    "SET {column} = CAST(jsonb_set(CAST({column} AS jsonb), '{{{key}}}', '\"{new}\"') AS json) "
    "WHERE {column} ->> '{key}' = '{old}'",
}
"""How each database replaces a word under a key of a JSON document; as text, so that it can be written offline."""
_WHO = ("requested_by", "created_by")
_RENAME = {
    "sqlite": "UPDATE webhook_deliveries SET data = "
    "json_set(json_remove(data, '$.{old}'), '$.{new}', json_extract(data, '$.{old}')) "
    "WHERE json_type(data, '$.{old}') IS NOT NULL",
    "postgresql": "UPDATE webhook_deliveries SET data = CAST("
    "(CAST(data AS jsonb) - '{old}') || jsonb_build_object('{new}', CAST(data AS jsonb) -> '{old}') AS json) "
    "WHERE data -> '{old}' IS NOT NULL",
}
_COMMAND = ("qosforge roll-back ", "qosforge rollback ")


def upgrade() -> None:
    """Replace the old words, also in the events that people still follow."""
    _replace(turned=False)


def downgrade() -> None:
    """Put the old words back."""
    _replace(turned=True)


def _replace(*, turned: bool) -> None:
    for table, column, words in _COLUMNS:
        of = sa.table(table, sa.column(column, sa.String))
        for old, new in _way(words, turned=turned).items():
            op.execute(of.update().where(of.c[column] == old).values({column: new}))
    _replace_under("runs", "params", {"tester": _TESTER}, turned=turned)
    _replace_under("events", "data", _IN_EVENTS, turned=turned, where=f" AND kind IN ({_KINDS})")
    of_deliveries = {"status": _STATUS, "reason_step": _STEP}
    _replace_under("webhook_deliveries", "data", of_deliveries, turned=turned)
    old, new = _WHO[::-1] if turned else _WHO
    op.execute(_RENAME[op.get_context().dialect.name].format(old=old, new=new))
    old, new = _COMMAND[::-1] if turned else _COMMAND
    for column in ("reason", "reason_hint"):
        op.execute(
            f"UPDATE runs SET {column} = replace({column}, '{old}', '{new}') WHERE {column} LIKE '%{old}%'"  # noqa: S608
        )


def _replace_under(
    table: str, column: str, keys: dict[str, dict[str, str]], *, turned: bool, where: str = ""
) -> None:
    update = _UPDATE[op.get_context().dialect.name]
    for key, words in keys.items():
        for old, new in _way(words, turned=turned).items():
            statement = update.format(table=table, column=column, key=key, old=old, new=new)
            op.execute(statement + where)


def _way(words: dict[str, str], *, turned: bool) -> dict[str, str]:
    return {new: old for old, new in words.items()} if turned else words
