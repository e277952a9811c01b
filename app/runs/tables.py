"""Tables of the run store, and the closed vocabularies that its columns hold."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.types import TypeDecorator

SCHEMA_VERSION = 1
"""Version of a run's ``params`` and of its stages' summaries."""


class RunStatus(StrEnum):
    """Where a run stands. The measured outcome is its :class:`Verdict`, kept apart."""

    PENDING = "pending"
    """Recorded; nothing was started."""
    RUNNING = "running"
    """A process is at it, or was until it died."""
    NEEDS_RECOVERY = "needs_recovery"
    """It stopped with a box between two states; ``qosforge recover`` finishes it."""
    KEPT = "kept"
    """The change stands on every box and is saved."""
    ROLLED_BACK = "rolled_back"
    """Every touched box is as it was before."""
    NOTHING_TO_DO = "nothing_to_do"
    """Every box already held the plan."""
    REFUSED = "refused"
    """Error findings stood against the change; no box was touched."""
    FAILED = "failed"
    """An error ended it; no box is between two states."""

    @property
    def final(self) -> bool:
        """Whether the run is over."""
        return self not in UNFINISHED


UNFINISHED = frozenset({RunStatus.PENDING, RunStatus.RUNNING, RunStatus.NEEDS_RECOVERY})


class Verdict(StrEnum):
    """What the measurement said about the objectives."""

    MET = "met"
    BROKEN = "broken"
    INCONCLUSIVE = "inconclusive"


class StageOutcome(StrEnum):
    """How one attempt at a stage ended; an open attempt has none."""

    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    """Its process died; a later attempt took over."""


class JournalAction(StrEnum):
    """What happens to a box, written before and after each touch."""

    ARMED = "armed"
    """The box's own dead-man switch is set."""
    TOUCHING = "touching"
    """The delta is about to be sent."""
    TOUCHED = "touched"
    """The delta was sent and every line answered."""
    READ_BACK = "read_back"
    """The running configuration was read and compared with the plan."""
    FAILED = "failed"
    """The box refused a line, went away or reads back wrong."""
    UNDOING = "undoing"
    """The inverse is about to be sent."""
    INVERSE_APPLIED = "inverse_applied"
    """The inverse was sent and every line answered."""
    CONFIRMED = "confirmed"
    """The change was kept and saved: the box is settled."""
    UNDONE = "undone"
    """The box reads as it did before: it is settled."""


OPENING = frozenset({JournalAction.ARMED, JournalAction.TOUCHING, JournalAction.UNDOING})
"""Actions after which a box may differ from what it was."""

SETTLING = frozenset({JournalAction.CONFIRMED, JournalAction.UNDONE})
"""Actions after which a box is in one known state."""


class UtcDateTime(TypeDecorator[datetime]):
    """An aware moment, stored as ISO 8601 text in UTC with microseconds: it sorts as text."""

    impl = sa.String(32)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> str | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a moment without a time zone cannot be stored")
        return value.astimezone(UTC).isoformat(timespec="microseconds")

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> datetime | None:
        return None if value is None else datetime.fromisoformat(value)


METADATA = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

_ARTIFACT = sa.String(64)
_RUN_ID = sa.String(36)

RUNS = sa.Table(
    "runs",
    METADATA,
    sa.Column("id", _RUN_ID, primary_key=True),
    sa.Column("network", sa.String(128), nullable=False),
    sa.Column("policy", sa.String(128), nullable=False),
    sa.Column("policy_version", sa.String(64), nullable=False),
    sa.Column("status", sa.String(16), nullable=False, index=True),
    sa.Column("verdict", sa.String(16)),
    sa.Column("created", UtcDateTime, nullable=False),
    sa.Column("updated", UtcDateTime, nullable=False),
    sa.Column("params", sa.JSON, nullable=False),
    sa.Column("schema_version", sa.Integer, nullable=False),
)

STAGES = sa.Table(
    "stages",
    METADATA,
    sa.Column("run_id", _RUN_ID, sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("attempt", sa.Integer, primary_key=True),
    sa.Column("started", UtcDateTime, nullable=False),
    sa.Column("ended", UtcDateTime),
    sa.Column("outcome", sa.String(16)),
    sa.Column("summary", sa.JSON, nullable=False),
)

JOURNAL = sa.Table(
    "journal",
    METADATA,
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("run_id", _RUN_ID, sa.ForeignKey("runs.id"), nullable=False),
    sa.Column("device", sa.String(128), nullable=False),
    sa.Column("action", sa.String(24), nullable=False),
    sa.Column("before", _ARTIFACT),
    sa.Column("delta", _ARTIFACT),
    sa.Column("inverse", _ARTIFACT),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.Index("ix_journal_device_run_id", "device", "run_id"),
    sqlite_autoincrement=True,  # a sequence number is never given twice
)

LEASES = sa.Table(
    "leases",
    METADATA,
    sa.Column("network", sa.String(128), primary_key=True),
    sa.Column("device", sa.String(128), primary_key=True),
    sa.Column("run_id", _RUN_ID, sa.ForeignKey("runs.id"), nullable=False, index=True),
    sa.Column("executor", sa.String(64), nullable=False),
    sa.Column("pid", sa.Integer, nullable=False),
    sa.Column("expires", UtcDateTime, nullable=False),
)
