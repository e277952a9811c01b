"""Today's words for the status and tester of a run, the outcome of a sweep's point and the step that rolls back."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_STATUS = {"nothing_to_do": "no_changes", "refused": "rejected"}
_STEP = {"roll-back": "rollback"}
_COLUMNS = (("runs", "status", _STATUS), ("sweep_points", "outcome", _STATUS), ("stages", "name", _STEP))
_STEPS_OF_REASONS = (("runs", "reason_step", _STEP),)
_IN_EVENTS = {"status": _STATUS, "reason_step": _STEP, "stage": _STEP}
"""Keys of an event's data that hold such a word."""
_TESTER = {"outside": "external"}
_RUNS = sa.table("runs", sa.column("id", sa.String), sa.column("params", sa.JSON))
_EVENTS = sa.table("events", sa.column("seq"), sa.column("kind", sa.String), sa.column("data", sa.JSON))
_BATCH = 1000


def upgrade() -> None:
    """Replace the old words, also in the events that people still follow."""
    _replace(turned=False)


def downgrade() -> None:
    """Put the old words back."""
    _replace(turned=True)


def _replace(*, turned: bool) -> None:
    for table, column, words in (*_COLUMNS, *_STEPS_OF_REASONS):
        of = sa.table(table, sa.column(column, sa.String))
        for old, new in _way(words, turned=turned).items():
            op.execute(of.update().where(of.c[column] == old).values({column: new}))
    _replace_in_params({"tester": _way(_TESTER, turned=turned)})
    _replace_in_events({key: _way(words, turned=turned) for key, words in _IN_EVENTS.items()})


def _way(words: dict[str, str], *, turned: bool) -> dict[str, str]:
    return {new: old for old, new in words.items()} if turned else words


def _replace_in_params(words: dict[str, dict[str, str]]) -> None:
    """Of the runs that an external tester measures, which are few."""
    connection = op.get_bind()
    (old,) = words["tester"]
    query = sa.select(_RUNS.c.id, _RUNS.c.params).where(sa.cast(_RUNS.c.params, sa.Text).like(f'%"{old}"%'))
    for run, params in connection.execute(query).all():
        connection.execute(_RUNS.update().where(_RUNS.c.id == run).values(params=_present(params, words)))


def _replace_in_events(words: dict[str, dict[str, str]]) -> None:
    """A batch at a time: an installation may hold many events."""
    connection = op.get_bind()
    kinds = _EVENTS.c.kind.in_(("status", "stage", "progress"))
    last = 0
    while True:
        query = sa.select(_EVENTS.c.seq, _EVENTS.c.data).where(_EVENTS.c.seq > last, kinds).order_by(_EVENTS.c.seq)
        rows = connection.execute(query.limit(_BATCH)).all()
        if not rows:
            return
        last = rows[-1].seq
        for seq, data in rows:
            now = _present(data, words)
            if now != data:
                connection.execute(_EVENTS.update().where(_EVENTS.c.seq == seq).values(data=now))


def _present(data: dict[str, Any], words: dict[str, dict[str, str]]) -> dict[str, Any]:
    return {key: words[key].get(value, value) if key in words else value for key, value in data.items()}
