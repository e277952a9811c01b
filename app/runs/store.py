"""The run store: what was asked, how far it came, what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

import sqlalchemy as sa

from app.database.connections import Database
from app.errors import InputError, StoreError
from app.runs.ids import new_run_id
from app.runs.journal import Journal
from app.runs.leases import Leases
from app.runs.tables import RUNS, SCHEMA_VERSION, STAGES, UNFINISHED, RunStatus, StageOutcome, Verdict

EMBEDDED_EXECUTOR = "embedded"
"""Name of the one executor that a SQLite installation has."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run. ``policy_version`` is the hash of the policy's canonical form; ``params`` is plain JSON.

    ``attempt`` counts from 1; ``source`` is the Git commit of its policy (``repository``, ``commit``, ``path``)
    where it has one; ``not_before`` is when it may push at the earliest, ``deadline`` when it gives up. A run that
    waits is looked at again when ``due`` has come, and ``waits_for`` says in words what for.
    """

    id: str
    network: str
    policy: str
    policy_version: str
    status: RunStatus
    verdict: Verdict | None
    created: datetime
    updated: datetime
    params: dict[str, Any]
    schema_version: int
    attempt: int
    requested_by: str
    ticket: str
    source: dict[str, str] | None
    not_before: datetime | None
    deadline: datetime | None
    due: datetime | None
    waits_for: str
    cancelled_by: str | None


@dataclass(frozen=True, slots=True)
class Stage:
    """One attempt at one stage; ``summary`` is small plain JSON, large things are artifact ids in it."""

    run_id: str
    name: str
    attempt: int
    started: datetime
    ended: datetime | None
    outcome: StageOutcome | None
    summary: dict[str, Any]


class RunStore:
    """Runs and stages, with their journal and leases, in one database.

    Safe to share between threads, and between processes that open the same file.
    """

    def __init__(
        self,
        url: str,
        *,
        executor: str = EMBEDDED_EXECUTOR,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Open the store at the SQLAlchemy URL ``url`` (a SQLite file, or PostgreSQL), migrating it if it is older.

        Raises:
            InputError: ``url`` is neither.
            StoreError: it cannot be opened, or a newer release wrote it.
        """
        self._database = Database(url)
        self._now = now
        self.journal = Journal(self._database, now)
        self.leases = Leases(self._database, now, executor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection."""
        self._database.close()

    def create_run(self, network: str, policy: str, policy_version: str, params: Mapping[str, Any]) -> Run:
        """Record a new run as pending and give it its id."""
        now = self._now()
        row = {
            "id": new_run_id(),
            "network": network,
            "policy": policy,
            "policy_version": policy_version,
            "status": RunStatus.PENDING.value,
            "created": now,
            "updated": now,
            "params": dict(params),
            "schema_version": SCHEMA_VERSION,
        }
        with self._database.write() as connection:
            return _run(connection.execute(sa.insert(RUNS).values(row).returning(*RUNS.c)).one())

    def get_run(self, run_id: str) -> Run:
        """The run with this id, or with the only id that begins so.

        Raises:
            InputError: no run, or several, have it.
        """
        query = sa.select(RUNS).where(RUNS.c.id.startswith(run_id.lower(), autoescape=True)).limit(2)
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        if len(rows) != 1 or not run_id:
            found = "several runs begin with" if rows else "there is no run"
            raise InputError(f"{found} {run_id!r}", mend="list the runs with `qosforge runs`")
        return _run(rows[0])

    def list_runs(self, limit: int = 20, network: str | None = None) -> list[Run]:
        """The newest runs (of one network), newest first."""
        query = sa.select(RUNS).order_by(RUNS.c.id.desc()).limit(limit)
        if network is not None:
            query = query.where(RUNS.c.network == network)
        with self._database.read() as connection:
            return [_run(row) for row in connection.execute(query)]

    def unfinished_runs(self) -> list[Run]:
        """Runs that are not over, oldest first."""
        unfinished = [status.value for status in UNFINISHED]
        query = sa.select(RUNS).where(RUNS.c.status.in_(unfinished)).order_by(RUNS.c.id)
        with self._database.read() as connection:
            return [_run(row) for row in connection.execute(query)]

    def set_status(self, run_id: str, status: RunStatus, verdict: Verdict | None = None) -> Run:
        """Move a run on; a verdict once given stays unless another is given.

        Saying the same again changes nothing, so a repeated step may.

        Raises:
            InputError: there is no such run.
            StoreError: the run is over, and in another way.
        """
        with self._database.write() as connection:
            row = connection.execute(sa.select(RUNS).where(RUNS.c.id == run_id)).one_or_none()
            if row is None:
                raise InputError(f"there is no run {run_id!r}", mend="list the runs with `qosforge runs`")
            run = _run(row)
            if run.status == status and verdict in (None, run.verdict):
                return run
            if run.status.final:
                raise StoreError(f"run {run_id} is over ({run.status}) and cannot become {status}")
            changed = (
                sa.update(RUNS)
                .where(RUNS.c.id == run_id)
                .values(status=status.value, verdict=verdict or run.verdict, updated=self._now())
                .returning(*RUNS.c)
            )
            return _run(connection.execute(changed).one())

    def begin_stage(self, run_id: str, name: str) -> Stage:
        """Open the next attempt at a stage; an attempt that was still open becomes ``interrupted``.

        Raises:
            sqlalchemy.exc.IntegrityError: there is no such run.
        """
        now = self._now()
        same = (STAGES.c.run_id == run_id) & (STAGES.c.name == name)
        with self._database.write() as connection:
            connection.execute(
                sa.update(STAGES)
                .where(same, STAGES.c.ended.is_(None))
                .values(ended=now, outcome=StageOutcome.INTERRUPTED.value)
            )
            attempts = connection.scalar(sa.select(sa.func.max(STAGES.c.attempt)).where(same))
            row: dict[str, Any] = {
                "run_id": run_id,
                "name": name,
                "attempt": (attempts or 0) + 1,
                "started": now,
                "summary": {},
            }
            return _stage(connection.execute(sa.insert(STAGES).values(row).returning(*STAGES.c)).one())

    def end_stage(self, stage: Stage, outcome: StageOutcome, summary: Mapping[str, Any]) -> Stage:
        """Close an attempt with what came of it.

        Raises:
            StoreError: it was closed before.
        """
        closed = (
            sa.update(STAGES)
            .where(
                STAGES.c.run_id == stage.run_id,
                STAGES.c.name == stage.name,
                STAGES.c.attempt == stage.attempt,
                STAGES.c.ended.is_(None),
            )
            .values(ended=self._now(), outcome=outcome.value, summary=dict(summary))
            .returning(*STAGES.c)
        )
        with self._database.write() as connection:
            row = connection.execute(closed).one_or_none()
        if row is None:
            raise StoreError(f"attempt {stage.attempt} at {stage.name} of run {stage.run_id} is not open")
        return _stage(row)

    @contextmanager
    def stage(self, run_id: str, name: str) -> Iterator[dict[str, Any]]:
        """One attempt at a stage around a block, which fills the summary it is given.

        An exception closes it as failed, with its text under ``error``; when the process is stopped the
        attempt stays open, and the next one marks it ``interrupted``.
        """
        attempt = self.begin_stage(run_id, name)
        summary: dict[str, Any] = {}
        try:
            yield summary
        except Exception as error:
            self.end_stage(attempt, StageOutcome.FAILED, {**summary, "error": str(error)})
            raise
        self.end_stage(attempt, StageOutcome.DONE, summary)

    def stages(self, run_id: str) -> list[Stage]:
        """Every attempt at every stage of a run, in the order they began."""
        query = (
            sa.select(STAGES)
            .where(STAGES.c.run_id == run_id)
            .order_by(STAGES.c.started, STAGES.c.name, STAGES.c.attempt)
        )
        with self._database.read() as connection:
            return [_stage(row) for row in connection.execute(query)]


def _run(row: sa.Row[Any]) -> Run:
    fields = dict(row._mapping)
    verdict = fields["verdict"]
    return Run(
        **{
            **fields,
            "status": RunStatus(fields["status"]),
            "verdict": None if verdict is None else Verdict(verdict),
        }
    )


def _stage(row: sa.Row[Any]) -> Stage:
    fields = dict(row._mapping)
    outcome = fields["outcome"]
    return Stage(**{**fields, "outcome": None if outcome is None else StageOutcome(outcome)})
