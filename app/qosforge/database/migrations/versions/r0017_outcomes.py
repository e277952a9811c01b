"""What a run came to as a typed value, beside its words; and which kept runs do not stand any more.

Every run gets its kind, and its advice where the words of earlier releases were fixed ones. The reasons of a run
that left a device half-way are told apart, as both stand in its sentence; of any other run the sentence stays the
one reason that is known.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_RUNS = sa.table(
    "runs",
    *(sa.column(name, sa.Text) for name in ("id", "status", "verdict", "reason", "reason_step", "reason_device")),
    *(sa.column(name, sa.Text) for name in ("reason_hint", "outcome_kind", "outcome_advice")),
    *(sa.column(name, sa.Text) for name in ("settle_first", "rolled_back_by")),
    sa.column("params", sa.JSON),
    sa.column("outcome_reasons", sa.JSON(none_as_null=True)),
)
_TO_A_RUN = ("settle_first", "rolled_back_by")
_BECAUSE = "; it was rolled back because of: "
_PUT_BACK = "; its devices are put back"
_FINISH = "finish run "
_CHANGE = "see which bound of which class is broken, and change the policy or the objective"
_CHAIN = 16
"""How often a rollback may have been rolled back, one after the other."""


def upgrade() -> None:
    """Add the columns, and fill them: every run at once, then the few whose words say more."""
    op.add_column("runs", sa.Column("outcome_kind", sa.String(24), nullable=False, server_default=""))
    op.add_column("runs", sa.Column("outcome_reasons", sa.JSON()))
    op.add_column("runs", sa.Column("outcome_advice", sa.String(24), nullable=False, server_default=""))
    for name in _TO_A_RUN:  # one statement with its key: SQLite adds none later
        op.execute(f"ALTER TABLE runs ADD COLUMN {name} VARCHAR(36) CONSTRAINT fk_runs_{name} REFERENCES runs (id)")
    _fill_kinds()
    _fill_settle_first()
    _fill_rolled_back_by()
    _tell_reasons_apart()
    for name in _TO_A_RUN:
        op.create_index(f"ix_runs_{name}", "runs", [name])


def downgrade() -> None:
    """Drop what the revision made."""
    for name in _TO_A_RUN:
        op.drop_index(f"ix_runs_{name}", "runs")
    for name in ("outcome_kind", "outcome_reasons", "outcome_advice", *_TO_A_RUN):
        op.drop_column("runs", name)


def _fill_kinds() -> None:
    run = _RUNS.c
    put_back = sa.or_(run.reason.contains(_BECAUSE), run.reason.endswith(_PUT_BACK))
    left_out = run.reason_hint == "qosforge retry " + run.id + " changes just these"
    rolls_back = run.params["undo_of"].as_string().is_not(None)
    kind = sa.case(
        (run.status == "needs_recovery", "half_way"),
        (sa.and_(run.status == "rolled_back", put_back), "recovered"),
        (run.status.in_(["rolled_back", "no_changes", "rejected", "failed", "cancelled"]), run.status),
        (sa.and_(run.status == "kept", left_out), "kept_in_part"),
        (sa.and_(run.status == "kept", rolls_back), "restored"),
        (run.status == "kept", "kept"),
        else_="",
    )
    advice = sa.case(
        (run.reason_hint == "", ""),
        (run.reason_hint == "qosforge retry " + run.id + " begins it again", "retry"),
        (left_out, "retry_left_out"),
        (run.reason_hint.startswith("qosforge recover puts its devices back"), "recover"),
        (run.reason_hint == _CHANGE, "change_policy"),
        else_="as_told",
    )
    over = run.status.in_(
        ["kept", "rolled_back", "no_changes", "rejected", "failed", "cancelled", "needs_recovery"]
    )
    op.execute(_RUNS.update().where(over).values(outcome_kind=kind, outcome_advice=advice))


def _fill_settle_first() -> None:
    other = _between(_RUNS.c.reason_hint, _FINISH, " first:")
    known = sa.and_(_RUNS.c.reason_hint.startswith(_FINISH), other.in_(sa.select(_RUNS.alias("others").c.id)))
    op.execute(_RUNS.update().where(known).values(settle_first=other, outcome_advice="settle_first"))


def _fill_rolled_back_by() -> None:
    """Of each run its newest kept rollback that stands; where one was rolled back, too, by further looks."""
    back = op.create_table(
        "kept_rollbacks", sa.Column("id", sa.String(36), primary_key=True), sa.Column("target", sa.String(36))
    )
    kept = sa.select(_RUNS.c.id, _RUNS.c.params["undo_of"].as_string()).where(_RUNS.c.outcome_kind == "restored")
    op.execute(back.insert().from_select(["id", "target"], kept))
    op.create_index("ix_kept_rollbacks", "kept_rollbacks", ["target"])
    undone = _RUNS.alias("undone")
    stands = (back.c.target == _RUNS.c.id) & undone.c.rolled_back_by.is_(None)
    by = sa.select(sa.func.max(back.c.id)).join(undone, undone.c.id == back.c.id).where(stands)
    look = _RUNS.update().values(rolled_back_by=by.correlate(_RUNS).scalar_subquery())
    op.execute(look.where(_RUNS.c.id.in_(sa.select(back.c.target))))
    chained = sa.select(back.c.target).where(back.c.id.in_(sa.select(back.alias("later").c.target)))
    for _ in range(_CHAIN):
        op.execute(look.where(_RUNS.c.id.in_(chained)))
    op.drop_table("kept_rollbacks")


def _tell_reasons_apart() -> None:
    """Why a run was to be rolled back, and what hindered it; objectives that are not met decide the advice."""
    run = _RUNS.c
    left, rest = _between(run.reason, "", _BECAUSE), _after(run.reason, _BECAUSE)
    ends = _position(rest, _PUT_BACK) > 0
    why = sa.case((ends, _between(rest, "", _PUT_BACK)), else_=rest)
    unmet = run.verdict.in_(["broken", "inconclusive"])
    # Of what hindered it the step and the device were kept, of the other reason neither.
    first = _object(message=left, short=left, step=sa.literal("rollback"), device=run.reason_device)
    step = sa.case((unmet, "measure-after"), else_="unknown")
    second = _object(message=why, short=why, step=step, device=sa.literal(""))
    two = run.reason.contains(_BECAUSE)
    half_way = run.status == "needs_recovery"
    op.execute(_RUNS.update().where(two, half_way).values(outcome_reasons=_array(first, second)))
    device = sa.case((run.reason_device == "", "a device"), else_=run.reason_device)
    told = why + "; " + device + " was not put back at first: " + left + sa.case((ends, _PUT_BACK), else_="")
    values = {"reason": told, "reason_device": "", "outcome_reasons": _array(second, first)}
    policy = {"reason_step": "measure-after", "reason_hint": _CHANGE, "outcome_advice": "change_policy"}
    over = sa.and_(two, run.status == "rolled_back")
    op.execute(_RUNS.update().where(over, unmet).values(**values, **policy))
    op.execute(_RUNS.update().where(over).values(**values))


def _is_sqlite() -> bool:
    return op.get_context().dialect.name == "sqlite"


def _position(text: sa.ColumnElement[str], part: str) -> sa.ColumnElement[int]:
    """Where a part begins, from 1; 0 where it is not there."""
    return (sa.func.instr if _is_sqlite() else sa.func.strpos)(text, part)


def _between(text: sa.ColumnElement[str], begin: str, end: str) -> sa.ColumnElement[str]:
    """What stands between a known beginning and the first ``end`` after it."""
    return sa.func.substr(text, len(begin) + 1, _position(text, end) - len(begin) - 1)


def _after(text: sa.ColumnElement[str], part: str) -> sa.ColumnElement[str]:
    return sa.func.substr(text, _position(text, part) + len(part))


def _object(**fields: sa.ColumnElement[str]) -> sa.ColumnElement[str]:
    build = sa.func.json_object if _is_sqlite() else sa.func.json_build_object
    return build(*(part for name, value in fields.items() for part in (sa.literal_column(f"'{name}'"), value)))


def _array(*values: sa.ColumnElement[str]) -> sa.ColumnElement[str]:
    build = sa.func.json_array if _is_sqlite() else sa.func.json_build_array
    return build(*values, type_=sa.Text() if _is_sqlite() else sa.JSON())
