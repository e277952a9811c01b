"""Tables of the run store, and the closed vocabularies that its columns hold."""

from __future__ import annotations

from enum import StrEnum

import sqlalchemy as sa

from qosforge.database.schema import ARTIFACT_ID, METADATA, NAME, RUN_ID, SEQUENCE, UtcDateTime

SCHEMA_VERSION = 1
"""Version of a run's ``params`` and of its stages' summaries."""


class RunStatus(StrEnum):
    """Where a run stands. The measured outcome is its :class:`Verdict`, kept apart."""

    PENDING = "pending"
    """Recorded, and waiting for a process to take it up."""
    RUNNING = "running"
    """A process is at it, or was until it died."""
    NEEDS_APPROVAL = "needs_approval"
    """Prepared; somebody has to approve what it would do. No device is touched or held."""
    SCHEDULED = "scheduled"
    """Prepared and approved; it waits for its time or for a change window. No device is touched or held."""
    NEEDS_RECOVERY = "needs_recovery"
    """It stopped with a device between two states; ``qosforge recover`` finishes it."""
    KEPT = "kept"
    """The change stands on every device and is saved."""
    ROLLED_BACK = "rolled_back"
    """Every touched device is as it was before."""
    NO_CHANGES = "no_changes"
    """Every device already held the plan."""
    REJECTED = "rejected"
    """Error findings stood against the change; no device was touched."""
    FAILED = "failed"
    """An error ended it; no device is between two states."""
    CANCELLED = "cancelled"
    """Somebody stopped or rejected it; what it had touched is as it was before."""

    @property
    def final(self) -> bool:
        """Whether the run is over."""
        return self not in UNFINISHED

    @property
    def waiting(self) -> bool:
        """Whether nothing is at work on the run until a decision or a moment."""
        return self in WAITING


IN_FORCE = frozenset({RunStatus.KEPT, RunStatus.NO_CHANGES})
"""Of a run after which the devices hold what it asks for: it entered that, or found it."""

UNFINISHED = frozenset(
    {
        RunStatus.PENDING,
        RunStatus.RUNNING,
        RunStatus.NEEDS_APPROVAL,
        RunStatus.SCHEDULED,
        RunStatus.NEEDS_RECOVERY,
    }
)

WAITING = frozenset({RunStatus.NEEDS_APPROVAL, RunStatus.SCHEDULED})
"""Nothing is at work on these: a decision or a moment lets them go on, as another attempt."""


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
    """Its process died, and a later attempt took over; or the run had to stop in its midst."""


class JournalAction(StrEnum):
    """What happens to a device, written before and after each touch."""

    ARMED = "armed"
    """The device's own commit-confirm timer is set."""
    TOUCHING = "touching"
    """The delta is about to be sent."""
    TOUCHED = "touched"
    """The delta was sent and every line answered."""
    READ_BACK = "read_back"
    """The running configuration was read and compared with the plan."""
    FAILED = "failed"
    """The device refused a line, went away or reads back wrong."""
    UNDOING = "undoing"
    """The inverse is about to be sent."""
    INVERSE_APPLIED = "inverse_applied"
    """The inverse was sent and every line answered, or the device's own rollback was."""
    CONFIRMED = "confirmed"
    """The change was kept and saved: the device is settled."""
    UNDONE = "undone"
    """The device reads as it did before: it is settled."""


OPENING = frozenset({JournalAction.ARMED, JournalAction.TOUCHING, JournalAction.UNDOING})
"""Actions after which a device may differ from what it was."""

CHANGING = frozenset({JournalAction.ARMED, JournalAction.TOUCHED, JournalAction.INVERSE_APPLIED})
"""Actions that show that something was entered into a device."""

SETTLING = frozenset({JournalAction.CONFIRMED, JournalAction.UNDONE})
"""Actions after which a device is in one known state."""


