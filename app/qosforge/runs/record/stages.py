"""Stages of runs: every attempt at a stage with its times, outcome and summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import sqlalchemy as sa

from qosforge.database.connections import Database
from qosforge.errors import StoreError
from qosforge.runs.record.events import EventKind, Events
from qosforge.runs.record.readings import record_stage_readings
from qosforge.runs.record.run_metrics import count_stage
from qosforge.runs.record.stop_signal import RunStopped
from qosforge.runs.record.summaries import StageSummary, parse_summary
from qosforge.runs.record.tables import RUNS, STAGES, StageOutcome
from qosforge.telemetry.traces import span

Summary = TypeVar("Summary", bound=StageSummary)


@dataclass(frozen=True, slots=True)
class Stage:
    """One attempt at one stage; ``run_attempt`` is the attempt of the run that it belongs to."""

    run_id: str
    name: str
    attempt: int
    started: datetime
    ended: datetime | None
    outcome: StageOutcome | None
    summary: StageSummary
    run_attempt: int


class Stages:
    """The stages of every run."""

    def __init__(self, database: Database, now: Callable[[], datetime], events: Events) -> None:
        self._database = database
        self._now = now
        self._events = events

    def begin(self, run_id: str, name: str, summary: StageSummary | None = None) -> Stage:
        """Open the next attempt at a stage; an attempt that was still open becomes ``interrupted``.

        ``summary`` is what is known of it already.

        Raises:
            sqlalchemy.exc.IntegrityError: there is no such run.
        """
        now = self._now()
        same = (STAGES.c.run_id == run_id) & (STAGES.c.name == name)

        def work(connection: sa.Connection) -> Stage:
            connection.execute(
                sa.update(STAGES)
                .where(same, STAGES.c.ended.is_(None))
                .values(ended=now, outcome=StageOutcome.INTERRUPTED.value)
            )
            attempts = connection.scalar(sa.select(sa.func.max(STAGES.c.attempt)).where(same))
            run_attempt = connection.scalar(sa.select(RUNS.c.attempt).where(RUNS.c.id == run_id))
            row: dict[str, Any] = {
                "run_id": run_id,
                "name": name,
                "attempt": (attempts or 0) + 1,
                "started": now,
                "summary": summary.document() if summary else {},
                "run_attempt": run_attempt or 1,
            }
            stage = _stage(connection.execute(sa.insert(STAGES).values(row).returning(*STAGES.c)).one())
            self._tell(connection, stage)
            return stage

        return self._database.transact(work)

    def end(self, stage: Stage, outcome: StageOutcome, summary: StageSummary) -> Stage:
        """Close an attempt with what came of it; saying the same again changes nothing.

        Raises:
            StoreError: it was closed before, and otherwise.
        """
        this = (
            (STAGES.c.run_id == stage.run_id) & (STAGES.c.name == stage.name) & (STAGES.c.attempt == stage.attempt)
        )
        closed = sa.update(STAGES).where(this, STAGES.c.ended.is_(None))
        now = self._now()
        document = summary.document()
        values = {"ended": now, "outcome": outcome.value, "summary": document}
        newly = False

        def work(connection: sa.Connection) -> Stage:
            nonlocal newly
            row = connection.execute(closed.values(values).returning(*STAGES.c)).one_or_none()
            if row is None:
                held = connection.execute(sa.select(STAGES).where(this)).one_or_none()
                if held is not None and (held.outcome, held.summary) == (outcome.value, document):
                    return _stage(held)
                raise StoreError(f"attempt {stage.attempt} at {stage.name} of run {stage.run_id} is not open")
            newly = True
            ended = _stage(row)
            if ended.outcome is StageOutcome.DONE:
                record_stage_readings(connection, ended.run_id, ended.summary, now)
            self._tell(connection, ended)
            return ended

        ended = self._database.transact(work)
        if newly:
            count_stage(ended)
        return ended

    @contextmanager
    def stage(self, run_id: str, name: str, summary: Summary) -> Iterator[Summary]:
        """One attempt at a stage around a block, which fills its summary; what that has before can be read at once.

        An exception closes it as failed, with its text as the summary's ``error``. `RunStopped` closes it as
        interrupted: the run says why. When the process is stopped the attempt stays open, and the next one marks it
        ``interrupted``.
        """
        attempt = self.begin(run_id, name, summary)
        try:
            with span(f"stage {name}", run_id=run_id, attempt=attempt.attempt):
                yield summary
        except RunStopped:
            self.end(attempt, StageOutcome.INTERRUPTED, summary)
            raise
        except Exception as error:
            summary.error = str(error)
            self.end(attempt, StageOutcome.FAILED, summary)
            raise
        self.end(attempt, StageOutcome.DONE, summary)

    def of(self, run_id: str) -> list[Stage]:
        """Every attempt at every stage of a run, in the order they began."""
        query = (
            sa.select(STAGES)
            .where(STAGES.c.run_id == run_id)
            .order_by(STAGES.c.started, STAGES.c.name, STAGES.c.attempt)
        )
        return self._database.query(lambda connection: [_stage(row) for row in connection.execute(query)])

    def _tell(self, connection: sa.Connection, stage: Stage) -> None:
        outcome = stage.outcome.value if stage.outcome else None
        data = {"stage": stage.name, "attempt": stage.attempt, "outcome": outcome}
        self._events.write(connection, stage.run_id, EventKind.STAGE, data)


def _stage(row: sa.Row[Any]) -> Stage:
    fields = dict(row._mapping)
    outcome = fields["outcome"]
    known = {
        "outcome": None if outcome is None else StageOutcome(outcome),
        "summary": parse_summary(fields["name"], fields["summary"]),
    }
    return Stage(**{**fields, **known})
