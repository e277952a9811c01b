"""The run store: what each run was created with, how far it came, and how it ended."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

import sqlalchemy as sa

from qosforge.database.connections import OUTAGE_SECONDS, Database
from qosforge.errors import InputError, StoreError
from qosforge.runs.record.baselines import SETTLING, record_baselines
from qosforge.runs.record.decisions import Decision, Decisions
from qosforge.runs.record.end_log import is_end, log_end
from qosforge.runs.record.events import EventKind, Events
from qosforge.runs.record.idempotency import IdempotencyKey
from qosforge.runs.record.ids import new_run_id
from qosforge.runs.record.journal import Journal
from qosforge.runs.record.leases import Leases
from qosforge.runs.record.lineage import RunAction, record_action
from qosforge.runs.record.outcome import outcome_kind
from qosforge.runs.record.reason import NO_REASON, REASONED, Reason, retry
from qosforge.runs.record.resolved_run import ROLLBACK_OF, ResolvedRun
from qosforge.runs.record.run import Run, read_run
from qosforge.runs.record.run_metrics import count_end
from qosforge.runs.record.stages import Stage, Stages, Summary
from qosforge.runs.record.standing import mark_rolled_back
from qosforge.runs.record.status_events import event_fields, next_attempt_columns, status_event_data
from qosforge.runs.record.summaries import StageSummary
from qosforge.runs.record.tables import RUNS, SCHEMA_VERSION, UNFINISHED, WAITING, RunStatus, StageOutcome, Verdict
from qosforge.runs.record.webhook_notices import write_webhook_notices

EMBEDDED_EXECUTOR = "embedded"
"""Name of the one executor that a SQLite installation has."""

_ID = re.compile(r"[0-9a-f-]{1,36}")
_WHOLE_ID = 36


@dataclass(eq=False)
class RunUnknown(InputError):
    """No run, or several, have this id."""


RunChange = Callable[[Run, sa.Connection], Mapping[str, Any] | None]
"""Given a run as it is, locked: the columns to set, or None to leave it. It may write beside, and may raise."""


class RunStore:
    """Runs and stages, with their journal and leases, in one database.

    Safe to share between threads, and between processes that open the same database.
    """

    def __init__(
        self,
        url: str,
        *,
        executor: str = EMBEDDED_EXECUTOR,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        patience: float = OUTAGE_SECONDS,
    ) -> None:
        """Open the store at the SQLAlchemy URL ``url`` (a SQLite file, or PostgreSQL); a new one is made.

        ``patience`` is how many seconds a transaction waits for a server that is away.

        Raises:
            InputError: ``url`` is neither.
            StoreError: it cannot be opened, or a newer or an earlier release wrote it.
        """
        self.database = Database(url, patience=patience)
        self.now = now
        self.events = Events(self.database, now)
        self.journal = Journal(self.database, now, self.events)
        self.leases = Leases(self.database, now, executor)
        self.decisions = Decisions(self.database)
        self._stages = Stages(self.database, now, self.events)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection."""
        self.database.close()

    def create_run(self, network: str, policy: str, policy_version: str, params: Mapping[str, Any]) -> Run:
        """Record a new run by its ``params`` as pending and give it its id."""
        columns = {"network": network, "policy": policy, "policy_version": policy_version, "params": params}
        return self._add(columns, "", None)[0]

    def add_run(
        self, resolved: ResolvedRun, created_by: str, key: IdempotencyKey | None = None
    ) -> tuple[Run, bool]:
        """Record a new run as pending and give it its id; once for a ``key``, where there is one.

        Returns the run, and whether it was newly made.

        Raises:
            KeyReused: the key stands for another request.
        """
        columns = {
            "network": resolved.network_name,
            "policy": resolved.policy,
            "policy_version": resolved.policy_version,
            "params": resolved.params(),
            "ticket": resolved.ticket,
            "source": resolved.source,
            "not_before": resolved.not_before,
            "deadline": resolved.deadline,
        }
        return self._add(columns, created_by, key)

    def _add(self, columns: Mapping[str, Any], created_by: str, key: IdempotencyKey | None) -> tuple[Run, bool]:
        run_id = new_run_id()  # drawn here: a transaction that is repeated must not make a second run

        def work(connection: sa.Connection) -> tuple[Run, bool]:
            known = key.find_run(connection) if key else None
            same = sa.select(RUNS).where(RUNS.c.id == (known or run_id))
            made = connection.execute(same).one_or_none()
            if made is not None:
                return read_run(made), made.id == run_id
            run = self._insert(connection, run_id, columns, created_by)
            if key is not None:
                key.take(connection, run_id, run.created)
            return run, True

        try:
            return self.database.transact(work)
        except sa.exc.IntegrityError:
            # Another process took the key between our look and our row; its transaction has ended by now.
            if key is None:
                raise
            return self.database.transact(work)

    def _insert(self, connection: sa.Connection, run_id: str, columns: Mapping[str, Any], created_by: str) -> Run:
        now = self.now()
        row = {
            **columns,
            "id": run_id,
            "requested_by": created_by,
            "status": RunStatus.PENDING.value,
            "created": now,
            "updated": now,
            "schema_version": SCHEMA_VERSION,
        }
        run = read_run(connection.execute(sa.insert(RUNS).values(row).returning(*RUNS.c)).one())
        if created_by:
            record_action(connection, run.id, RunAction.CREATED, created_by, now)
        self._tell(connection, run, created_by)
        return run

    def get_run(self, run_id: str) -> Run:
        """The run with this id, or with the only id that begins so.

        Raises:
            RunUnknown: no run, or several, have it.
        """
        wanted = run_id.lower()
        rows: list[sa.Row[Any]] = []
        if _ID.fullmatch(wanted):
            same = RUNS.c.id == wanted if len(wanted) == _WHOLE_ID else RUNS.c.id.startswith(wanted)
            rows = self.database.query(
                lambda connection: list(connection.execute(sa.select(RUNS).where(same).limit(2)))
            )
        if len(rows) != 1:
            found = "several runs begin with" if rows else "there is no run"
            raise RunUnknown(f"{found} {run_id[:64]!r}", hint="list the runs with `qosforge runs`")
        return read_run(rows[0])

    def runs_by_id(self, run_ids: Collection[str]) -> dict[str, Run]:
        """These runs, by their whole ids; without those that there are not."""
        query = sa.select(RUNS).where(RUNS.c.id.in_(sorted(run_ids)))
        found = self.database.query(lambda connection: list(map(read_run, connection.execute(query))))
        return {run.id: run for run in found}

    def list_runs(
        self,
        limit: int = 20,
        *,
        networks: Collection[str] | None = None,
        status: RunStatus | None = None,
        policy: str | None = None,
        verdict: Verdict | None = None,
        requested_by: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        before: str | None = None,
        after: str | None = None,
    ) -> list[Run]:
        """The newest runs, newest first: between the runs ``after`` and ``before``, and of what else is given.

        ``since`` is the earliest moment at which a run was created, ``until`` the first that is too late.
        """
        query = sa.select(RUNS).order_by(RUNS.c.id.desc()).limit(limit)
        wanted = {"status": status, "policy": policy, "verdict": verdict}
        for column, value in {**wanted, "requested_by": requested_by}.items():
            if value is not None:
                query = query.where(RUNS.c[column] == str(value))
        if networks is not None:
            query = query.where(RUNS.c.network.in_(sorted(networks)))
        if since is not None:
            query = query.where(RUNS.c.created >= since)
        if until is not None:
            query = query.where(RUNS.c.created < until)
        if before is not None:
            query = query.where(RUNS.c.id < before)
        if after is not None:
            query = query.where(RUNS.c.id > after)
        return self.database.query(lambda connection: [read_run(row) for row in connection.execute(query)])

    def rollbacks_of(self, run_ids: Collection[str]) -> list[Run]:
        """The runs that were started to roll back one of these, newest first."""
        if not run_ids:
            return []
        of = RUNS.c.params[ROLLBACK_OF].as_string()
        query = sa.select(RUNS).where(RUNS.c.id > min(run_ids), of.in_(sorted(run_ids))).order_by(RUNS.c.id.desc())
        return self.database.query(lambda connection: [read_run(row) for row in connection.execute(query)])

    def unfinished_runs(self) -> list[Run]:
        """Runs that are not over, oldest first."""
        return self.runs_in(UNFINISHED)

    def runs_in(self, statuses: Collection[RunStatus]) -> list[Run]:
        """Runs in one of these statuses, oldest first."""
        query = sa.select(RUNS).where(RUNS.c.status.in_(sorted(statuses))).order_by(RUNS.c.id)
        return self.database.query(lambda connection: [read_run(row) for row in connection.execute(query)])

    def due_runs(self) -> list[Run]:
        """Waiting runs whose moment has come, the longest due first."""
        query = sa.select(RUNS).where(self._due()).order_by(RUNS.c.due)
        return self.database.query(lambda connection: [read_run(row) for row in connection.execute(query)])

    def any_to_begin(self) -> bool:
        """Whether a run is to begin, or one waits for a moment that has come: also for its devices to be tried."""
        moment = RUNS.c.status.in_(sorted(WAITING | {RunStatus.NEEDS_RECOVERY})) & (RUNS.c.due <= self.now())
        run = sa.exists().where((RUNS.c.status == RunStatus.PENDING.value) | moment)
        return bool(self.database.query(lambda connection: connection.scalar(sa.select(run))))

    def _due(self) -> sa.ColumnElement[bool]:
        return RUNS.c.status.in_(sorted(WAITING)) & (RUNS.c.due <= self.now())

    def change(
        self, run_id: str, change: RunChange, by: tuple[str, RunAction] | str = "", *, settles: bool = False
    ) -> Run:
        """Look at a run and set columns of it, in one transaction that nobody gets in between.

        A change of status, attempt or what it waits for becomes an event, caused ``by`` somebody or by nobody; with
        an action, who caused it has a hand in what the run does from then on. An end is a line of the log, too.
        ``settles``: its devices were put back after its attempt was over, even if it was not seen half-way.

        Raises:
            ValueError: it would end the run without its change, and without a reason.
            RunUnknown: there is no such run.
        """

        seen: list[RunStatus] = []

        def work(connection: sa.Connection) -> Run:
            locked = sa.select(RUNS).where(RUNS.c.id == run_id).with_for_update(key_share=True)
            row = connection.execute(locked).one_or_none()
            if row is None:
                raise RunUnknown(f"there is no run {run_id[:64]!r}", hint="list the runs with `qosforge runs`")
            run = read_run(row)
            seen.append(run.status)
            values = change(run, connection)
            if values is None:
                return run
            status = RunStatus(values.get("status", run.status))
            if status in REASONED and status is not run.status and not values.get("reason"):
                raise ValueError(f"run {run_id} cannot become {status} without a reason")
            outcome = _outcome_of(run, status, values, settles=settles)
            columns = {**outcome, **values, "updated": self.now()}
            update = sa.update(RUNS).where(RUNS.c.id == run_id).values(columns)
            changed = read_run(connection.execute(update.returning(*RUNS.c)).one())
            mark_rolled_back(connection, run, changed)
            if changed.status is not run.status and changed.status in SETTLING:
                record_baselines(connection, changed)
            who, action = by if isinstance(by, tuple) else (by, None)
            if action is not None:
                record_action(connection, run_id, action, who, changed.updated)
            if event_fields(changed) != event_fields(run):
                write_webhook_notices(connection, run, changed)
                self._tell(connection, changed, who)
            return changed

        changed = self.database.transact(work)
        if changed.status != seen[0] and is_end(changed.status):  # by the first look: an answer may be lost
            stages = self.stages(run_id)
            log_end(changed, stages)
            count_end(changed, stages)
        return changed

    def set_status(
        self,
        run_id: str,
        status: RunStatus,
        verdict: Verdict | None = None,
        *,
        attempt: int | None = None,
        reason: Reason | None = None,
        waits_for: str = "",
        due: datetime | None = None,
    ) -> Run:
        """Move a run on; a verdict once given stays unless another is given. Some statuses take a ``reason``.

        Saying the same again changes nothing, so a repeated step may; neither does what an ``attempt`` says that
        is not the run's last.

        Raises:
            RunUnknown: there is no such run.
            StoreError: the run is over, and in another way.
        """

        def move(run: Run, _connection: sa.Connection) -> Mapping[str, Any] | None:
            if attempt not in (None, run.attempt):
                return None
            if run.status == status and verdict in (None, run.verdict) and not status.waiting:
                return None
            if run.status.final:
                raise StoreError(f"run {run_id} is over ({run.status}) and cannot become {status}")
            if status.waiting and run.cancelled_by is not None:
                # Asked to stop while it was on its way to waiting: no check point comes any more.
                stopped = Reason(f"cancelled by {run.cancelled_by}", "gate", retry(run_id))
                return {"status": RunStatus.CANCELLED.value, **stopped.columns()}
            values = {"status": status.value, "verdict": verdict or run.verdict}
            told = reason.columns() if reason is not None else NO_REASON
            return {**values, **told, "waits_for": waits_for, "due": due}

        return self.change(run_id, move)

    def begin_attempt(self, run_id: str, attempt: int) -> Run | None:
        """Take a pending run up, or go on with it; ``None`` when this attempt at it is over."""

        def begin(run: Run, _connection: sa.Connection) -> Mapping[str, Any] | None:
            pending = run.attempt == attempt and run.status is RunStatus.PENDING
            return {"status": RunStatus.RUNNING.value} if pending else None

        run = self.change(run_id, begin)
        return run if run.attempt == attempt and run.status is RunStatus.RUNNING else None

    def next_attempt(self, run: Run) -> bool:
        """Let a run, as it was seen, begin another attempt from the beginning; False when it has moved since."""
        moved = False

        def again(now: Run, _connection: sa.Connection) -> Mapping[str, Any] | None:
            nonlocal moved
            moved = (now.attempt, now.status) == (run.attempt, run.status)
            return next_attempt_columns("read", now) if moved else None

        self.change(run.id, again)
        return moved

    def begin_stage(self, run_id: str, name: str) -> Stage:
        """Open the next attempt at a stage; see `Stages.begin`."""
        return self._stages.begin(run_id, name)

    def end_stage(self, stage: Stage, outcome: StageOutcome, summary: StageSummary) -> Stage:
        """Close an attempt with what came of it; see `Stages.end`."""
        return self._stages.end(stage, outcome, summary)

    def stage(self, run_id: str, name: str, summary: Summary) -> AbstractContextManager[Summary]:
        """One attempt at a stage around a block; see `Stages.stage`."""
        return self._stages.stage(run_id, name, summary)

    def stages(self, run_id: str) -> list[Stage]:
        """Every attempt at every stage of a run, in the order they began."""
        return self._stages.of(run_id)

    def decide(self, connection: sa.Connection, decision: Decision) -> None:
        """Write a decision and its event, in a transaction that changes the run."""
        self.decisions.write(connection, decision)
        data = {field: getattr(decision, field) for field in ("approved", "by", "candidate", "comment")}
        self.events.write(connection, decision.run_id, EventKind.DECISION, data)

    def _tell(self, connection: sa.Connection, run: Run, by: str) -> None:
        self.events.write(connection, run.id, EventKind.STATUS, status_event_data(run) | ({"by": by} if by else {}))
        self.database.announce(connection)


def _outcome_of(run: Run, status: RunStatus, values: Mapping[str, Any], *, settles: bool) -> dict[str, str]:
    """What a run comes to that changes its status."""
    if status is run.status:
        return {}
    kind = outcome_kind(
        status,
        values.get("outcome_advice", ""),
        rolls_back=run.rollback_of is not None,
        was_half_way=settles or run.status is RunStatus.NEEDS_RECOVERY,
    )
    return {"outcome_kind": kind.value if kind else ""}