RUNS = sa.Table(
    "runs",
    METADATA,
    sa.Column("id", RUN_ID, primary_key=True),
    sa.Column("network", NAME, nullable=False),
    sa.Column("policy", NAME, nullable=False),
    sa.Column("policy_version", sa.String(64), nullable=False),
    sa.Column("status", sa.String(16), nullable=False, index=True),
    sa.Column("verdict", sa.String(16)),
    sa.Column("created", UtcDateTime, nullable=False),
    sa.Column("updated", UtcDateTime, nullable=False),
    sa.Column("params", sa.JSON, nullable=False),
    sa.Column("schema_version", sa.Integer, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False, server_default="1"),
    sa.Column("requested_by", NAME, nullable=False, server_default=""),
    sa.Column("ticket", sa.String(64), nullable=False, server_default=""),
    sa.Column("source", sa.JSON),
    sa.Column("not_before", UtcDateTime),
    sa.Column("deadline", UtcDateTime),
    sa.Column("due", UtcDateTime, index=True),
    sa.Column("waits_for", sa.Text, nullable=False, server_default=""),
    sa.Column("cancelled_by", NAME),
    sa.Column("start", sa.String(24), nullable=False, server_default="read"),
    sa.Column("reason", sa.Text, nullable=False, server_default=""),
    sa.Column("reason_step", sa.Text, nullable=False, server_default=""),
    sa.Column("reason_device", sa.Text, nullable=False, server_default=""),
    sa.Column("reason_hint", sa.Text, nullable=False, server_default=""),
    sa.Column("outcome_kind", sa.String(24), nullable=False, server_default=""),
    sa.Column("outcome_reasons", sa.JSON(none_as_null=True)),
    sa.Column("outcome_advice", sa.String(24), nullable=False, server_default=""),
    sa.Column("settle_first", RUN_ID, sa.ForeignKey("runs.id"), index=True),
    sa.Column("rolled_back_by", RUN_ID, sa.ForeignKey("runs.id"), index=True),
    sa.Index("ix_runs_network_id", "network", "id"),
    sa.Index("ix_runs_policy_id", "policy", "id"),
    sa.Index("ix_runs_network_policy_id", "network", "policy", "id"),
    sa.Index("ix_runs_network_policy_version", "network", "policy_version"),
)
"""``attempt``: how often it was begun; ``source``: the Git commit of its policy, where it has one; ``due``: when a
waiting run is looked at again, or the devices of one that stopped half-way; ``cancelled_by``: who asked that it
stop; ``start``: the stage that this attempt begins at; ``reason``: why the run ended without its change or stopped,
with the step, the device and the way on, in words. ``outcome_*``, ``settle_first`` and ``rolled_back_by`` are the
same typed: see `qosforge.run_outcome`.
"""

APPROVALS = sa.Table(
    "approvals",
    METADATA,
    sa.Column("seq", SEQUENCE, primary_key=True, autoincrement=True),
    sa.Column("run_id", RUN_ID, sa.ForeignKey("runs.id"), nullable=False, index=True),
    sa.Column("candidate", ARTIFACT_ID, nullable=False),
    sa.Column("approved", sa.Boolean, nullable=False),
    sa.Column("by", NAME, nullable=False),
    sa.Column("comment", sa.Text, nullable=False),
    sa.Column("at", UtcDateTime, nullable=False),
    sqlite_autoincrement=True,
)
"""Decisions on what a run would do; ``candidate`` is the artifact that lists every device's delta."""

RUN_ACTIONS = sa.Table(
    "run_deeds",
    METADATA,
    sa.Column("seq", SEQUENCE, primary_key=True, autoincrement=True),
    sa.Column("run_id", RUN_ID, sa.ForeignKey("runs.id"), nullable=False, index=True),
    sa.Column("deed", sa.String(16), nullable=False),
    sa.Column("by", NAME, nullable=False),
    sa.Column("at", UtcDateTime, nullable=False),
    sqlite_autoincrement=True,
)
"""What people did to runs beside deciding on them: they have a hand in the change. Kept when events are dropped."""

EVENTS = sa.Table(
    "events",
    METADATA,
    sa.Column("seq", SEQUENCE, primary_key=True, autoincrement=True),
    sa.Column("run_id", RUN_ID, sa.ForeignKey("runs.id"), nullable=False),
    sa.Column("kind", sa.String(24), nullable=False),
    sa.Column("data", sa.JSON, nullable=False),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.Index("ix_events_run_id_seq", "run_id", "seq"),
    sqlite_autoincrement=True,
)
"""What happened to a run, for who watches it."""

