"""The dispatcher: compares the rows of runs with the engine's workflows, and moves every run on to an end.

It keeps nothing in memory that a run depends on, and whatever it does may be done twice: a workflow is known by
the run's id and attempt, and an attempt begins by compare-and-set. So a process may die between any two lines.
On PostgreSQL every executor has one, and one of them at a time looks.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import sqlalchemy as sa

from qosforge.runs.engine.executor_leases import live_executors, prune_executors
from qosforge.runs.engine.port import MAX_RECOVERY_ATTEMPTS, Engine, UnfinishedWorkflow, WorkflowState
from qosforge.runs.engine.workflow_ids import SETTLE, WORKFLOW, run_of, settled_by, settling_id, workflow_id
from qosforge.runs.record.interruption import interrupted_outcome
from qosforge.runs.record.next_try import FIRST_PAUSE, LONGEST_PAUSE, pause_after_try, set_next_try
from qosforge.runs.record.reason import Reason, retry
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import RunStatus

RUNS_QUEUE = "runs"
HOLDERS_QUEUE = "holders"
"""For what others wait for: runs that hold devices, and devices that have to be settled. It has no end of places,
for every place of the queue of runs may be taken by runs that wait.
"""

_LOCK = 0x716F7364  # "qosd"
_RESCUE_SECONDS = 10
_SEARCH_SECONDS = 600  # the whole journal is read; nothing should be found

_log = logging.getLogger(__name__)


@dataclass
class _Try:
    """When devices are settled again that could not be, of a run that has no such moment in its row: it does not
    stand half-way. The pause doubles.
    """

    at: float
    pause: timedelta


@dataclass
class Dispatcher:
    """Moves runs on. Safe with any number of them at once, in any number of processes."""

    store: RunStore
    engine: Engine
    _rescued: float = float("-inf")
    _searched: float = float("-inf")
    _tries: dict[str, _Try] = field(default_factory=dict)

    def tick(self) -> None:
        """Look once, and act on what is to be done.

        Raises:
            StoreError: the database is away.
        """
        prune_executors(self.store.database)
        living = live_executors(self.store.database)
        for taken in self.engine.take_over({self.engine.executor, *(entry.id for entry in living)}):
            _log.info("workflow %s of a dead executor goes on", taken)
        with self._alone() as alone:
            if not alone:
                return
            for run in self.store.due_runs():
                self.store.next_attempt(run)
            known = {entry.workflow_id: entry for entry in self.engine.unfinished()}
            for run in self.store.runs_in({RunStatus.PENDING}):
                if workflow_id(run) not in known:
                    self._begin(run, known)
            self._let_holders_on(known)
            for run in self.store.runs_in({RunStatus.NEEDS_RECOVERY}):
                if self._is_due(run):
                    self._settle(run.id, known)
            if time.monotonic() - self._rescued >= _RESCUE_SECONDS:
                self._rescued = time.monotonic()
                self._settle_ended(self.recover_lost())

    def recover_lost(self) -> dict[str, UnfinishedWorkflow]:
        """Let runs begin again that no workflow carries, also those that another release began.

        Returns the workflows that are unfinished then, by id.
        """
        living = live_executors(self.store.database)
        known = {entry.workflow_id: entry for entry in self.engine.unfinished()}
        self._abandon(known, {entry.workflow_version for entry in living})
        self._rescue_lost(known)
        return known

    @contextmanager
    def _alone(self) -> Iterator[bool]:
        """Whether no other process looks right now; none starts to within the block, then."""
        database = self.store.database
        if database.is_embedded:
            yield True
            return
        with database.read() as connection:
            yield bool(connection.scalar(sa.select(sa.func.pg_try_advisory_xact_lock(_LOCK))))

    def _begin(self, run: Run, known: Mapping[str, UnfinishedWorkflow]) -> None:
        """Queue a pending run's attempt, once its devices are settled."""
        if run.attempt > 1 and self.store.journal.open_touches(run.id):
            self._settle(run.id, known)
            return
        self.engine.enqueue(WORKFLOW, workflow_id(run), run.params, RUNS_QUEUE)
        if self.engine.state(workflow_id(run)) in (WorkflowState.ENDED, WorkflowState.ABANDONED):
            self._again(run)  # abandoned before it began
        elif self.engine.state(workflow_id(run)) is WorkflowState.EXHAUSTED:
            self.store.set_status(run.id, RunStatus.FAILED, attempt=run.attempt, reason=_died(run))

    def _let_holders_on(self, known: Mapping[str, UnfinishedWorkflow]) -> None:
        """Let runs that hold devices, and were put back into their queue, go on before those that wait for them."""
        queued = [entry for entry in known.values() if entry.workflow == WORKFLOW and not entry.running]
        holders = self.store.leases.holders() if queued else set()
        for entry in queued:
            if run_of(entry.workflow_id)[0] in holders:
                self.engine.move(entry.workflow_id, HOLDERS_QUEUE)

    def _abandon(self, known: dict[str, UnfinishedWorkflow], versions: set[str]) -> None:
        """Abandon workflows of versions that no living executor can carry out: an upgrade outlived them."""
        for entry in list(known.values()):
            if entry.version not in versions | {self.engine.version}:
                _log.warning("workflow %s of version %s is abandoned", entry.workflow_id, entry.version)
                self.engine.abandon(entry.workflow_id)
                del known[entry.workflow_id]

    def _rescue_lost(self, known: Mapping[str, UnfinishedWorkflow]) -> None:
        """Let runs that no workflow carries any more begin again; one whose workflow ended failed."""
        for seen in self.store.runs_in({RunStatus.RUNNING}):
            if workflow_id(seen) in known:
                continue
            state = self.engine.state(workflow_id(seen))
            run = self.store.get_run(seen.id)  # after the engine was asked: an end is written to the run first
            if (run.status, run.attempt) != (seen.status, seen.attempt) or state is WorkflowState.UNFINISHED:
                continue
            if state not in (WorkflowState.ENDED, WorkflowState.EXHAUSTED):
                self._again(run)
                continue
            why = _died(run) if state is WorkflowState.EXHAUSTED else _silent(run)
            if self.store.journal.open_touches(run.id):
                status = RunStatus.NEEDS_RECOVERY
            else:
                self.store.leases.release(run.id)
                journal = self.store.journal
                saved, touched = journal.saved(run.id), journal.touched(run.id)
                status, why = interrupted_outcome(run.id, saved, touched, why, RunStatus.FAILED)
            self.store.set_status(run.id, status, attempt=run.attempt, reason=why)

    def _again(self, run: Run) -> None:
        if self.store.next_attempt(run):
            _log.warning("run %s begins attempt %s: nothing carried the last one on", run.id, run.attempt + 1)

    def _settle_ended(self, known: Mapping[str, UnfinishedWorkflow]) -> None:
        """Settle the devices of runs that stopped, or are over, and left some between two states."""
        left = {run.id for run in self.store.runs_in({RunStatus.NEEDS_RECOVERY})}
        if time.monotonic() - self._searched >= _SEARCH_SECONDS:
            self._searched = time.monotonic()
            for run_id in {touch.run_id for touch in self.store.journal.open_touches()}:
                if self.store.get_run(run_id).status.final:
                    left.add(run_id)
        for run_id in sorted(left | self._tries.keys()):
            if run_id in left or self.store.journal.open_touches(run_id):
                self._settle(run_id, known)
            else:
                del self._tries[run_id]

    def settling_failed(self, run_id: str) -> bool:
        """Whether a try at settling the run's devices is over, and will be repeated only after a pause."""
        run = self.store.get_run(run_id)
        tried = self._is_later(run) if run.status is RunStatus.NEEDS_RECOVERY else run_id in self._tries
        return tried and not any(settled_by(entry.workflow_id) == run_id for entry in self.engine.unfinished())

    def _is_later(self, run: Run) -> bool:
        """Whether the next try at a half-way run is still to wait, by its row: whichever executor made the last."""
        return run.due is not None and run.due > self.store.now()

    def _is_due(self, run: Run) -> bool:
        """Whether the next try at a half-way run is due by its row: somebody may have brought it forward."""
        return run.status is RunStatus.NEEDS_RECOVERY and run.due is not None and run.due <= self.store.now()

    def _settle(self, run_id: str, known: Mapping[str, UnfinishedWorkflow]) -> None:
        run = self.store.get_run(run_id)
        if any(settled_by(entry) == run_id for entry in known):
            if self._is_due(run):
                self._say_next_try(run_id, FIRST_PAUSE)
            return
        now, last = time.monotonic(), self._tries.get(run_id)
        if run.status is RunStatus.NEEDS_RECOVERY:
            if self._is_later(run):
                return
            pause = pause_after_try(self.store.events, run, self.store.now())
        elif last is not None and now < last.at:
            return
        else:
            pause = min(last.pause * 2, LONGEST_PAUSE) if last is not None else FIRST_PAUSE
        self.engine.enqueue(SETTLE, settling_id(run_id), {"run": run_id}, HOLDERS_QUEUE)
        self._tries[run_id] = _Try(now + pause.total_seconds(), pause)
        self._say_next_try(run_id, pause)  # last: who sees it later than now takes the try for begun

    def _say_next_try(self, run_id: str, pause: timedelta) -> None:
        set_next_try(self.store.database, run_id, self.store.now() + pause)


def _died(run: Run) -> Reason:
    times = MAX_RECOVERY_ATTEMPTS + 1
    hint = f"the log of the executor or of its host says why; {retry(run.id).text}"
    return Reason(f"its process died under it {times} times", "unknown", hint)


def _silent(run: Run) -> Reason:
    hint = f"the log of the executor has the error; {retry(run.id).text}"
    return Reason("its workflow ended without saying how", "unknown", hint)