IDEMPOTENCY_KEYS = sa.Table(
    "idempotency_keys",
    METADATA,
    sa.Column("requested_by", NAME, primary_key=True),
    sa.Column("key", sa.String(255), primary_key=True),
    sa.Column("request", ARTIFACT_ID, nullable=False),
    sa.Column("run_id", RUN_ID, sa.ForeignKey("runs.id"), nullable=False),
    sa.Column("at", UtcDateTime, nullable=False),
)
"""``request`` is the SHA-256 of what was asked for under the key."""

EXECUTORS = sa.Table(
    "executors",
    METADATA,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("host", sa.String(255), nullable=False),
    sa.Column("pid", sa.Integer, nullable=False),
    sa.Column("workflow_version", sa.String(32), nullable=False),
    sa.Column("started", UtcDateTime, nullable=False),
    sa.Column("expires", UtcDateTime, nullable=False),
)
"""Leases of the processes that carry out runs. Where one ran out, its process is dead and others take its runs."""

EXTERNAL_MEASUREMENTS = sa.Table(
    "outside_measurements",
    METADATA,
    sa.Column("run_id", RUN_ID, sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("side", sa.String(8), primary_key=True),
    sa.Column("tester", NAME, nullable=False),
    sa.Column("measurement", ARTIFACT_ID, nullable=False),
    sa.Column("at", UtcDateTime, nullable=False),
)
"""What an external tester gave for one side of a run: ``before`` or ``after``."""

STAGES = sa.Table(
    "stages",
    METADATA,
    sa.Column("run_id", RUN_ID, sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("attempt", sa.Integer, primary_key=True),
    sa.Column("started", UtcDateTime, nullable=False),
    sa.Column("ended", UtcDateTime),
    sa.Column("outcome", sa.String(16)),
    sa.Column("summary", sa.JSON, nullable=False),
    sa.Column("run_attempt", sa.Integer, nullable=False, server_default="1"),
)
"""``attempt`` counts the tries at this stage, ``run_attempt`` says in which attempt of the run."""

READINGS = sa.Table(
    "readings",
    METADATA,
    sa.Column("network", NAME, primary_key=True),
    sa.Column("device", NAME, primary_key=True),
    sa.Column("run_id", RUN_ID, sa.ForeignKey("runs.id")),
    sa.Column("artifact", ARTIFACT_ID, nullable=False),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.Column("unsaved", sa.JSON(none_as_null=True)),
)
"""The last reading of every device: its running configuration, and the run that read it; none where a person asked.

``unsaved`` lists the lines by which it was not what startup has, as they may be shown, where these stand in the way
of a push (`qosforge.deploy.unsaved`); null where that is not known.
"""

BASELINES = sa.Table(
    "baselines",
    METADATA,
    sa.Column("network", NAME, primary_key=True),
    sa.Column("device", NAME, primary_key=True),
    sa.Column("run_id", RUN_ID, sa.ForeignKey("runs.id"), nullable=False),
    sa.Column("artifact", ARTIFACT_ID, nullable=False),
    sa.Column("at", UtcDateTime, nullable=False),
)
"""The last reading of every device by a run that settled it (`qosforge.runs.record.baselines`)."""

JOURNAL = sa.Table(
    "journal",
    METADATA,
    sa.Column("seq", SEQUENCE, primary_key=True, autoincrement=True),
    sa.Column("run_id", RUN_ID, sa.ForeignKey("runs.id"), nullable=False),
    sa.Column("device", NAME, nullable=False),
    sa.Column("action", sa.String(24), nullable=False),
    sa.Column("before", ARTIFACT_ID),
    sa.Column("delta", ARTIFACT_ID),
    sa.Column("inverse", ARTIFACT_ID),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.Index("ix_journal_device_run_id", "device", "run_id"),
    sa.Index("ix_journal_run_id_seq", "run_id", "seq"),
    sqlite_autoincrement=True,  # a sequence number is never given twice
)

LEASES = sa.Table(
    "leases",
    METADATA,
    sa.Column("network", NAME, primary_key=True),
    sa.Column("device", NAME, primary_key=True),
    sa.Column("run_id", RUN_ID, sa.ForeignKey("runs.id"), nullable=False, index=True),
    sa.Column("executor", sa.String(64), nullable=False),
    sa.Column("pid", sa.Integer, nullable=False),
    sa.Column("expires", UtcDateTime, nullable=False),
)
